"""What a model suggests for a check: calls and preconditions, read as data from its reply and from a TOML file."""

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from difftrust_core.base.literals import BadText, read_literal
from difftrust_core.base.task import Task
from difftrust_core.generation.extraction import fenced_blocks
from difftrust_core.generation.prompt import filled, method_header

MOST = 10
"""Calls, and conditions."""
_LONGEST = 2_000
"""Characters of one call or condition."""
_TEMPLATE = resources.files("difftrust_core.languages.python").joinpath("question.txt")
_OWN_OBJECT = ("self", "cls")
_PURE = frozenset(
    {"abs", "all", "any", "bool", "bytearray", "bytes", "callable", "chr", "complex", "dict", "divmod", "enumerate"}
    | {"filter", "float", "frozenset", "hasattr", "int", "isinstance", "issubclass", "len", "list", "map", "max"}
    | {"min", "ord", "pow", "range", "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip"}
)
"""Builtins that a condition may use."""
_NO_CONDITION = ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr
_UNREADABLE = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)


@dataclass(frozen=True, kw_only=True)
class Suggested:
    """Calls to start from and conditions that every input keeps, and the file that holds them."""

    calls: tuple[str, ...] = ()
    """As ``--example`` takes them: ``clamp(2, low=1)``."""
    conditions: tuple[str, ...] = ()
    """As ``--assume`` takes them: ``low <= high``."""
    path: Path
    """It need not exist: then nothing was suggested."""
    is_new: bool = False
    """The model was asked just now; otherwise the file was there."""
    usd: float | None = 0.0
    """What was paid just now; None is unknown."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What was understood of a reply."""

    calls: tuple[str, ...]
    conditions: tuple[str, ...]
    left_out: tuple[str, ...]
    """Statements that are neither, or too many."""


def question_about(task: Task) -> str:
    """Return the prompt that asks for realistic calls and preconditions of a function."""
    owner, _, name = task.entry_point.rpartition(".")
    parameters = [parameter for parameter in _parameter_names(task.signature) if parameter not in _OWN_OBJECT]
    values = {
        "entry_point": task.entry_point,
        "header": method_header(task) if owner else f"def {name}{task.signature}",
        "description": task.description.strip() or "(Its name and signature are all that is known.)",
        "preamble": task.preamble.strip("\n"),
        "example": f"{owner}(...).{name}(...)" if owner else f"{name}(...)",
        "parameters": ", ".join(f"`{parameter}`" for parameter in parameters) or "its arguments",
    }
    return filled(_TEMPLATE.read_text(encoding="utf-8"), values)


def read_reply(text: str, task: Task) -> Reading:
    """Return the calls and conditions in a reply; what is neither is left out, and named."""
    calls: dict[str, None] = {}
    conditions: dict[str, None] = {}
    left_out: list[str] = []
    for statement in _statements(fenced_blocks(text)):
        call, condition = call_in(statement, task), condition_in(statement, task)
        if call is not None and (len(calls) < MOST or call in calls):
            calls[call] = None
        elif condition is not None and (len(conditions) < MOST or condition in conditions):
            conditions[condition] = None
        else:
            left_out.append(statement if isinstance(statement, str) else _shown(statement))
    return Reading(calls=tuple(calls), conditions=tuple(conditions), left_out=tuple(left_out))


def _statements(blocks: Sequence[str]) -> Iterator[ast.stmt | str]:
    """Iterate over the statements of the blocks; where a block cannot be parsed, its lines are tried one by one."""
    for block in blocks:
        whole = parsed(block)
        if whole is not None:
            yield from whole
            continue
        for line in filter(None, map(str.strip, block.splitlines())):
            one = parsed(line.removeprefix(">>>").strip())
            yield from one if one is not None else [line]


