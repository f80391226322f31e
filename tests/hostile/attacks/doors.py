"""Attacks on files by the doors of libraries: what opens, maps, loads or writes a file without saying ``open``."""

from tests.hostile.attack import attack, refused

_SECRET = "SECRET, NEW = HOME + '/.ssh/id_rsa', OUTSIDE + '/difftrust-hostile'\n"
_PLAINLY = """
def plainly(action, *errors):
    try: found = action()
    except errors: raise OSError
    if not found: raise OSError
    return found
"""

ATTACKS = [
    attack(
        "NumPy reads",
        _SECRET
        + """
import numpy
def f(x, items):
    return tries(
        lambda: numpy.fromfile(SECRET, 'u1'), lambda: numpy.memmap(SECRET, 'u1', 'r'), lambda: numpy.loadtxt(SECRET),
        lambda: numpy.genfromtxt(SECRET), lambda: numpy.load(SECRET), lambda: numpy.load(SECRET, mmap_mode='r'),
    )
""",
        refused(6),
    ),
    attack(
        "NumPy writes",
        _SECRET
        + """
import numpy
def f(x, items):
    data = numpy.zeros(9)
    return tries(
        lambda: data.tofile(NEW), lambda: numpy.memmap(NEW, 'u1', 'w+', shape=9), lambda: numpy.save(NEW, data),
        lambda: numpy.savez_compressed(NEW, data), lambda: numpy.savetxt(NEW, data), lambda: data.dump(NEW),
        lambda: numpy.memmap(OUTSIDE + '/kept.txt', 'u1', 'r+'),
    )
""",
        refused(7),
        bites=True,
    ),
    attack(
        "the C library's own streams",
        _SECRET
        + _PLAINLY
        + """
import ctypes
libc = ctypes.CDLL(None)
libc.fopen.restype = libc.opendir.restype = libc.popen.restype = libc.tmpfile.restype = ctypes.c_void_p
def f(x, items):
    secret, new = SECRET.encode(), NEW.encode()
    return tries(
        lambda: plainly(lambda: libc.fopen(secret, b'r')), lambda: plainly(lambda: libc.fopen(new, b'w')),
        lambda: plainly(lambda: libc.opendir(HOME.encode())), lambda: plainly(lambda: libc.tmpfile()),
        lambda: plainly(lambda: libc.popen(b'id', b'r')), lambda: plainly(lambda: libc.system(b'exit 0') == 0),
        lambda: plainly(lambda: libc.creat(new, 0o666) >= 0),
        lambda: plainly(lambda: libc.shm_open(b'/x', 66, 438) >= 0),
    )
""",
        refused(8),
    ),
    attack(
        "a library of its own loaded",
        _SECRET
        + """
import ctypes, importlib.machinery, importlib.util
def f(x, items):
    def extension(path):
        loader = importlib.machinery.ExtensionFileLoader('planted', path)
        try: return importlib.util.module_from_spec(importlib.util.spec_from_loader('planted', loader))
        except ImportError: raise OSError
    return tries(
        lambda: ctypes.CDLL(SECRET), lambda: ctypes.CDLL(OUTSIDE + '/kept.txt'), lambda: extension(SECRET),
        lambda: importlib.machinery.SourceFileLoader('planted', HOME + '/planted_module.py').load_module(),
    )
""",
        refused(4),
    ),
    attack(
        "archives and compressed files",
        _SECRET
        + """
import bz2, gzip, lzma, shutil, tarfile, zipfile
def f(x, items):
    return tries(
        *[lambda m=m: m.open(SECRET).read() for m in (bz2, gzip, lzma)],
        *[lambda m=m: m.open(NEW, 'w').close() for m in (bz2, gzip, lzma)],
        lambda: zipfile.ZipFile(NEW, 'w'), lambda: tarfile.open(NEW, 'w'), lambda: zipfile.ZipFile(SECRET),
        lambda: shutil.make_archive(NEW, 'zip', '/'), lambda: shutil.copyfile(SECRET, NEW),
    )
""",
        refused(11),
    ),
    attack(
        "databases beside the one that is open",
        _SECRET
        + _PLAINLY
        + """
import sqlite3
def f(x, items):
    open_one = sqlite3.connect(':memory:')
    def said(text): return lambda: plainly(lambda: open_one.execute(text) and 'did', sqlite3.Error)
    def extension():
        open_one.enable_load_extension(True)
        open_one.load_extension(SECRET)
    return tries(
        said(f"attach '{NEW}' as more"), said(f"vacuum into '{NEW}'"), said(f"attach '{SECRET}' as more"),
        lambda: plainly(extension, sqlite3.Error, AttributeError), said("select readfile('/etc/passwd')"),
        lambda: plainly(lambda: open_one.backup(sqlite3.connect(NEW)), sqlite3.Error),
    )
""",
        refused(6),
    ),
    attack(
        "what keeps a log or a profile",
        _SECRET
        + """
import cProfile, logging.handlers, trace, tracemalloc
def f(x, items):
    profile = cProfile.Profile()
    profile.enable(); profile.disable()
    tracemalloc.start()
    taken = tracemalloc.take_snapshot()
    tracemalloc.stop()
    def lcov(): return trace.CoverageResults(outfile=NEW).write_results() or open(NEW)
    return tries(
        lambda: logging.FileHandler(NEW), lambda: logging.handlers.RotatingFileHandler(NEW),
        lambda: profile.dump_stats(NEW), lambda: taken.dump(NEW), lcov,
        lambda: logging.handlers.SocketHandler('127.0.0.1', TCP).makeSocket(),
    )
""",
        refused(6),
    ),
    attack(
        "settings, mail and passwords",
        _SECRET
        + _PLAINLY
        + """
import configparser, mailbox, netrc, pwd, tokenize, xml.etree.ElementTree as tree
def f(x, items):
    return tries(
        lambda: plainly(lambda: configparser.ConfigParser().read([SECRET])), lambda: netrc.netrc(SECRET),
        lambda: tokenize.open(SECRET), lambda: tree.parse(SECRET), lambda: mailbox.mbox(NEW, create=True).lock(),
        lambda: plainly(lambda: pwd.getpwnam('root').pw_shell, KeyError), lambda: plainly(pwd.getpwall),
    )
""",
        refused(7),
    ),
    attack(
        "a document that names another",
        _SECRET
        + """
import io, xml.sax, xml.sax.handler
class Reads(xml.sax.handler.ContentHandler):
    def __init__(self): self.found = ''
    def characters(self, text): self.found += text
def f(x, items):
    def parsed():
        reader, reads = xml.sax.make_parser(), Reads()
        reader.setContentHandler(reads)
        reader.setFeature(xml.sax.handler.feature_external_ges, True)
        reader.parse(io.StringIO(f'<!DOCTYPE a [<!ENTITY e SYSTEM "file://{SECRET}">]><a>&e;</a>'))
        return reads.found
    return tries(parsed)
""",
        refused(1),
    ),
    attack(
        "addresses that mean files",
        _SECRET
        + """
import urllib.request
def f(x, items):
    return tries(
        lambda: urllib.request.urlopen('file://' + SECRET), lambda: urllib.request.urlretrieve('file://' + SECRET, NEW),
        lambda: urllib.request.URLopener().open_file('file://' + SECRET),
        lambda: urllib.request.urlopen(f'http://127.0.0.1:{TCP}/', timeout=1),
    )
""",
        refused(4),
    ),
    attack(
        "the C library's settings",
        _SECRET
        + """
import ctypes, os
libc = ctypes.CDLL(None)
libc.iconv_open.restype = libc.catopen.restype = libc.setlocale.restype = ctypes.c_void_p
def f(x, items):
    os.environ.update(GCONV_PATH=HOME, LOCPATH=HOME, NLSPATH=SECRET, LD_PRELOAD=SECRET, HOSTALIASES=SECRET)
    def step(found):
        if found in (None, ctypes.c_void_p(-1).value): raise OSError
        return found
    return tries(
        lambda: step(libc.iconv_open(b'DIFFTRUST', b'UTF-8')), lambda: step(libc.catopen(b'x', 0)),
        lambda: step(libc.setlocale(6, b'.ssh')), lambda: os.execv('/bin/true', ['true']),
        lambda: os.spawnv(0, '/bin/id', ['id']),
    )
""",
        refused(5),
    ),
    attack(
        "packages that lie beside the libraries",
        """
import importlib, os, sys
import numpy
LIBRARY = os.path.dirname(os.path.dirname(numpy.__file__))
PLACES = [LIBRARY, os.path.dirname(os.__file__) + '/site-packages', '/usr/lib/python3/dist-packages', CHILD, '/harness']
def f(x, items):
    sys.path[:0] = PLACES
    importlib.invalidate_caches()
    def wanted(name):
        try: return importlib.import_module(name).__file__
        except ImportError: raise OSError
    files = [p + '/' + n for p in PLACES for n in ('pip/__init__.py', 'zygote.py', 'confine.py', 'pytest/__init__.py')]
    return tries(
        *[lambda n=n: wanted(n) for n in ('pip', 'pytest', 'pygments', 'difftrust_core', 'zygote', 'confine')],
        *[lambda n=n: open(n).read(9) for n in files],
    )
""",
        refused(26),
    ),
]
