"""Examples of what a function does, from its docstring and the command line; nothing of them runs here."""

import ast
import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from difftrust.source.scopes import bound_by, bound_names, expression_in, free_names, tree_of
from difftrust.source.target import Target
from difftrust.source.values import PRELUDE, is_own_module
from difftrust_core.base.literals import write_literal
from difftrust_core.exceptions import WrongUsage
from difftrust_core.languages.python.syntax import expression, parsed


@dataclass(frozen=True, kw_only=True)
class Example:
    """Statements that run on every candidate first, and what they shall give."""

    source: str
    """What runs: the statements before it in the same docstring first, for names may be bound there."""
    want: str = ""
    """What it shall print or give, as doctest has it; empty where nothing is said."""
    by_value: bool = False
    """``want`` is an expression, and the result shall equal its value; the items of an iterator count, or raise."""
    options: Mapping[str, bool] = field(default_factory=dict)
    """Of doctest, by name, e.g. ``{"ELLIPSIS": True}``."""
    origin: str = "docstring"
    """Or ``--example``."""
    shown: str = ""
    """The last statement as its author wrote it."""

    @property
    def stated(self) -> bool:
        """It says what is right: a value, or an exception."""
        return bool(self.want)

    @property
    def text(self) -> str:
        """The example as the sandbox takes it: a string literal that holds an object of JSON."""
        said = {"source": self.source, "want": self.want, "options": dict(self.options), "by_value": self.by_value}
        return write_literal(json.dumps(said))

    @property
    def code(self) -> str:
        """All code of it: what runs, and the value that the result is compared with."""
        return self.source + (self.want if self.by_value and not self.exception else "")

    @property
    def exception(self) -> str:
        """The name of the exception that it states, "" for none."""
        if not self.want.lstrip().startswith("Traceback ("):
            return ""
        named = re.findall(r"^\s*([A-Za-z_][\w.]*)(?=:|\s*$)", self.want, re.MULTILINE)
        return named[-1].rpartition(".")[2] if named else ""


if TYPE_CHECKING:
    import doctest

_TRACEBACK = "Traceback (most recent call last):\n    ...\n{}\n"
_ASYNC = "import asyncio\n"
_COLLECT = f"{_ASYNC}async def _all(items):\n    return [item async for item in items]\n"


def examples_in(docstring: str, target: Target) -> list[Example]:
    """Return the doctest examples of a docstring, each with the statements before it that it rests on."""
    if ">>>" not in docstring:
        return []
    import doctest

    try:
        read = doctest.DocTestParser().get_examples(docstring)
    except ValueError:  # uneven indentation
        read = list(_one_by_one(docstring))
    names = {code: name for name, code in doctest.OPTIONFLAGS_BY_NAME.items()}
    found, before, module = [], list[ast.stmt](), _OwnModule(target)
    for example in read:
        body = module.statements(example.source)
        if not body or any(names.get(k) == "SKIP" and v for k, v in example.options.items()):
            continue
        rests = _rests_on(body, before, target)
        if example.exc_msg is None:
            before += body
        if not example.want and not isinstance(body[-1], ast.Expr):
            continue  # it binds what a later one uses
        last = body[-1].value if isinstance(body[-1], ast.Expr) else None
        if last and example.want == "True\n" and (claim := _compared(last, target)):
            found.append(replace(claim, source=_unparsed([*rests, *body[:-1]]) + claim.source))
            continue
        text = _unparsed(body)
        source = example.source if text == _unparsed(tree_of(example.source).body) else text
        found.append(
            Example(
                source=_unparsed(rests) + source,
                want=example.want,
                options={names[code]: value for code, value in example.options.items() if code in names},
                shown=example.source.strip(),
            )
        )
    return found


def _one_by_one(docstring: str) -> "Iterator[doctest.Example]":
    """Iterate over the examples of a docstring that doctest cannot read as a whole, paragraph by paragraph."""
    import doctest
    import textwrap

    for paragraph in re.split(r"\n\s*\n", docstring):
        start = paragraph.find(">>>")
        if start >= 0:
            line = paragraph.rfind("\n", 0, start) + 1
            with suppress(ValueError):
                yield from doctest.DocTestParser().get_examples(textwrap.dedent(paragraph[line:]))


