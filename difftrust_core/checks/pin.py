"""An example written into a function's docstring, the rest of the file untouched."""

import ast
import doctest
import os
import shutil
import tempfile
import tokenize
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Self

from difftrust_core.base.literals import BadText, Code, Instance, read_literal, write_literal
from difftrust_core.checks.source.names import Names, NotSpelled
from difftrust_core.checks.source.target import Function, find_function
from difftrust_core.exceptions import BadStub, DifftrustError, WrongUsage

_FORM = '--pin "f(1, [2]) == 3" or --pin "f([]) raises ValueError"'
_COMPARED = (set, frozenset, dict, float, complex, Instance, Code)
"""What prints in an order, in digits or in words of its own: such a result is compared, not printed."""


@dataclass(frozen=True, kw_only=True)
class Pin:
    """What the user says is right: the lines of one doctest example."""

    call: str
    source: str
    want: str
    value: str = ""
    """The result as a literal; empty where an exception is right."""

    @classmethod
    def of(cls, call: str, right: str) -> Self:
        """Return the pin that ``call`` gives the literal ``right``. Raises WrongUsage if it is none."""
        try:
            value = read_literal(right)
        except BadText as e:
            raise WrongUsage(f"expected a literal after ==, got {right!r}: {e}") from None
        if _holds(value, _COMPARED):
            return cls(call=call, source=f"{call} == {right}", want="True", value=right)
        spelled = write_literal(value)
        return cls(call=call, source=call, want="" if value is None else spelled, value=spelled)

    def named(self, names: Names) -> "Pin":
        """Return the pin with the names of the module that it shall stand in. Raises NotSpelled, BadText."""
        call = names.spelled_expression(self.call)
        if not self.value:
            return Pin(call=call, source=self.source.replace(self.call, call, 1), want=self.want)
        right = names.spelled_result(self.value)
        return (
            Pin.of(call, right)
            if "float(" not in right
            else Pin(call=call, source=f"{call} == {right}", want="True", value=right)
        )

    @property
    def lines(self) -> list[str]:
        """The example as it stands in a docstring."""
        return [f">>> {self.source}", *self.want.splitlines()]


def parse_pin(text: str, function: str) -> Pin:
    """Return the example behind ``f(x) == y`` or ``f(x) raises Error``. Raises WrongUsage for anything else."""
    left, separator, error = text.rpartition(" raises ")
    if separator:
        call = _call(left, function, text)
        if not error.strip().isidentifier():
            raise WrongUsage(f"expected the name of an exception after raises, got {error.strip()!r}; write {_FORM}")
        want = f"Traceback (most recent call last):\n    ...\n{error.strip()}"
        return Pin(call=call, source=f"{call}  # doctest: +IGNORE_EXCEPTION_DETAIL", want=want)
    match _expression(text):
        case ast.Compare(left=ast.Call() as made, ops=[ast.Eq()], comparators=[right]):
            call = _call(ast.unparse(made), function, text)
            return Pin.of(call, ast.unparse(right))
        case ast.Compare(left=ast.Attribute(value=ast.Call()) as read, ops=[ast.Eq()], comparators=[right]):
            return Pin.of(_call(ast.unparse(read), function, text), ast.unparse(right))
    raise WrongUsage(f"expected a call and its result, got {text!r}; write {_FORM}")


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _call(text: str, function: str, whole: str) -> str:
    """Return the call in one spelling. Raises WrongUsage unless it calls ``function`` with literals."""
    owner, _, method = function.rpartition(".")
    args: list[ast.expr] = []
    match _expression(text):
        case ast.Call(func=called, args=given, keywords=keywords) as call if ast.unparse(called) == function:
            args = [*given, *[k.value for k in keywords]]
        case ast.Call(func=ast.Attribute(value=made, attr=name), args=given, keywords=keywords) as call if (
            owner and name == method and _makes(made, owner)
        ):
            args = [made, *given, *[k.value for k in keywords]]
        case ast.Attribute(value=made, attr=name) as call if owner and name == method and _makes(made, owner):
            args = [made]
        case _:
            raise WrongUsage(f"expected a call of {function}, got {whole!r}; write {_FORM}")
    try:
        for argument in args:
            _ = read_literal(ast.unparse(argument))
    except BadText as e:
        raise WrongUsage(f"expected literal arguments, got {whole!r}: {e}") from None
    return ast.unparse(call)


def _makes(node: ast.expr, owner: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == owner


def _holds(value: object, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, kinds):
        return True
    return isinstance(value, (list, tuple)) and any(_holds(v, kinds) for v in value)


def pin_example(where: str, pin: Pin) -> bool:
    """Write the example at the end of the docstring of ``module.py::function``; False if it stands there already.

    The file is replaced as a whole or not at all, and only if it still parses to the same but for that docstring.
    Raises BadStub where the docstring cannot be edited or says something else about the same call.
    """
    path, module, function = find_function(where)
    try:
        pin = pin.named(Names(module))
    except (NotSpelled, BadText) as e:
        raise BadStub(
            f"expected values that {path.name} can spell, got {pin.source}: {e}; import what is missing"
        ) from None
    if _is_there(function, pin):
        return False
    raw = path.read_bytes()
    encoding, _ = tokenize.detect_encoding(BytesIO(raw).readline)
    text = raw.decode(encoding)
    edited = _edited(text, function, pin, where)
    _check(text, edited, where.rpartition("::")[2], pin, where)
    _replace(path.resolve(), edited.encode(encoding))
    return True


@contextmanager
def as_it_was(where: str) -> Iterator[None]:
    """Let a refusal, exit status 2, leave the file of ``module.py::function`` as it was before."""
    path = Path(where.rpartition("::")[0])
    try:
        before = path.read_bytes()
    except (OSError, ValueError):
        yield
        return
    try:
        yield
    except DifftrustError as e:
        if e.exit_status == WrongUsage.exit_status and path.read_bytes() != before:
            _replace(path.resolve(), before)
        raise


def _is_there(function: Function, pin: Pin) -> bool:
    try:
        examples = doctest.DocTestParser().get_examples(ast.get_docstring(function) or "")
    except ValueError:
        return False
    for example in examples:
        said = _claim(example.source, example.want)
        if said[0] == _claim(pin.source, pin.want)[0]:
            if said == _claim(pin.source, pin.want):
                return True
            raise BadStub(
                f"the docstring of {function.name} already says {example.source.strip()} is "
                f"{example.want.strip() or 'None'}; take that out first if it is wrong"
            )
    return False


def _claim(source: str, want: str) -> tuple[str, str]:
    """Return a call and what an example says of it, each in one spelling: ``f(1) == 2`` is True says 2."""
    expression, said = _expression(source), want.strip()
    if said.startswith("Traceback"):
        said = said.splitlines()[-1].partition(":")[0]
    match expression:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]) if said == "True":
            expression, said = left, ast.unparse(right)
    call = ast.unparse(expression) if expression else source.strip()
    value = _expression(said) if said else None
    return call, ast.unparse(value) if value else said or "None"


