"""`difftrust check` of several functions: one after the other, those that were judged before from what is kept."""

import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from difftrust_core.base.progress import Progress
from difftrust_core.base.text import printable
from difftrust_core.cli.checking.folders import CandidateFolders
from difftrust_core.cli.checking.judging import CannotAsk, Prepared, Say, judge, prepare
from difftrust_core.cli.checking.one import say, undecided_on_failure
from difftrust_core.cli.checking.request import CheckRequest
from difftrust_core.cli.checking.summary import finding_of, printed, refused, say_skipped, status_of
from difftrust_core.cli.echo import echo
from difftrust_core.cli.patience import patience
from difftrust_core.exceptions import DifftrustError, TooFewCandidates, WeakSandbox, WrongUsage

if TYPE_CHECKING:
    from difftrust_core.report.formats.findings import Finding


def check_many(what: Sequence[str], request: CheckRequest, *, since: str = "", again: bool = False) -> int:
    """Check every function that ``what`` names, print one summary and return the exit status.

    ``since``: a git revision; only functions that changed since then. ``again``: what is kept is judged anew. Raises
    WrongUsage for options of one function, and where nothing is there to check.
    """
    _refuse_options_of_one(request)
    from difftrust_core.checks.several.choice import choose_targets

    with undecided_on_failure():
        targets = choose_targets(what, since)
        checking = _Checking(what, targets.found, request, again=again)
        faults = [refused(skipped.where, skipped.why) for skipped in targets.skipped if skipped.is_fault]
        found = [*checking.findings(), *faults]
        say_skipped([*targets.skipped, *checking.skipped])
        if checking.n_kept:
            say(f"{checking.n_kept} of {len(found)} were judged before and are unchanged; --again judges them anew")
        if since and not found:
            say(f"no function changed since {since}")
        echo(printed(found, request))
    return status_of(found)


def _refuse_options_of_one(request: CheckRequest) -> None:
    given = {
        "--output": request.output,
        "--pin": request.pins,
        "--example": request.examples,
        "--assume": request.assume,
    }
    for option, value in given.items():
        if value:
            raise WrongUsage(f"expected one function with {option}, got several; name it as module.py::function")
    if request.candidates is None and not request.models:
        raise WrongUsage("expected --model or --candidates, got neither; name an LLM, or a folder of programs")


class _Checking:
    """Several functions on their way: where their candidates are, what is kept, what is left to spend."""

    def __init__(self, what: Sequence[str], functions: Sequence[str], request: CheckRequest, *, again: bool):
        from difftrust_core.checks.several.kept import Kept
        from difftrust_core.checks.source.targets import Skipped

        self._request, self._again = request, again
        self._kept = Kept()
        self._left = request.max_usd
        self.n_kept = 0
        self.skipped: list[Skipped] = []
        """Functions without candidates that no one named by themselves."""
        is_in_folders = request.candidates is not None and functions
        self._folders = CandidateFolders(Path(request.candidates or ""), functions) if is_in_folders else None
        self._functions = []
        for where in functions:
            if self._folders and self._folders.of(where) is None and where not in what:
                self.skipped.append(Skipped(where=where, why=f"no candidates in {request.candidates}"))
            else:
                self._functions.append(where)

    def findings(self) -> "list[Finding]":
        """Check them in order; the bar counts them. What is judged is kept at once, so a stop loses one at most."""
        found = []
        total = len(self._functions)
        with ExitStack() as stack:
            bar = stack.enter_context(Progress(total=total, unit=" functions", desc="checking", leave=False))
            phase = stack.enter_context(patience(say)) if bar.disable else lambda name: None
            for number, where in enumerate(self._functions, 1):
                phase(f"checking {where}, {number} of {total}")
                bar.set_postfix_str(printable(where)[-50:])
                found.append(self._finding(where, lambda line: bar.write(printable(line), file=sys.stderr)))
                if found[-1].status == "failed":
                    bar.write(printable(f"{where}: {found[-1].verdict}"), file=sys.stderr)
                bar.update()
        return found

    def _finding(self, where: str, tell: Say) -> "Finding":
        try:
            return self._judged(where, lambda line: tell(f"{where}: {line}"))
        except (WeakSandbox, CannotAsk):  # so it is with all of them
            raise
        except DifftrustError as e:
            return refused(where, str(e))
        except Exception as e:  # a fault of ours decides nothing about the others
            for line in traceback.format_exc().splitlines():
                tell(line)
            return refused(where, f"the check itself failed ({type(e).__name__}); please report the lines above")

    def _judged(self, where: str, tell: Say) -> "Finding":
        from difftrust_core.checks.several.kept import digest_of_check
        from difftrust_core.report.formats.findings import finding_of_check

        began = time.monotonic()
        prepared = self._prepared(where, tell)
        digest = digest_of_check(where, prepared.stub.task, prepared.candidates, prepared.options)
        kept = None if self._again else self._kept.find(digest)
        if kept is not None:
            self.n_kept += 1
            return finding_of(kept)
        finding = finding_of_check(judge(prepared), where)
        finding = replace(finding, seconds=round(time.monotonic() - began, 3))
        self._kept.keep(digest, asdict(finding))
        return finding

    def _prepared(self, where: str, tell: Say) -> Prepared:
        folder = self._folders.of(where) if self._folders else None
        if self._folders and folder is None:
            raise WrongUsage(self._folders.lacks(where))
        request = replace(self._request, candidates=folder, max_usd=self._left)
        try:
            prepared = prepare(where, request, say=tell, phase=lambda name: None)
        except TooFewCandidates as e:
            if self._left is not None and self._left <= 0:
                raise WrongUsage(f"not sampled: --max-usd {self._request.max_usd} is spent; allow more") from None
            raise e from None
        if self._left is not None:
            self._left = max(0.0, self._left - prepared.usd)
        return replace(prepared, options=replace(prepared.options, say=lambda line: None))
