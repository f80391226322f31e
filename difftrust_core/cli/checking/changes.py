"""`difftrust diff REV [REV] -- paths`: every function that changed between two revisions, one after the other."""

import os
import re
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from difftrust_core.base.progress import Progress
from difftrust_core.base.text import printable
from difftrust_core.cli.checking.one import say, undecided_on_failure
from difftrust_core.cli.checking.summary import finding_of, refused, say_skipped, status_of
from difftrust_core.cli.echo import echo
from difftrust_core.cli.patience import patience
from difftrust_core.exceptions import DifftrustError, WeakSandbox, WrongUsage

if TYPE_CHECKING:
    from difftrust_core.checks.source.changed import ChangedFunction, Changes
    from difftrust_core.checks.versions.records import DiffOptions
    from difftrust_core.report.formats.findings import Finding


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
    if rest and not os.path.exists(rest[0]):
        return Between(old=first, new=rest[0], paths=tuple(rest[1:]))
    if rest and _is_revision(rest[0]):
        raise WrongUsage(f"expected a revision or a path, {rest[0]!r} is both; write ./{rest[0]} for the path")
    return Between(old=first, new=None, paths=tuple(rest))


def _is_revision(word: str) -> bool:
    from difftrust_core.checks.source.git import commit_of

    try:
        commit_of(Path.cwd(), word)
    except WrongUsage:
        return False
    return True


def diff_changes(between: Between, options: "DiffOptions", *, style: str, again: bool = False) -> int:
    """Compare every function that changed, print one summary in the format ``style`` and return the exit status.

    A function that was added or removed is named, not compared. What was compared is kept until a Python file of
    either side changes; ``again``: it is compared anew.
    """
    from difftrust_core.checks.source.changed import changed_functions
    from difftrust_core.report.formats.render import render

    if options.assume:
        raise WrongUsage("expected one function with --assume, got several; name it as REV:module.py::function")
    with undecided_on_failure(), ExitStack() as stack:
        changes = changed_functions(between.old, between.new, between.paths)
        _refuse_calls_of_others([*options.expect, *options.examples], changes)
        _say_left_out(changes, between)
        comparing = _Comparing(between, changes, options, again=again, stack=stack)
        found = [*comparing.findings(), *(refused(path, "cannot be read as Python") for path in changes.unreadable)]
        if comparing.n_kept:
            say(f"{comparing.n_kept} of {len(found)} were compared before; --again compares them anew")
        if not found:
            say(f"no function changed between {between.old} and {between.new or 'the working tree'}")
        echo(render(found, style))
    return status_of(found)


def _say_left_out(changes: "Changes", between: Between) -> None:
    from difftrust_core.checks.source.targets import Skipped

    named = [
        Skipped(where=f"{change.path}::{change.entry_point}", why=f"{change.kind} since {between.old}")
        for change in changes.functions
        if change.kind != "changed"
    ]
    say_skipped(named)


def _refuse_calls_of_others(texts: Sequence[str], changes: "Changes") -> None:
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
    """The functions that changed, the files of both sides, and what is kept."""

    def __init__(self, between: Between, changes: "Changes", options: "DiffOptions", *, again: bool, stack: ExitStack):
        from difftrust_core.checks.several.kept import Kept

        self._between, self._again = between, again
        self._options = replace(options, say=lambda line: None, phase=lambda name: None)
        self._state = changes.state
        self._changed = [change for change in changes.functions if change.kind == "changed"]
        self._kept = Kept()
        self.n_kept = 0
        if self._changed:
            self._before = stack.enter_context(_side(between.old))
            self._after = stack.enter_context(_side(between.new))

    def findings(self) -> "Iterator[Finding]":
        """Compare them in order; what is compared is kept at once, so a stop loses one at most."""
        total = len(self._changed)
        with ExitStack() as stack:
            bar = stack.enter_context(Progress(total=total, unit=" functions", desc="comparing", leave=False))
            phase = stack.enter_context(patience(say)) if bar.disable else lambda name: None
            for number, change in enumerate(self._changed, 1):
                where = self._where(change)
                phase(f"comparing {where}, {number} of {total}")
                bar.set_postfix_str(printable(where)[-50:])
                finding = self._finding(change, where)
                if finding.status == "failed":
                    bar.write(printable(f"{where}: {finding.verdict}"), file=sys.stderr)
                bar.update()
                yield finding

    def _where(self, change: "ChangedFunction") -> str:
        """Return the new function as the user may name it."""
        if self._between.new is not None:
            return f"{self._between.new}:{change.path}::{change.entry_point}"
        return f"{os.path.relpath(self._after / change.path)}::{change.entry_point}"

    def _finding(self, change: "ChangedFunction", where: str) -> "Finding":
        from difftrust_core.checks.several.kept import digest_of

        options = self._options_for(change.entry_point)
        digest = digest_of("diff", self._state, asdict(change), where, _chosen(options))
        kept = None if self._again else self._kept.find(digest)
        if kept is not None:
            self.n_kept += 1
            return finding_of(kept)
        try:
            finding = self._compared(change, where, options)
        except WeakSandbox:  # so it is with all of them
            raise
        except DifftrustError as e:
            return replace(refused(where, str(e)), path=change.path)
        except Exception as e:  # a fault of ours decides nothing about the others
            for line in traceback.format_exc().splitlines():
                say(line)
            why = f"the comparison itself failed ({type(e).__name__}); please report the lines above"
            return replace(refused(where, why), path=change.path)
        self._kept.keep(digest, asdict(finding))
        return finding

    def _options_for(self, entry_point: str) -> "DiffOptions":
        """Return the options with what is said of this function alone."""
        expect, examples = (
            tuple(text for text in texts if _calls(text, entry_point))
            for texts in (self._options.expect, self._options.examples)
        )
        return replace(self._options, expect=expect, examples=examples)

    def _compared(self, change: "ChangedFunction", where: str, options: "DiffOptions") -> "Finding":
        from difftrust_core.checks.versions.diff import diff
        from difftrust_core.checks.versions.version import load_version
        from difftrust_core.report.formats.findings import finding_of_diff

        began = time.monotonic()
        old = load_version(f"{self._before / change.old_path}::{change.entry_point}")
        new = load_version(f"{self._after / change.path}::{change.entry_point}")
        report = diff(old, new, options)
        was = f"{self._between.old}:{change.old_path}::{change.entry_point}"
        path = where.rpartition("::")[0] if self._between.new is None else change.path
        finding = finding_of_diff(replace(report, old=was, new=where, path=path))
        return replace(finding, seconds=round(time.monotonic() - began, 3))


@contextmanager
def _side(revision: str | None) -> Iterator[Path]:
    """Yield the top of a revision's files, or of the working tree."""
    from difftrust_core.checks.source.git import top_of
    from difftrust_core.checks.source.revisions import unpacked

    if revision is None:
        yield top_of(Path.cwd())
        return
    with unpacked(revision, folder=Path.cwd()) as top:
        yield top


def _chosen(options: "DiffOptions") -> dict[str, str]:
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return {name: repr(value) for name, value in values.items() if not callable(value)}
