"""The code that a function has already, as a candidate beside others."""

import ast
import math
import textwrap
from dataclasses import dataclass

from difftrust_core.base.records import Candidate
from difftrust_core.base.task import Task
from difftrust_core.checks.source.target import Target, find_target, is_written
from difftrust_core.exceptions import BadStub


@dataclass(frozen=True, kw_only=True)
class OwnBody:
    """The function as it stands in its file."""

    name: str
    """What the candidate is called."""
    code: str

    def candidate_for(self, task: Task) -> Candidate:
        """Return it as a candidate for ``task``, its temperature NaN."""
        return Candidate(
            benchmark=task.benchmark,
            task_id=task.task_id,
            model=self.name,
            temperature=math.nan,
            sample_index=0,
            code=self.code,
        )


def own_candidate(where: str) -> OwnBody:
    """Return the body of ``module.py::function`` as a candidate. Raises BadStub where it has none yet."""
    target = find_target(where)
    if not is_written(target):
        raise BadStub(f"expected a body in {target.entry_point} to compare, found none; leave out --with-body")
    return OwnBody(name=f"your code in {target.path.name}", code=_text(target))


def _text(target: Target) -> str:
    """Return the function's lines with its decorators, as the file has them."""
    function = target.function
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    lines = target.path.read_bytes().decode("utf-8", "replace").splitlines()
    text = textwrap.dedent("\n".join(lines[first - 1 : function.end_lineno])) + "\n"
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):  # another encoding, or something else stands on its lines
        text = ast.unparse(function) + "\n"
    return text
