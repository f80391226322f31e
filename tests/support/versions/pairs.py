"""Pairs of versions of one small function: behaviour changes, and refactorings that keep it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class VersionPair:
    """One pair; ``changes``: behaviour does."""

    name: str
    changes: bool
    old: str
    new: str

    @property
    def entry_point(self) -> str:
        """``f`` or ``Class.f``."""
        owner = self.old.partition("class ")[2].partition(":")[0]
        return f"{owner}.f" if owner else "f"


CHANGED = (
    VersionPair(
        name="boundary",
        changes=True,
        old="""\
def f(text, limit=10):
    return text if len(text) <= limit else text[:limit]
""",
        new="""\
def f(text, limit=10):
    return text if len(text) < limit else text[: limit - 1]
""",
    ),
    VersionPair(
        name="default",
        changes=True,
        old="""\
def f(value, width=8, fill='0'):
    return str(value).rjust(width, fill)
""",
        new="""\
def f(value, width=8, fill=' '):
    return str(value).rjust(width, fill)
""",
    ),
    VersionPair(
        name="exception",
        changes=True,
        old="""\
def f(mapping, key):
    if key not in mapping:
        raise KeyError(key)
    return mapping[key]
""",
        new="""\
def f(mapping, key):
    if key not in mapping:
        raise LookupError(key)
    return mapping[key]
""",
    ),
    VersionPair(
        name="mutates",
        changes=True,
        old="""\
def f(items):
    items = list(items)
    items.sort()
    return items
""",
        new="""\
def f(items):
    items.sort()
    return items
""",
    ),
    VersionPair(
        name="prints",
        changes=True,
        old="""\
def f(n):
    return n * 2
""",
        new="""\
def f(n):
    if n < 0:
        print('negative')
    return n * 2
""",
    ),
    VersionPair(
        name="warns",
        changes=True,
        old="""\
import warnings


def f(path):
    return path.rstrip('/')
""",
        new="""\
import warnings


def f(path):
    if path.endswith('/'):
        warnings.warn('trailing slash', stacklevel=2)
    return path.rstrip('/')
""",
    ),
    VersionPair(
        name="regex",
        changes=True,
        old="""\
import re

_KEY = re.compile(r'^[a-z_]+$')


def f(key):
    return bool(_KEY.match(key))
""",
        new="""\
import re

_KEY = re.compile(r'^[a-z_][a-z0-9_]*$')


def f(key):
    return bool(_KEY.match(key))
""",
    ),
    VersionPair(
        name="whitespace",
        changes=True,
        old="""\
def f(line):
    return line.strip(' ').split('=')[0]
""",
        new="""\
def f(line):
    return line.strip().split('=')[0]
""",
    ),
    VersionPair(
        name="keyword",
        changes=True,
        old="""\
def f(words):
    return ' '.join(words)
""",
        new="""\
def f(words, *, sep=' '):
    return sep.join(words)
""",
    ),
    VersionPair(
        name="generator",
        changes=True,
        old="""\
def f(rows):
    for row in rows:
        if row:
            yield row
""",
        new="""\
def f(rows):
    for row in rows:
        if row is not None:
            yield row
""",
    ),
    VersionPair(
        name="coroutine",
        changes=True,
        old="""\
import asyncio


async def f(n):
    await asyncio.sleep(0)
    return n // 2
""",
        new="""\
import asyncio


async def f(n):
    await asyncio.sleep(0)
    return int(n / 2)
""",
    ),
    VersionPair(
        name="own_class",
        changes=True,
        old="""\
class Money:
    def __init__(self, cents, currency='EUR'):
        self.cents = cents
        self.currency = currency

    def f(self, other):
        return Money(self.cents + other.cents, self.currency)
""",
        new="""\
class Money:
    def __init__(self, cents, currency='EUR'):
        self.cents = cents
        self.currency = currency

    def f(self, other):
        if self.currency != other.currency:
            raise ValueError('currencies differ')
        return Money(self.cents + other.cents, self.currency)
""",
    ),
    VersionPair(
        name="callback",
        changes=True,
        old="""\
def f(function, values):
    return [function(value) for value in values]
""",
        new="""\
def f(function, values):
    return [function(value) for value in values if value]
""",
    ),
    VersionPair(
        name="stream",
        changes=True,
        old="""\
def f(stream, rows):
    for row in rows:
        stream.write(row)
""",
        new="""\
def f(stream, rows):
    for row in rows:
        stream.write(row + '\\n')
""",
    ),
    VersionPair(
        name="none",
        changes=True,
        old="""\
def f(text=None):
    return (text or '').upper()
""",
        new="""\
def f(text=None):
    return text.upper() if text is not None else None
""",
    ),
    VersionPair(
        name="path",
        changes=True,
        old="""\
from pathlib import PurePosixPath


def f(path):
    return PurePosixPath(path).suffix
""",
        new="""\
from pathlib import PurePosixPath


def f(path):
    return ''.join(PurePosixPath(path).suffixes)
""",
    ),
    VersionPair(
        name="date",
        changes=True,
        old="""\
from datetime import date, timedelta


def f(day: date) -> date:
    return day + timedelta(days=7 - day.weekday())
""",
        new="""\
