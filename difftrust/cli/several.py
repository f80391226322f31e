"""Several functions, judged one after the other; what was judged before comes from what was kept."""

import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from difftrust.check.prepare import CannotAsk
from difftrust.check.verdict_cache import KeptVerdicts
from difftrust.cli.judgement import say
from difftrust.cli.printing import patience
from difftrust.outputs.findings import Finding, finding_of_json, refuse
from difftrust.text import printable
from difftrust_core.base.parallel import Progress
from difftrust_core.exceptions import DifftrustError, WeakSandbox

if TYPE_CHECKING:
    from difftrust.source.target import Skipped

Tell = Callable[[str], None]
_SHOWN = 3
"""Functions named of each reason to leave some out."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One function of several: where it is, and how it is judged."""

    where: str
    """``module.py::function`` as the user may name it."""
    path: str
    prepare: Callable[[Tell], tuple[str, Callable[[], Finding]]]
    """Gets what takes lines of progress; returns a digest of all that the finding rests on, and what finds it."""


class Several:
    """Judges cases in order. What is judged is kept at once, so a stop loses one at most."""

    def __init__(self, doing: str, what: str, *, again: bool):
        """``doing``: "checking"; ``what``: "check". ``again``: what is kept is judged anew."""
        self._doing, self._what, self._again, self._kept = doing, what, again, KeptVerdicts()
        self.n_kept = 0

    def judge(self, cases: Sequence[Case]) -> list[Finding]:
        """Return what is found of each; the bar counts them."""
        found, total = [], len(cases)
        with ExitStack() as stack:
            bar = stack.enter_context(Progress(total=total, unit=" functions", desc=self._doing, leave=False))
            phase = stack.enter_context(patience(say)) if bar.disable else lambda name: None

            def tell(line: str) -> None:
                bar.write(printable(line), file=sys.stderr)

            for number, case in enumerate(cases, 1):
                phase(f"{self._doing} {case.where}, {number} of {total}")
                bar.set_postfix_str(printable(case.where)[-50:])
                found.append(self._finding(case, tell))
                if found[-1].status == "failed":
                    tell(f"{case.where}: {found[-1].verdict}")
                bar.update()
        return found

    def _finding(self, case: Case, tell: Tell) -> Finding:
        began = time.monotonic()
        try:
            digest, find = case.prepare(lambda line: tell(f"{case.where}: {line}"))
            kept = None if self._again else self._kept.find(digest)
            if kept is not None:
                self.n_kept += 1
                return finding_of_json(kept)
            finding = replace(find(), seconds=round(time.monotonic() - began, 3))
        except (WeakSandbox, CannotAsk):  # so it is with all of them
            raise
        except DifftrustError as e:
            return replace(refuse(case.where, str(e)), path=case.path)
        except Exception as e:  # a fault of ours decides nothing about the others
            for line in traceback.format_exc().splitlines():
                tell(line)
            why = f"the {self._what} itself failed ({type(e).__name__}); please report the lines above"
            return replace(refuse(case.where, why), path=case.path)
        self._kept.keep(digest, asdict(finding))
        return finding


def say_skipped(skipped: "Sequence[Skipped]") -> None:
    """Say how many functions are left out, by reason, the first few by name."""
    reasons: dict[str, list[str]] = {}
    for each in skipped:
        if not each.is_fault:
            reasons.setdefault(each.why, []).append(each.where)
    for why, where in reasons.items():
        more = f" and {len(where) - _SHOWN} more" if len(where) > _SHOWN else ""
        say(f"left out, {why}: {', '.join(where[:_SHOWN])}{more}")