def _unparsed(body: Sequence[ast.stmt]) -> str:
    return "".join(f"{ast.unparse(statement)}\n" for statement in body)


def _rests_on(body: list[ast.stmt], before: list[ast.stmt], target: Target) -> list[ast.stmt]:
    """Return the statements of ``before`` that bind or touch what ``body`` names, transitively, in their order."""
    own = target.entry_point.partition(".")[0]
    bound = {name for statement in before for name in bound_by(statement)} - {own}
    wanted = _words_in(*body) & bound
    kept: list[ast.stmt] = []
    for statement in reversed(before):
        touched = bound_by(statement) | _words_in(statement)
        if touched & (wanted | {"*"}):
            kept.insert(0, statement)
            wanted |= touched & bound
    return kept


def _words_in(*body: ast.stmt) -> set[str]:
    return {node.id for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name)}


class _OwnModule(ast.NodeTransformer):
    """Takes imports of the function's own module off its examples: ``geometry.f`` and ``import f as g`` are ``f``."""

    def __init__(self, target: Target):
        self._target = target
        self._modules = {target.path.stem} - bound_names(target.module)
        self._names: dict[str, str] = {}

    def statements(self, source: str) -> list[ast.stmt]:
        """Return the statements of one example; imports in it count for those after it."""
        kept = [left for statement in tree_of(source).body for left in self._without_import(statement)]
        return [self.visit(statement) for statement in kept]

    def _without_import(self, statement: ast.stmt) -> list[ast.stmt]:
        path = self._target.path
        match statement:
            case ast.Import(names=names):
                own = [alias for alias in names if is_own_module(path, alias.name, 0)]
                self._modules |= {alias.asname or alias.name for alias in own}
                left = [alias for alias in names if alias not in own]
                return [statement] if not own else [ast.Import(names=left)] if left else []
            case ast.ImportFrom(module=module, names=names, level=level) if is_own_module(path, module or "", level):
                self._names |= {alias.asname: alias.name for alias in names if alias.asname}
                return []
        return [statement]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(id=self._names.get(node.id, node.id), ctx=node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if ast.unparse(node.value) in self._modules:
            return ast.Name(id=node.attr, ctx=node.ctx)
        return self.generic_visit(node)


def example_of(text: str, target: Target, known: set[str]) -> list[Example]:
    """Return what ``--example`` gives: ``f(1) == 2``, ``f(1)``, ``f([]) raises ValueError``, or a doctest's lines.

    Before a call may stand statements: ``x = Stack(); x.push(1); x.peek() == 1``.

    ``known``: the names that its code may use. Raises WrongUsage for anything else.
    """
    stripped = text.strip()
    if stripped.startswith(">>>"):
        found = examples_in(stripped.replace("\\n", "\n") if "\n" not in stripped else stripped, target)
        if not any(_calls_it(node, target) for example in found for node in tree_of(example.source).body):
            raise _refusal(text, target)
    else:
        before, last = _last_statement(stripped)
        example = _in_one_line(last, target)
        if before:
            source = _unparsed(_OwnModule(target).statements(before)) + example.source
            example = replace(example, source=source, shown=f"{before}; {example.shown}")
        found = [example]
    return [replace(_with_imports(example, text, target, known), origin="--example") for example in found]


def _last_statement(text: str) -> tuple[str, str]:
    """Return the statements before the last one of a line, and this, which may be none of Python's."""
    for end in reversed([match.start() for match in re.finditer(";", text)]):
        if parsed(text[:end].strip()) is not None:
            return text[:end].strip(), text[end + 1 :].strip()
    return "", text


def _with_imports(example: Example, text: str, target: Target, known: set[str]) -> Example:
    """Return the example with imports of the standard types that the file does not have. Raises WrongUsage."""
    unknown = sorted(free_names(tree_of(example.code)) - known - ({"inf", "nan"} if example.by_value else set()))
    strange = [name for name in unknown if name not in PRELUDE]
    if strange:
        raise WrongUsage(
            f"expected an example with names that {target.path.name} has, got {text!r}, "
            f"where {', '.join(strange)} is not defined; write the value itself"
        )
    return replace(example, source="".join(f"{PRELUDE[name]}\n" for name in unknown) + example.source)


def _refusal(text: str, target: Target) -> WrongUsage:
    call = target.call_with("1", {"function": "1, [2]", "method": "2"}.get(target.kind, "1"))
    return WrongUsage(
        f'expected a call of {target.entry_point} with literal arguments, got {text!r}; write --example "{call}", '
        f'"{call} == 3" or "{call} raises ValueError"'
    )


def _in_one_line(text: str, target: Target) -> Example:
    left, separator, error = text.rpartition(" raises ")
    error = error.strip().rstrip(".")
    if separator and re.fullmatch(r"[A-Za-z_][\w.]*", error):
        return Example(
            source=_runnable(_call_in(left, target, text), target),
            want=_TRACEBACK.format(error),
            by_value=True,
            options={"IGNORE_EXCEPTION_DETAIL": True},
            shown=left.strip(),
        )
    arrow = re.fullmatch(r"(.+?\))\s*(?:->|=>)\s*(.+)", text, re.DOTALL)
    whole = _call_in(f"{arrow[1]} == {arrow[2]}" if arrow else text, target, text)
    if claim := _compared(whole, target):
        return claim
    is_claim = isinstance(whole, ast.Compare | ast.BoolOp) or (
        isinstance(whole, ast.UnaryOp) and isinstance(whole.op, ast.Not)
    )
    return Example(source=_runnable(whole, target), want="True\n" * is_claim, shown=ast.unparse(whole))


def _compared(claim: ast.expr, target: Target) -> Example | None:
    """Return ``f(x) == VALUE`` or ``is None`` as an example whose result is compared; None for anything else."""
    match claim:
        case (
            ast.Compare(left=call, ops=[ast.Eq()], comparators=[right])
            | ast.Compare(left=call, ops=[ast.Is()], comparators=[ast.Constant(value=None) as right])
        ) if _is_call(call, target) and not _calls_it(right, target):
            want = f"{ast.unparse(right)}\n"
            return Example(source=_runnable(call, target), want=want, by_value=True, shown=ast.unparse(call))
    return None


def _call_in(text: str, target: Target, whole: str) -> ast.expr:
    tree = expression_in(text)
    found: ast.expr | None = _OwnModule(target).visit(tree) if tree is not None else None
    if found is None or not _calls_it(found, target):
        raise _refusal(whole, target)
    return found


def _calls_it(node: ast.AST, target: Target) -> bool:
    return any(_is_call(part, target) for part in ast.walk(node))


def _is_call(node: ast.AST, target: Target) -> bool:
    match node:
        case ast.Await(value=value):
            return _is_call(value, target)
        case ast.Call(func=ast.Name(id=called)):
            return target.owner is None and called == target.function.name
        case ast.Call(func=ast.Attribute(attr=called)):
            return target.kind not in ("function", "property") and called == target.function.name
        case ast.Attribute(attr=called):
            return target.kind == "property" and called == target.function.name
    return False


def _runnable(node: ast.expr, target: Target) -> str:
    """Return an expression as statements that run: a coroutine that is a part of it is awaited."""
    if _is_call(node, target) or not isinstance(target.function, ast.AsyncFunctionDef):
        return f"{ast.unparse(node.value if isinstance(node, ast.Await) else node)}\n"
    run = "asyncio.run(_all({}))" if target.is_generator else "asyncio.run({})"
    text = ast.unparse(_Wrapped(target, run).visit(copy.deepcopy(node)))
    return f"{_COLLECT if target.is_generator else _ASYNC}{text}\n"


class _Wrapped(ast.NodeTransformer):
    """Puts calls of a coroutine into ``asyncio.run``."""

    def __init__(self, target: Target, run: str):
        self._target, self._run = target, run

    def visit(self, node: ast.AST) -> ast.AST:
        if _is_call(node, self._target):
            inner = node.value if isinstance(node, ast.Await) else node
            return expression(self._run.format(ast.unparse(inner)))
        is_run = isinstance(node, ast.Call) and ast.unparse(node.func) == "asyncio.run"
        return node if is_run else self.generic_visit(node)
