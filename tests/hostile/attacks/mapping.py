"""Attacks by the memory's mapping: pages of others, of files, of the reply, and those that nobody may have."""

from difftrust_core.base.records import Kind
from tests.hostile.attack import DONE, FORGED, attack, everywhere, given_up, numbers, on_seven, refused

_TOOLS = """
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.mremap.restype = libc.sbrk.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
libc.sbrk.argtypes = [ctypes.c_long]
NOWHERE = ctypes.c_void_p(-1).value
def mapped(at, size, flags, descriptor=-1, protection=3):
    found = libc.mmap(at, size, protection, flags, descriptor, 0)
    if found == NOWHERE: raise OSError(ctypes.get_errno())
    return 'mapped'
def address(): return ctypes.addressof(ctypes.c_char.from_buffer(harness()['reply']))
"""
_SEGMENTATION = given_up(Kind.CRASH, 4, "SIGSEGV")

ATTACKS = [
    attack(
        "memory that cannot be swapped out",
        _TOOLS
        + "def f(x, items): return tries(lambda: mapped(None, 64 << 20, 0x2022), lambda: mapped(None, 4096, 0x2022))",
        refused(2),
    ),
    attack(
        "the page at address zero",
        _TOOLS + "def f(x, items): return tries(lambda: mapped(None, 4096, 0x32))",
        refused(1),
    ),
    attack(
        "a library's file mapped to be written",
        _TOOLS
        + """
import numpy
def f(x, items):
    came_to = []
    for name in (os.__file__, numpy.__file__):
        descriptor = os.open(name, os.O_RDONLY)
        came_to += tries(
            lambda: mapped(None, 4096, 1, descriptor), lambda: mmap.mmap(descriptor, 4096, access=mmap.ACCESS_WRITE)
        )
        os.close(descriptor)
    return came_to
""",
        refused(4),
    ),
    attack(
        "a file mapped to be read, then made writable",
        _TOOLS
        + """
def f(x, items):
    descriptor = os.open(os.__file__, os.O_RDONLY)
    at = libc.mmap(None, 4096, 1, 1, descriptor, 0)
    os.close(descriptor)
    done = libc.mprotect(at, 4096, 3)
    libc.munmap(at, 4096)
    return done
""",
        everywhere(Kind.VALUE, "-1"),
    ),
    attack(
        "its own libraries overwritten",
        _TOOLS
        + """
def f(x, items):
    at = ctypes.cast(libc.ctime, ctypes.c_void_p).value & -4096
    if libc.mprotect(at, 4096, 7) == 0: ctypes.memset(at, ctypes.string_at(at, 1)[0], 1)
    return 'done'
""",
        DONE,
    ),
    attack(
        "the kernel's own page overwritten",
        _TOOLS
        + """
libc.getauxval.restype = ctypes.c_ulong
def f(x, items):
    at = libc.getauxval(33)
    if at and libc.mprotect(at, 4096, 3) == 0: ctypes.memset(at, 0, 64)
    return 'done'
""",
        DONE,
    ),
    attack(
        "the reply taken out of memory", _TOOLS + "def f(x, items): return libc.munmap(address(), 4096)", _SEGMENTATION
    ),
    attack(
        "the reply made read-only", _TOOLS + "def f(x, items): return libc.mprotect(address(), 4096, 1)", _SEGMENTATION
    ),
    attack(
        "a hole in the reply",
        _TOOLS + "def f(x, items):\n if x == 7: libc.madvise(address(), 4096, 9)\n return x",
        FORGED,
    ),
    attack(
        "the reply grown",
        _TOOLS + "def f(x, items):\n"
        " return libc.mremap(address(), 256 << 20, 1 << 40, 1) == NOWHERE, libc.sbrk(1 << 40) == NOWHERE",
        everywhere(Kind.VALUE, "(True, True)"),
    ),
    attack(
        "as many mappings as there can be",
        _TOOLS
        + """
def f(x, items):
    if x == 7:
        at = libc.mmap(None, 256 << 20, 0, 0x22, -1, 0)
        for k in range(0, 256 << 20, 8192):
            if libc.mprotect(at + k, 4096, 1): break
        libc.munmap(at, 256 << 20)
    return x
""",
        numbers(),
        on_seven(Kind.TIMEOUT),
    ),
]
