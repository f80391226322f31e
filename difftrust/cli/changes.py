"""`difftrust diff REV [REV] -- paths`: every function that changed between two revisions, one after the other."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from difftrust.check.verdict_cache import digest_of
from difftrust.cli.judgement import say, undecided_on_failure
from difftrust.cli.printing import echo
from difftrust.cli.several import Case, Several, Tell, say_skipped
from difftrust.diff.changed_functions import ChangedFunction, Changes, changed_functions
from difftrust.diff.comparison import DiffOptions
from difftrust.diff.diff import diff
from difftrust.diff.revisions import commit_of, has_path, top_of, unpacked
from difftrust.diff.version import load_version
from difftrust.outputs.findings import Finding, exit_status_of, finding_of_diff, refuse
from difftrust.outputs.formats import render
from difftrust.source.target import Skipped
from difftrust_core.exceptions import WrongUsage

_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Between:
    """Two revisions and the paths that are asked for."""

    old: str
    new: str | None
    """None: the working tree."""
    paths: tuple[str, ...] = ()


def read_words(words: Sequence[str]) -> Between:
    """Return what ``REV [REV] [paths]`` or ``REV..REV [paths]`` says; what is there as a file or folder is a path.

    Raises WrongUsage where a word is both a path and a revision, or nothing is named.
    """
    if not words:
        raise WrongUsage("expected a git revision, got nothing; write e.g. difftrust diff HEAD~1 -- src/")
    first, *rest = words
    old, dots, new = first.partition("..")
    if dots and not os.path.exists(first):
        if not old or new.startswith("."):
            raise WrongUsage(f"expected REV..REV, got {first!r}; name two revisions")
        return Between(old=old, new=new or "HEAD", paths=tuple(rest))
    is_there = bool(rest) and os.path.exists(rest[0])
    if rest and _is_revision(rest[0]):
        if is_there:
            raise WrongUsage(f"expected a revision or a path, {rest[0]!r} is both; write ./{rest[0]} for the path")
        return Between(old=first, new=rest[0], paths=tuple(rest[1:]))
    if rest and not is_there and commit_of(Path.cwd(), old) and not has_path(Path.cwd(), old, rest[0]):
        raise WrongUsage(
            f"expected a revision or a path, {rest[0]!r} is neither: git knows no commit of that name, and there is no "
            f"such file or folder, here or at {old}; check its spelling"
        )
    return Between(old=first, new=None, paths=tuple(rest))


def _is_revision(word: str) -> bool:
    try:
        commit_of(Path.cwd(), word)
    except WrongUsage:
        return False
    return True


def diff_changes(between: Between, options: DiffOptions, *, style: str, again: bool = False) -> int:
    """Compare every function that changed, print one summary in the format ``style`` and return the exit status.

    A function that was added or removed is named, not compared, and so are values that changed and that no compared
    function of their file uses. What was compared is kept until a Python file of
    either side changes; ``again``: it is compared anew.
    """
    if options.assume:
        raise WrongUsage("expected one function with --assume, got several; name it as REV:module.py::function")
    with undecided_on_failure(), ExitStack() as stack:
        changes = changed_functions(between.old, between.new, between.paths)
        _refuse_calls_of_others([*options.expect, *options.examples], changes)
        _say_left_out(changes, between)
        several = Several("comparing", "comparison", again=again)
        found = several.judge(_Comparing(between, changes, options, stack).cases)
        found += [refuse(path, "cannot be read as Python") for path in changes.unreadable]
        if several.n_kept:
            say(f"{several.n_kept} of {len(found)} were compared before; --again compares all")
        if not found:
            say(f"no function changed between {between.old} and {between.new or 'the working tree'}")
        if changes.unused:
            sides = [side for side in (between.old, between.new) if side is not None]
            calls = " ".join(f"{side}:module.py::function" for side in sides)
            say(f"compare what uses these values: difftrust diff {calls}")
        echo(render(found, style))
    return exit_status_of(found)


def _say_left_out(changes: Changes, between: Between) -> None:
    named = [
        Skipped(where=f"{change.path}::{change.entry_point}", why=f"{change.kind} since {between.old}")
        for change in changes.functions
        if change.kind != "changed"
    ]
    named += [
        Skipped(
            where=f"{path} ({', '.join(names[:_SHOWN])}{', ...' if len(names) > _SHOWN else ''})",
            why=f"changed since {between.old} and used by no function of the file that is compared",
        )
        for path, names in changes.unused.items()
    ]
    say_skipped(named)


def _refuse_calls_of_others(texts: Sequence[str], changes: Changes) -> None:
    names = [change.entry_point for change in changes.functions if change.kind == "changed"]
    for text in texts:
        if not any(_calls(text, name) for name in names):
            there = ", ".join(names[:_SHOWN]) or "none"
            raise WrongUsage(f"expected a call of a function that changed ({there}), got {text!r}; name one of these")


def _calls(text: str, entry_point: str) -> bool:
    """Tell whether a text begins with a call of the function: ``f(1)``, ``Box(2).add(3)``, ``Box.made(4)``."""
    owner, _, name = (re.escape(part) for part in entry_point.rpartition("."))
    form = rf"(?:>>>\s*)?(?:{owner}\.{name}\(|{owner}\(.*\)\.{name}\b)" if owner else rf"(?:>>>\s*)?{name}\("
    return re.match(form, text.strip()) is not None


class _Comparing:
    """The functions that changed, and the files of both sides."""

    def __init__(self, between: Between, changes: Changes, options: DiffOptions, stack: ExitStack):
        self._between, self._state = between, changes.state
        self._options = replace(options, say=lambda line: None, phase=lambda name: None)
        changed = [change for change in changes.functions if change.kind == "changed"]
        if changed:
            self._before, self._after = (stack.enter_context(_side(side)) for side in (between.old, between.new))
        self.cases = [
            Case(where=self._where(change), path=self._path(change), prepare=partial(self._prepare, change))
            for change in changed
        ]

    def _path(self, change: ChangedFunction) -> str:
        return os.path.relpath(self._after / change.path) if self._between.new is None else change.path

    def _where(self, change: ChangedFunction) -> str:
        """Return the new function as the user may name it."""
        side = f"{self._between.new}:" if self._between.new is not None else ""
        return f"{side}{self._path(change)}::{change.entry_point}"

    def _prepare(self, change: ChangedFunction, tell: Tell) -> tuple[str, Callable[[], Finding]]:
        options = self._options_for(change.entry_point)
        chosen = {name: repr(value) for name, value in vars(options).items() if not callable(value)}
        digest = digest_of("diff", self._state, asdict(change), self._where(change), chosen)
        return digest, partial(self._compare, change, options)

    def _options_for(self, entry_point: str) -> DiffOptions:
        """Return the options with what is said of this function alone."""
        expect, examples = (
            tuple(text for text in texts if _calls(text, entry_point))
            for texts in (self._options.expect, self._options.examples)
        )
        return replace(self._options, expect=expect, examples=examples)

    def _compare(self, change: ChangedFunction, options: DiffOptions) -> Finding:
        old = load_version(f"{self._before / change.old_path}::{change.entry_point}")
        new = load_version(f"{self._after / change.path}::{change.entry_point}")
        was = f"{self._between.old}:{change.old_path}::{change.entry_point}"
        report = replace(diff(old, new, options), old=was, new=self._where(change), path=self._path(change))
        return finding_of_diff(report)


@contextmanager
def _side(revision: str | None) -> Iterator[Path]:
    """Yield the top of a revision's files, or of the working tree."""
    if revision is None:
        yield top_of(Path.cwd())
        return
    with unpacked(revision, folder=Path.cwd()) as top:
        yield top
