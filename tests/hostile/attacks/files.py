"""Attacks on files: reading what is private, and leaving something behind."""

from difftrust_core.base.records import Kind
from tests.hostile.attack import attack, everywhere, numbers, refused

ATTACKS = [
    attack(
        "read the home directory",
        """
import os, pathlib
def f(x, items):
    return tries(
        lambda: os.listdir(HOME), lambda: open(HOME + '/.ssh/id_rsa').read(), lambda: [*os.scandir(HOME)],
        lambda: pathlib.Path(HOME, '.env').read_bytes(), lambda: os.open(HOME, os.O_RDONLY),
        lambda: os.listdir(os.path.expanduser('~root')), lambda: os.listdir('/home'), lambda: os.listdir('/root'),
    )
""",
        refused(8),
        bites=True,
    ),
    attack(
        "read the environment and its keys",
        """
import ctypes, os
def f(x, items):
    raw = (ctypes.c_char_p * 99).in_dll(ctypes.CDLL(None), 'environ')
    first = ctypes.cast(ctypes.c_void_p.in_dll(ctypes.CDLL(None), 'environ'), ctypes.POINTER(ctypes.c_char_p))
    entries = []
    for k in range(99):
        if first[k] is None: break
        entries.append(first[k].decode())
    names = {*os.environ} | {*[e.partition('=')[0] for e in entries]}
    return [n for n in sorted(names) if n not in ENVIRONMENT], [e for e in entries if 'KEY' in e or 'HOME=' in e]
""",
        everywhere(Kind.VALUE, "([], [])"),
    ),
    attack(
        "read the system's files",
        """
def f(x, items):
    names = ['/etc/passwd', '/etc/shadow', '/etc/hosts', '/etc/resolv.conf', '/var/log/syslog', '/sys/power/state']
    return tries(*[lambda n=n: open(n).read() for n in names])
""",
        refused(6),
    ),
    attack(
        "read by another way round",
        """
import codecs, io, linecache, mmap, os, runpy, sqlite3
def f(x, items):
    secret = HOME + '/.ssh/id_rsa'
    def database(): return sqlite3.connect('file:' + secret + '?mode=ro', uri=True).execute('select 1').fetchall()
    def quietly(action):
        try: return action()
        except (sqlite3.Error, SyntaxError): raise OSError
    return tries(
        lambda: io.FileIO(secret), lambda: io.open_code(secret), lambda: codecs.open(secret).read(),
        lambda: linecache.getlines(secret) or open(secret), lambda: runpy.run_path(secret),
        lambda: open('/dev/../' + secret), lambda: open('/proc/self/root' + secret), lambda: quietly(database),
        lambda: os.open(b'.ssh/id_rsa', os.O_RDONLY, dir_fd=os.open(HOME, os.O_RDONLY | os.O_DIRECTORY)),
        lambda: os.chdir(HOME), lambda: os.chroot(HOME), lambda: os.fchdir(0),
    ) + calls(('openat2', -100, secret.encode(), 0, 0), ('name_to_handle_at', -100, secret.encode(), 0, 0, 0),
              ('open_by_handle_at', -100, 0, 0))
""",
        refused(15),
    ),
    attack(
        "import what lies about",
        """
import importlib, sys
def f(x, items):
    sys.path[:0] = [HOME, OUTSIDE, REPOSITORY]
    importlib.invalidate_caches()
    def wanted(name):
        try: return importlib.import_module(name)
        except ImportError: raise OSError
    names = ('planted_module', 'difftrust_core.base.records', 'polars', 'litellm', 'tests.support.tiny')
    return tries(*[lambda n=n: wanted(n) for n in names])
""",
        refused(5),
    ),
    attack(
        "write outside",
        """
import os, tempfile
def f(x, items):
    places = [HOME, OUTSIDE, '/tmp', '/var/tmp', '/dev/shm', '/', '.', '/etc', '/run', '/usr/lib', '/harness']
    return tries(
        *[lambda p=p: open(p + '/difftrust-hostile', 'w') for p in places],
        *[lambda p=p: os.mkdir(p + '/difftrust-hostile-folder') for p in places],
        lambda: tempfile.TemporaryFile(), lambda: os.open('/tmp', os.O_TMPFILE | os.O_RDWR),
    )
""",
        refused(24),
    ),
    attack(
        "change and delete outside",
        """
import os, shutil
def f(x, items):
    for folder in (HOME, OUTSIDE):
        kept = folder + '/kept.txt'
        made = tries(
            lambda: open(kept, 'w'), lambda: open(kept, 'a'), lambda: open(kept, 'r+'), lambda: os.truncate(kept, 0),
            lambda: os.unlink(kept), lambda: os.rename(kept, kept + '2'), lambda: os.chmod(kept, 0o777),
            lambda: os.chown(kept, 1, 1), lambda: os.utime(kept, (0, 0)), lambda: os.setxattr(kept, 'user.x', b'x'),
            lambda: shutil.rmtree(folder), lambda: os.rmdir(folder), lambda: os.replace(kept, folder + '/.env'),
        )
        if {*made} != {'refused'}: return made
    return made
""",
        refused(13),
    ),
    attack(
        "links and odd files",
        """
import os, stat
def f(x, items):
    made = []
    for folder in (HOME, OUTSIDE, '/tmp', '.'):
        at = folder + '/difftrust-hostile-link'
        made += tries(
            lambda: os.symlink('/etc/passwd', at), lambda: os.link(HOME + '/kept.txt', at), lambda: os.mkfifo(at),
            lambda: os.mknod(at), lambda: os.mknod(at, stat.S_IFBLK | 0o666, os.makedev(8, 0)),
            lambda: os.symlink(HOME, at), lambda: os.rename('/dev/null', at),
        )
    return made
""",
        refused(28),
    ),
    attack(
        "fill the disk",
        """
import os
def f(x, items):
    def fill(folder):
        with open(folder + '/difftrust-hostile-fill', 'wb') as out:
            while True: out.write(bytes(1 << 20))
    return tries(*[lambda p=p: fill(p) for p in (HOME, OUTSIDE, '/tmp', '/dev/shm', '/var/tmp', '.')])
""",
        refused(6),
    ),
    attack(
        "a database and a shelf",
        """
import dbm.dumb, os, shelve, sqlite3
def f(x, items):
    def database():
        try: sqlite3.connect(OUTSIDE + '/difftrust-hostile.db').execute('create table t (x)')
        except sqlite3.Error: raise OSError
    return tries(
        database, lambda: shelve.open(OUTSIDE + '/difftrust-hostile', 'n'),
        lambda: dbm.dumb.open(OUTSIDE + '/difftrust-hostile', 'n'),
    )
""",
        refused(3),
    ),
    attack(
        "the interpreter and its libraries changed",
        """
import importlib.util, os, random, sys
import numpy
def f(x, items):
    names = [random.__file__, numpy.__file__, sys.executable, importlib.util.cache_from_source(random.__file__)]
    return tries(*[
        act for n in names for act in (
            lambda n=n: open(n, 'r+b'), lambda n=n: os.truncate(n, 0), lambda n=n: os.unlink(n),
            lambda n=n: os.open(n, os.O_RDONLY | os.O_TRUNC), lambda n=n: os.open(n, os.O_CREAT, 0o777),
        )
    ])
""",
        refused(20),
    ),
    attack(
        "the harness's own files changed",
        """
import os
def f(x, items):
    places = ['/harness/', CHILD + '/']
    return tries(*[
        act for p in places for n in ('zygote.py', 'canonical.py') for act in (
            lambda p=p, n=n: open(p + n, 'r+'), lambda p=p, n=n: os.unlink(p + n),
            lambda p=p, n=n: os.rename(p + n, p + 'x'),
        )
    ])
""",
        refused(12),
    ),
    attack(
        "what the kernel says of the parent",
        """
import os
def f(x, items):
    who = [os.getppid(), 1, HOST, SENTINEL]
    of = ['environ', 'mem', 'maps', 'cmdline', 'status', 'stack', 'auxv']
    return tries(
        *[lambda p=p, n=n: open(f'/proc/{p}/{n}', 'rb').read(99) for p in who for n in of],
        *[lambda p=p: os.listdir(f'/proc/{p}/fd') for p in who],
        *[lambda p=p: os.listdir(f'/proc/{p}/cwd') for p in who],
        *[lambda p=p: os.readlink(f'/proc/{p}/fd/0') for p in who],
    )
""",
        refused(40),
    ),
    attack(
        "its own memory by way of a file",
        """
import os
def f(x, items):
    return tries(
        lambda: open('/proc/self/mem', 'r+b'), lambda: open('/proc/self/maps').read(), lambda: os.listdir('/proc'),
        lambda: open('/proc/self/oom_score_adj', 'w'), lambda: open('/proc/sysrq-trigger', 'w'),
        lambda: open('/proc/self/environ').read(), lambda: os.open('/proc/self/fd/0', os.O_RDWR),
        lambda: open('/dev/fd/1', 'w'), lambda: open('/dev/stdout', 'w'),
    )
""",
        refused(9),
    ),
    attack(
        "devices",
        """
import os
def f(x, items):
    names = ['mem', 'kmsg', 'vda', 'sda', 'kvm', 'fuse', 'net/tun', 'tty', 'console', 'full', 'zero', 'shm']
    return tries(*[lambda n=n: os.open('/dev/' + n, os.O_RDWR) for n in names])
""",
        refused(12),
    ),
    attack(
        "compiled code for the next program",
        """
import importlib.util, os, py_compile, random, sys
def f(x, items):
    sys.dont_write_bytecode = False
    sys.pycache_prefix = OUTSIDE
    def compiled(where):
        try: return py_compile.compile(random.__file__, where, doraise=True)
        except (py_compile.PyCompileError, FileNotFoundError): raise OSError
    return tries(
        lambda: compiled(OUTSIDE + '/difftrust-hostile.pyc'),
        lambda: compiled(importlib.util.cache_from_source(random.__file__)),
    )
""",
        refused(2),
    ),
    attack(
        "every file descriptor written to and closed",
        """
import os
def f(x, items):
    for descriptor in range(3, 300):
        acts = (lambda: os.write(descriptor, b'\\0' * 99), lambda: os.read(descriptor, 9), lambda: os.close(descriptor))
        for act in acts:
            try: return 'open', descriptor, act()
            except OSError: pass
    return x
""",
        numbers(),
    ),
    attack(
        "the three standard descriptors closed",
        "import os\ndef f(x, items):\n for k in range(3):\n  try: os.close(k)\n  except OSError: pass\n return x",
        numbers(),
    ),
]