from datetime import date, timedelta


def f(day: date) -> date:
    return day + timedelta(days=(7 - day.weekday()) % 7)
""",
    ),
    VersionPair(
        name="case",
        changes=True,
        old="""\
_HEADERS = {'etag', 'age'}


def f(name):
    return name in _HEADERS
""",
        new="""\
_HEADERS = {'etag', 'age'}


def f(name):
    return name.lower() in _HEADERS
""",
    ),
    VersionPair(
        name="helper",
        changes=True,
        old="""\
def _clean(text):
    return text.replace('-', '_')


def f(name):
    return _clean(name).lower()
""",
        new="""\
def _clean(text):
    return text.replace('-', '_').replace(' ', '_')


def f(name):
    return _clean(name).lower()
""",
    ),
    VersionPair(
        name="bytes",
        changes=True,
        old="""\
def f(data):
    if isinstance(data, bytes):
        data = data.decode('ascii')
    return len(data)
""",
        new="""\
def f(data):
    if isinstance(data, bytes):
        data = data.decode('utf-8', 'replace')
    return len(data)
""",
    ),
)
REFACTORED = (
    VersionPair(
        name="comprehension",
        changes=False,
        old="""\
def f(items):
    result = []
    for item in items:
        if item > 0:
            result.append(item * 2)
    return result
""",
        new="""\
def f(items):
    return [item * 2 for item in items if item > 0]
""",
    ),
    VersionPair(
        name="early_return",
        changes=False,
        old="""\
def f(value, low, high):
    if value < low:
        result = low
    else:
        if value > high:
            result = high
        else:
            result = value
    return result
""",
        new="""\
def f(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value
""",
    ),
    VersionPair(
        name="renamed_locals",
        changes=False,
        old="""\
def f(s, sep=','):
    a, b, c = s.partition(sep)
    return (a, c) if b else (s, None)
""",
        new="""\
def f(text, sep=','):
    head, found, tail = text.partition(sep)
    if not found:
        return text, None
    return head, tail
""",
    ),
    VersionPair(
        name="extracted",
        changes=False,
        old="""\
def f(name):
    parts = [part.strip() for part in name.split('.')]
    return '.'.join(part for part in parts if part)
""",
        new="""\
def _parts(name):
    return (part.strip() for part in name.split('.'))


def f(name):
    return '.'.join(filter(None, _parts(name)))
""",
    ),
    VersionPair(
        name="regex_flags",
        changes=False,
        old="""\
import re


def f(text):
    return re.sub(r'\\s+', ' ', text).strip()
""",
        new="""\
import re

_SPACES = re.compile(r'\\s+')


def f(text):
    return _SPACES.sub(' ', text).strip()
""",
    ),
    VersionPair(
        name="annotated",
        changes=False,
        old="""\
def f(items, key=None):
    seen = set()
    out = []
    for item in items:
        mark = key(item) if key else item
        if mark not in seen:
            seen.add(mark)
            out.append(item)
    return out
""",
        new="""\
from collections.abc import Callable, Iterable
from typing import Any


def f(items: Iterable[Any], key: Callable[[Any], Any] | None = None) -> list[Any]:
    seen, out = set(), []
    for item in items:
        mark = item if key is None else key(item)
        if mark in seen:
            continue
        seen.add(mark)
        out.append(item)
    return out
""",
    ),
    VersionPair(
        name="generator",
        changes=False,
        old="""\
def f(values, size):
    if size < 1:
        raise ValueError('size')
    chunk = []
    for value in values:
        chunk.append(value)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
""",
        new="""\
def f(values, size):
    if size < 1:
        raise ValueError(f'size must be positive, got {size}')
    items = list(values)
    for start in range(0, len(items), size):
        yield items[start : start + size]
""",
    ),
    VersionPair(
        name="method",
        changes=False,
        old="""\
class Range:
    def __init__(self, start, stop):
        self.start = start
        self.stop = stop

    def f(self, value):
        if self.start <= value:
            if value < self.stop:
                return True
        return False
""",
        new="""\
class Range:
    def __init__(self, start, stop):
        self.start, self.stop = start, stop

    def f(self, value):
        return self.start <= value < self.stop
""",
    ),
    VersionPair(
        name="formatted",
        changes=False,
        old="""\
def f(seconds):
    minutes = seconds // 60
    return '%d:%02d' % (minutes, seconds % 60)
""",
        new="""\
def f(seconds):
    minutes, rest = divmod(seconds, 60)
    return f'{minutes:d}:{rest:02d}'
""",
    ),
    VersionPair(
        name="counted",
        changes=False,
        old="""\
def f(text):
    counts = {}
    for character in text:
        counts[character] = counts.get(character, 0) + 1
    return counts
""",
        new="""\
from collections import defaultdict


def f(text):
    counts = defaultdict(int)
    for character in text:
        counts[character] += 1
    return dict(counts)
""",
    ),
    VersionPair(
        name="annotated_exceptions",
        changes=False,
        old="""\
def f(text):
    try:
        return int(text)
    except (TypeError, ValueError):
        return None
""",
        new="""\
import contextlib


def f(text):
    with contextlib.suppress(TypeError, ValueError):
        return int(text)
    return None
""",
    ),
)
