"""Attacks by processes: new ones, threads, signals to others, and a look into the parent."""

from difftrust_core.base.records import Kind
from tests.hostile.attack import attack, everywhere, refused


def _calls(*wanted: str) -> str:
    return f"def f(x, items): return calls({', '.join(f'({w},)' for w in wanted)})"


ATTACKS = [
    attack(
        "fork bomb",
        """
import os
def f(x, items):
    def bomb():
        while True: os.fork()
    return tries(bomb)
""",
        refused(1),
    ),
    attack(
        "daemonised child",
        """
import os
def f(x, items):
    def daemon():
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                import time
                time.sleep(10**6)
            os._exit(0)
    return tries(daemon)
""",
        refused(1),
    ),
    attack(
        "fork below the library", _calls("'fork'", "'vfork'", "'clone', 17, 0, 0, 0, 0", "'clone3', 0, 0"), refused(4)
    ),
    attack(
        "threads",
        """
import threading, _thread
def f(x, items):
    def start(): threading.Thread(target=print, daemon=True).start()
    return tries(start, lambda: _thread.start_new_thread(print, ()))
""",
        refused(2),
    ),
    attack(
        "pools of processes and threads",
        """
import multiprocessing, concurrent.futures
def f(x, items):
    def pool():
        with concurrent.futures.ThreadPoolExecutor(1) as p: return p.submit(int).result()
    return tries(pool, lambda: multiprocessing.Pool(2), lambda: multiprocessing.Process(target=print).start())
""",
        refused(3),
    ),
    attack(
        "other programs",
        """
import os, subprocess, sys
def shell():
    status = os.system('true')
    if status: raise OSError(status)
def f(x, items):
    return tries(
        lambda: subprocess.run([sys.executable, '-c', '']),
        lambda: subprocess.run('true', shell=True),
        lambda: os.execv(sys.executable, [sys.executable, '-c', '']),
        lambda: os.posix_spawn(sys.executable, [sys.executable, '-c', ''], {}),
        shell,
        lambda: os.popen('true').read(),
    )
""",
        refused(6),
    ),
    attack(
        "a program from memory",
        _calls("'memfd_create', b'x', 0", "'memfd_secret', 0", "'execveat', 0, b'', 0, 0, 0x1000"),
        refused(3),
    ),
    attack(
        "kill of the parent",
        """
import os, signal
def f(x, items): return tries(lambda: os.kill(os.getppid(), signal.SIGKILL), lambda: os.kill(1, signal.SIGTERM))
""",
        refused(2),
    ),
    attack(
        "kill of everything it may signal",
        """
import os, signal
def f(x, items):
    names = (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT)
    return tries(*[lambda s=s: os.kill(-1, s) for s in names], *[lambda s=s: os.killpg(0, s) for s in names])
""",
        refused(8),
    ),
    attack(
        "kill of a process of the machine",
        "import os\ndef f(x, items): return tries(*[lambda s=s: os.kill(SENTINEL, s) for s in (9, 15, 19, 10)])",
        refused(4),
    ),
    attack(
        "kill below the library",
        _calls(
            "'kill', SENTINEL, 9",
            "'tkill', SENTINEL, 9",
            "'tgkill', SENTINEL, SENTINEL, 9",
            "'rt_sigqueueinfo', SENTINEL, 9, 0",
            "'pidfd_open', SENTINEL, 0",
            "'pidfd_send_signal', 0, 9, 0, 0",
        ),
        refused(6),
    ),
    attack(
        "kill of every number",
        "import os\ndef f(x, items): return {*tries(*[lambda p=p: os.kill(p, 9) for p in range(-300, 300) if p])}",
        everywhere(Kind.VALUE, "{'refused'}"),
    ),
    attack(
        "signal when a timer ends or an input comes",
        """
import fcntl, os
def f(x, items):
    import ctypes
    event = ctypes.create_string_buffer(64)
    return [*calls(('timer_create', 0, event, event)), *tries(lambda: fcntl.fcntl(0, fcntl.F_SETOWN, SENTINEL))]
""",
        refused(2),
    ),
    attack(
        "the parent's memory",
        """
import ctypes, os
def f(x, items):
    class Part(ctypes.Structure): _fields_ = [('at', ctypes.c_void_p), ('size', ctypes.c_size_t)]
    mine = ctypes.create_string_buffer(64)
    here, there = Part(ctypes.addressof(mine), 64), Part(id(items), 64)
    return calls(*[
        call
        for who in (os.getppid(), 1, HOST)
        for call in (
            ('ptrace', 16, who, 0, 0),
            ('process_vm_readv', who, ctypes.byref(here), 1, ctypes.byref(there), 1, 0),
            ('process_vm_writev', who, ctypes.byref(here), 1, ctypes.byref(there), 1, 0),
            ('kcmp', who, who, 0, 0, 0), ('pidfd_getfd', 0, 0, 0),
        )
    ])
""",
        refused(15),
    ),
]
