"""What a user pasted, parsed but never executed: functions of a text, programs as files; and nothing else."""

import ast
import re
import warnings
from collections.abc import Sequence

from difftrust_core.coders.simulated import sample_simulated
from difftrust_core.exceptions import BadStub, DifftrustError
from difftrust_core.tasks import Task


def functions_of(source: str) -> list[str]:
    """Return the functions at the top of a text. Raises BadStub if there is none, or it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what the text contains, e.g. an invalid escape
            body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        raise BadStub(f"expected Python, found {type(e).__name__}: {e}; correct the text") from None
    found = [statement.name for statement in body if isinstance(statement, ast.FunctionDef)]
    if not found:
        raise BadStub("expected a function with a signature and a docstring, found none; paste one")
    return found


def candidate_files(programs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return file name -> program, in order; of names only plain letters are kept."""
    width = len(str(len(programs)))
    return {
        f"{number:0{width}d}-{re.sub(r'[^A-Za-z0-9_-]', '', name.removesuffix('.py'))[:40]}.py": code
        for number, (name, code) in enumerate(programs, 1)
    }


def simulated_files(stub: str, model: str, *, m: int, temperature: float, seed: int) -> dict[str, str]:
    """Return the programs of a simulated coder for a function that works; none where the text cannot be broken."""
    try:
        name = functions_of(stub)[-1]
        task = Task(
            benchmark="check",
            task_id=f"pasted/{re.sub(r'[^A-Za-z0-9_]', '_', name)}",
            entry_point=name,
            signature="",
            description="",
            seed_inputs=(),
            reference=stub,
        )
        made = sample_simulated(task, model, temperature=temperature, m=m, seed=seed)
    except DifftrustError:
        return {}
    return candidate_files([(model.replace("/", "-"), candidate.code) for candidate in made])
