"""Attacks by system calls: limits, privileges, namespaces, shared memory, the machine, and all other calls."""

import platform

from difftrust_core.base.records import Kind
from tests.hostile.attack import attack, everywhere, given_up, numbers, on_seven, refused


def _calls(*wanted: str) -> str:
    return f"def f(x, items): return calls({', '.join(f'({w},)' for w in wanted)})"


ATTACKS = [
    attack(
        "priority and processors",
        """
import os
def f(x, items):
    return tries(
        lambda: os.nice(-20), lambda: os.nice(19), lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),
        lambda: os.sched_setaffinity(0, {0}), lambda: os.sched_setaffinity(os.getppid(), {0}),
        lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99)),
    ) + calls(('ioprio_set', 1, 0, 0), ('setpriority', 0, 1, 19))
""",
        refused(8),
    ),
    attack(
        "limits raised, its own and its parent's lowered",
        """
import os, resource
def f(x, items):
    def own(what):
        def raised():
            try: return resource.setrlimit(what, (resource.RLIM_INFINITY,) * 2)
            except ValueError: raise OSError  # what the library makes of it
        return raised
    names = [getattr(resource, n) for n in ('RLIMIT_AS', 'RLIMIT_FSIZE', 'RLIMIT_NOFILE', 'RLIMIT_NPROC', 'RLIMIT_CPU')]
    parents = [lambda p=p: resource.prlimit(p, resource.RLIMIT_AS, (1, 1)) for p in (os.getppid(), 1, HOST)]
    return tries(*map(own, names), *parents) + calls(('prlimit64', 0, 9, 0, 0), ('setrlimit', 9, 0))
""",
        refused(10),
    ),
    attack(
        "new privileges",
        """
import os
def f(x, items):
    return tries(
        lambda: os.setuid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgroups([0]), lambda: os.setsid(),
        lambda: os.setpgid(0, 0), lambda: os.umask(0) if calls(('setuid', 0)) == ['0'] else os.setuid(0),
    ) + calls(('prctl', 4, 1, 0, 0, 0), ('prctl', 36, 1, 0, 0, 0), ('personality', 0x0040000), ('seccomp', 0, 0, 0))
""",
        refused(10),
    ),
    attack(
        "namespaces and mounts",
        _calls(
            "'unshare', 0x10000000",
            "'unshare', 0x20000",
            "'setns', 0, 0",
            "'mount', b'none', b'/', b'tmpfs', 0, 0",
            "'umount2', b'/', 2",
            "'pivot_root', b'/', b'/'",
            "'chroot', b'/'",
            "'open_tree', -100, b'/', 1",
        ),
        refused(8),
    ),
    attack(
        "rarely watched parts of the kernel",
        _calls(
            "'bpf', 0, 0, 0",
            "'perf_event_open', 0, 0, -1, -1, 0",
            "'userfaultfd', 0",
            "'io_uring_setup', 1, 0",
            "'io_setup', 1, 0",
            "'keyctl', 0, 0",
            "'add_key', b'user', b'x', b'x', 1, -3",
            "'landlock_create_ruleset', 0, 0, 1",
            "'fanotify_init', 0, 0",
            "'inotify_init1', 0",
            "'vmsplice', 1, 0, 0, 0",
        ),
        refused(11),
    ),
    attack(
        "the machine",
        _calls(
            "'reboot', 0, 0, 0",
            "'kexec_load', 0, 0, 0, 0",
            "'sethostname', b'x', 1",
            "'settimeofday', 0, 0",
            "'swapon', b'/', 0",
            "'syslog', 3, 0, 0",
            "'acct', 0",
            "'delete_module', b'x', 0",
            "'finit_module', 0, 0, 0",
        ),
        refused(9),
    ),
    attack(
        "memory, semaphores and queues shared by all",
        """
from multiprocessing import shared_memory, Semaphore
def f(x, items):
    return tries(
        lambda: shared_memory.SharedMemory('difftrust-hostile', create=True, size=4096), lambda: Semaphore(1)
    ) + calls(
        ('shmget', 0, 4096, 0o1666), ('semget', 0, 1, 0o1666), ('msgget', 0, 0o1666), ('mq_open', b'x', 66, 438, 0)
    )
""",
        refused(6),
    ),
    attack(
        "keys typed into a terminal",
        """
import fcntl, os, termios
def f(x, items):
    return tries(
        lambda: fcntl.ioctl(0, termios.TIOCSTI, b'x'), lambda: os.open('/dev/tty', os.O_RDWR),
        lambda: os.open('/dev/ptmx', os.O_RDWR), os.openpty,
    ) + calls(('ioctl', 0, termios.TIOCSTI, b'x'))
""",
        refused(5),
    ),
    attack(
        "pages taken from the machine",
        """
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
number = {'x86_64': 28, 'aarch64': 233}[os.uname().machine]
def f(x, items):
    page = mmap.mmap(-1, 4096)
    at = ctypes.c_long(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    def errno(advice):
        ctypes.set_errno(0)
        libc.syscall(ctypes.c_long(number), at, ctypes.c_long(4096), ctypes.c_long(advice))
        return ctypes.get_errno()
    return [errno(a) for a in (100, 101, 100 | 1 << 32, 101 | 7 << 40, 4)]
""",
        everywhere(Kind.VALUE, "[1, 1, 1, 1, 0]"),
    ),
    attack(
        "files opened for writing with more bits than the kernel reads",
        """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
number = {'x86_64': 257, 'aarch64': 56}[os.uname().machine]
def f(x, items):
    def errno(path, flags):
        ctypes.set_errno(0)
        libc.syscall(ctypes.c_long(number), ctypes.c_long(-100), path, ctypes.c_long(flags), ctypes.c_long(0o666))
        return ctypes.get_errno()
    kept = (OUTSIDE + '/kept.txt').encode()
    return [errno(kept, flags | high << 32) for high in (0, 1, 0x7FFFFFFF) for flags in (1, 2, 0o1000, 0o2000, 0o101)]
""",
        everywhere(Kind.VALUE, repr([1] * 15)),
    ),
    attack(
        "a handle without rights as a step",
        """
import os
def f(x, items):
    def step(act):
        descriptor = os.open(HOME, os.O_PATH | os.O_DIRECTORY)
        try: return act(descriptor)
        finally: os.close(descriptor)
    return tries(
        lambda: step(lambda d: os.open('kept.txt', os.O_RDONLY, dir_fd=d)), lambda: step(os.listdir),
        lambda: step(os.fchdir), lambda: step(lambda d: os.open('new', os.O_CREAT | os.O_WRONLY, dir_fd=d)),
        lambda: step(lambda d: os.unlink('kept.txt', dir_fd=d)), lambda: step(lambda d: os.fchmod(d, 0o777)),
        lambda: step(lambda d: open(f'/proc/self/fd/{d}/kept.txt')), lambda: step(lambda d: os.getxattr(d, 'user.x')),
        lambda: step(lambda d: os.link('kept.txt', 'other', src_dir_fd=d, dst_dir_fd=d)),
    )
""",
        refused(9),
    ),
    attack(
        "files copied inside the kernel",
        """
import os
def f(x, items):
    source = os.open(os.__file__, os.O_RDONLY)
    try:
        return tries(
            lambda: os.sendfile(1, source, 0, 9), lambda: os.copy_file_range(source, 1, 9),
            lambda: os.splice(source, 1, 9), lambda: os.posix_fadvise(source, 0, 0, 0),
            lambda: os.preadv(source, [bytearray(9)], 0), lambda: os.pwrite(1, b'x', 0), lambda: os.ftruncate(1, 0),
            lambda: os.dup2(source, 0), lambda: os.fsync(source), lambda: os.memfd_create('difftrust-hostile'),
        )
    finally: os.close(source)
""",
        refused(10),
    ),
    attack(
        "a signal by a timer",
        "import signal\ndef f(x, items):\n if x == 7: signal.setitimer(signal.ITIMER_REAL, 0.001)\n"
        " while x == 7: pass\n return x",
        on_seven(Kind.CRASH, "SIGALRM"),
    ),
    attack(
        "a return from a signal that never came",
        """
import ctypes, os
def f(x, items):
    number = {'x86_64': 15, 'aarch64': 139}[os.uname().machine]
    if x == 7: ctypes.CDLL(None).syscall(ctypes.c_long(number))
    return x
""",
        on_seven(Kind.CRASH, "SIGSEGV"),
    ),
    attack(
        "a call to go on with what was never begun",
        """
import ctypes, os
def f(x, items):
    ctypes.CDLL(None).syscall(ctypes.c_long({'x86_64': 219, 'aarch64': 128}[os.uname().machine]))
    return x
""",
        numbers(),
    ),
    attack(
        "what only root may ask for",
        _calls(
            "'capset', b'\\x22\\x05\\x08\\x20\\0\\0\\0\\0', b'\\xff' * 24",
            "'prctl', 24, 21, 0, 0, 0",
            "'prctl', 47, 2, 21, 0, 0",
            "'prctl', 28, 0, 0, 0, 0",
            "'iopl', 3",
            "'ioperm', 0, 1, 1",
            "'mlockall', 3",
            "'quotactl', 0, 0, 0, 0",
            "'lookup_dcookie', 0, 0, 0",
        ),
        refused(9),
    ),
    attack(
        "every other system call",
        """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def f(x, items):
    # A share of the numbers for each input: together all of them, and those of other interfaces above them.
    # Two are let past every filter by the kernel itself: probes put into a program by its administrator use them.
    passed = {335, 336} if os.uname().machine == 'x86_64' else set()
    numbers = {*range(600), *range(1 << 30, (1 << 30) + 600)} - ALLOWED_CALLS - passed
    let_through = []
    for number in sorted(n for n in numbers if n % 20 == x):
        ctypes.set_errno(0)
        if libc.syscall(ctypes.c_long(number), *[ctypes.c_long(0)] * 6) != -1 or ctypes.get_errno() != 1:
            let_through.append(number)
    return let_through
""",
        everywhere(Kind.VALUE, "[]"),
    ),
]
if platform.machine() == "x86_64":
    ATTACKS.append(
        attack(
            "system calls of 32-bit programs",
            """
import ctypes, mmap
def f(x, items):
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(bytes.fromhex('b814000000cd80c3'))  # getpid in that interface
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
""",
            given_up(Kind.CRASH, 4, "SIGSYS"),
            given_up(Kind.CRASH, 4, "SIGSEGV"),  # a kernel without that interface
        )
    )
    ATTACKS.append(
        attack(
            "system calls of its own machine code",
            """
import ctypes, mmap
def f(x, items):
    page = mmap.mmap(-1, 4096, prot=7)
    def call(number):
        page.seek(0)
        page.write(b'\\xb8' + number.to_bytes(4, 'little') + bytes.fromhex('31ff31f631d20f05c3'))
        return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    return [call(number) for number in (41, 56, 57, 58, 59, 62, 101, 105, 161, 435, 0x40000039)]
""",
            everywhere(Kind.VALUE, repr([-1] * 11)),
        )
    )