def parsed(text: str) -> list[ast.stmt] | None:
    """Return the statements of a text, None if Python cannot parse it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what the text contains
            return ast.parse(text).body
    except _UNREADABLE:
        return None


def _shown(node: ast.AST) -> str:
    try:
        return ast.unparse(node)
    except _UNREADABLE:
        return type(node).__name__


def call_in(statement: ast.stmt | str, task: Task) -> str | None:
    """Return the call of the function that a statement is, None if it is none with literal arguments."""
    if not isinstance(statement, ast.Expr):
        return None
    try:
        text = ast.unparse(statement.value)
        is_call = len(text) <= _LONGEST and "\n" not in text and _is_call(statement.value, task)
    except _UNREADABLE:
        return None
    return text if is_call else None


def _is_call(node: ast.expr, task: Task) -> bool:
    owner, _, name = task.entry_point.rpartition(".")
    if not owner:
        is_it = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        return is_it and isinstance(node, ast.Call) and _takes(task.signature, node, bound=False)
    reached = node.func if isinstance(node, ast.Call) else node  # a property is not called
    if not (isinstance(reached, ast.Attribute) and reached.attr == name):
        return False
    on_class = isinstance(reached.value, ast.Name) and reached.value.id == owner
    made = reached.value
    on_object = isinstance(made, ast.Call) and ast.unparse(made.func).split(".")[0] == owner and _is_literal(made)
    takes = not isinstance(node, ast.Call) or _takes(task.signature, node, bound=on_object)
    return (on_object or (on_class and isinstance(node, ast.Call))) and takes


def _is_literal(node: ast.expr) -> bool:
    try:
        read_literal(ast.unparse(node))
    except (BadText, *_UNREADABLE):
        return False
    return True


def _takes(signature: str, call: ast.Call, *, bound: bool) -> bool:
    """Tell whether literal arguments fit the parameters; ``bound``: a ``self`` is given already, as a ``cls`` is."""
    if not all(_is_literal(argument) for argument in (*call.args, *(k.value for k in call.keywords))):
        return False
    found = _arguments(signature)
    if found is None or any(k.arg is None for k in call.keywords):
        return False
    places = [*found.posonlyargs, *found.args]
    n_defaults = len(found.defaults)
    needed = [a.arg for a in places[: len(places) - n_defaults]]
    needed += [a.arg for a, default in zip(found.kwonlyargs, found.kw_defaults, strict=True) if default is None]
    by_place = [a.arg for a in places]
    if by_place[:1] == ["cls"] or (bound and by_place[:1] == ["self"]):
        needed, by_place = [name for name in needed if name != by_place[0]], by_place[1:]
    taken, named = by_place[: len(call.args)], [str(k.arg) for k in call.keywords]
    known = {a.arg for a in (*found.args, *found.kwonlyargs)}
    return (
        (len(call.args) <= len(by_place) or found.vararg is not None)
        and not set(taken) & set(named)
        and (set(named) <= known or found.kwarg is not None)
        and set(needed) <= {*taken, *named}
    )


def _arguments(signature: str) -> ast.arguments | None:
    body = parsed(f"def f{signature}: ...")
    return body[0].args if body and isinstance(body[0], ast.FunctionDef) else None


def _parameter_names(signature: str) -> list[str]:
    found = _arguments(signature)
    if found is None:
        return []
    more = [found.vararg, found.kwarg]
    return [a.arg for a in (*found.posonlyargs, *found.args, *found.kwonlyargs, *filter(None, more))]


def condition_in(statement: ast.stmt | str, task: Task) -> str | None:
    """Return the condition that an ``assert`` states over the parameters, None if it is none."""
    return _condition(statement.test, task) if isinstance(statement, ast.Assert) else None


def _condition(node: ast.expr, task: Task) -> str | None:
    try:
        text = ast.unparse(node)
        inside = list(ast.walk(node))
    except _UNREADABLE:
        return None
    names = [n for n in inside if isinstance(n, ast.Name)]
    bound = {n.id for n in names if not isinstance(n.ctx, ast.Load)} | {n.arg for n in inside if isinstance(n, ast.arg)}
    used = {n.id for n in names} - bound
    parameters = set(_parameter_names(task.signature)) | ({"self"} if "." in task.entry_point else set())
    known = parameters | _PURE | _bound_names(parsed(task.preamble) or [])
    is_one = used <= known and used & parameters and not any(isinstance(n, _NO_CONDITION) for n in inside)
    return text if is_one and len(text) <= _LONGEST and "\n" not in text else None


def _bound_names(body: Sequence[ast.stmt]) -> set[str]:
    found: set[str] = set()
    for statement in body:
        match statement:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {(alias.asname or alias.name).split(".")[0] for alias in names}
            case ast.Assign() | ast.AnnAssign():
                found |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return found