def _edited(text: str, function: Function, pin: Pin, where: str) -> str:
    """Return the file's text with the example in it."""
    literal = function.body[0].value if function.body and isinstance(function.body[0], ast.Expr) else None
    if not isinstance(literal, ast.Constant) or not isinstance(literal.value, str):
        raise BadStub(f"expected a docstring in {where} to write the example into, found none; write one")
    start, end = (_offset(text, *at) for at in _span(literal))
    prefix, quote, content = _taken_apart(text[start:end], where)
    newline = "\r\n" if "\r\n" in text else "\n"
    line = text[text.rfind("\n", 0, start) + 1 : start]
    margin = line if not line.strip() else line[: len(line) - len(line.lstrip())] + "    "
    lines = [margin + spelled for spelled in _spelled(pin, prefix, quote, where)]
    body = content.rstrip()
    gap = newline if body.endswith(tuple(">>> ")) or _ends_in_example(body) else newline * 2
    made = f"{prefix}{quote}{body}{gap}{newline.join(lines)}{newline}{margin}{quote}"
    return text[:start] + made + text[end:]


def _ends_in_example(content: str) -> bool:
    """Tell whether the last paragraph is an example, which the new one then follows without an empty line."""
    last = content.replace("\r\n", "\n").split("\n\n")[-1]
    return last.lstrip().startswith(">>>")


def _span(node: ast.expr) -> tuple[tuple[int, int], tuple[int, int]]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _offset(text: str, line: int, column: int) -> int:
    """Return where in ``text`` a place of the syntax tree is; its columns count the bytes of UTF-8."""
    before = text.encode().splitlines(keepends=True)
    return len((b"".join(before[: line - 1]) + before[line - 1][:column]).decode())


def _taken_apart(literal: str, where: str) -> tuple[str, str, str]:
    """Return prefix, quotes and content of a docstring as it is spelled; short quotes become long ones."""
    prefix = literal[: min(literal.find(q) for q in "'\"" if q in literal)]
    rest = literal[len(prefix) :]
    for quote in ('"""', "'''"):
        if rest.startswith(quote) and rest.endswith(quote) and quote not in rest[3:-3].replace(f"\\{quote[0]}", ""):
            return prefix, quote, rest[3:-3]
    if rest[0] == rest[-1] and rest[0] not in rest[1:-1] and "\n" not in rest:
        return prefix, '"""', rest[1:-1]
    raise BadStub(f"expected one triple-quoted docstring in {where}, found another form; rewrite it, then pin again")


def _spelled(pin: Pin, prefix: str, quote: str, where: str) -> list[str]:
    """Return the example's lines as they are spelled inside the docstring's quotes."""
    raw = "r" in prefix.lower()
    if raw and any(quote in line for line in pin.lines):
        raise BadStub(f"the raw docstring of {where} cannot hold {quote}; make it a plain one, then pin again")
    if raw:
        return pin.lines
    return [line.replace("\\", "\\\\").replace(quote, "\\" + "\\".join(quote)) for line in pin.lines]


def _check(before: str, after: str, name: str, pin: Pin, where: str) -> None:
    """Make sure that the edit added the example and changed nothing around it."""
    try:
        old, new = ast.parse(before), ast.parse(after)
        examples = doctest.DocTestParser().get_examples(_docstring_taken(new, name))
    except (SyntaxError, ValueError) as e:
        raise BadStub(
            f"the docstring of {where} cannot take the example ({e}); write it by hand: {pin.lines}"
        ) from None
    _docstring_taken(old, name)
    last = examples[-1] if examples else None
    same = last is not None and last.source.strip() == pin.source and last.want.strip() == pin.want
    if not same or ast.dump(old) != ast.dump(new):
        raise BadStub(f"the docstring of {where} cannot take the example; write it by hand: {pin.lines}")


def _docstring_taken(module: ast.Module, entry_point: str) -> str:
    """Return the docstring of the function or method and put an empty one in its place."""
    owner, _, name = entry_point.rpartition(".")
    body: list[ast.stmt] = module.body
    for statement in module.body:
        if owner and isinstance(statement, ast.ClassDef) and statement.name == owner:
            body = statement.body
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    function = [s for s in ast.walk(ast.Module(body=body, type_ignores=[])) if isinstance(s, kinds) and s.name == name][
        -1
    ]
    docstring = ast.get_docstring(function) or ""
    function.body[0] = ast.Expr(value=ast.Constant(value=""))
    return docstring


def _replace(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
