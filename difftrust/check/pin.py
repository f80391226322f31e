"""What is said to be right, written down: as an example in a docstring, the rest of the file untouched, or as tests."""

import ast
import builtins
import doctest
import os
import re
import shutil
import tempfile
import tokenize
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Self

from difftrust.source.package import names_for
from difftrust.source.scopes import bound_names, expression_in
from difftrust.source.target import Target, find_target
from difftrust.source.values import Names, NotSpelled
from difftrust.types.own import Function
from difftrust_core.base.files import write_whole
from difftrust_core.base.literals import BadText, Code, Instance, read_literal, write_literal
from difftrust_core.exceptions import BadStore, BadStub, DifftrustError, WrongUsage

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
        if value is None:  # prints nothing, as does an example that says nothing
            return cls(call=call, source=f"{call} is None", want="True", value=right)
        spelled = write_literal(value)
        return cls(call=call, source=call, want=spelled, value=spelled)

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

    def of_items(self, target: Target) -> "Pin":
        """Return the pin of a generator as one of the list of its items, for it prints none and raises nothing."""
        if not target.is_generator:
            return self
        if isinstance(target.function, ast.AsyncFunctionDef):  # which no doctest lists; a check does
            source = f"{self.call} == {self.value}" if self.value else self.source
            return replace(self, source=source, want="True" if self.value else self.want)
        return replace(self, source=self.source.replace(self.call, f"list({self.call})", 1))

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
    match expression_in(text):
        case ast.Compare(
            left=(ast.Call() | ast.Attribute(value=ast.Call())) as made, ops=[ast.Eq()], comparators=[right]
        ):
            try:
                return Pin.of(_call(ast.unparse(made), function, text), ast.unparse(right))
            except ValueError as e:  # an int of more digits than Python prints
                raise WrongUsage(f"expected values that Python prints, got {text[:80]!r}...: {e}") from None
    raise WrongUsage(f"expected a call and its result, got {text!r}; write {_FORM}")


def _call(text: str, function: str, whole: str) -> str:
    """Return the call in one spelling. Raises WrongUsage unless it calls ``function`` with literals."""
    owner, _, method = function.rpartition(".")
    args: list[ast.expr] = []
    match expression_in(text):
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


def pin_examples(where: str, texts: Sequence[str]) -> list[tuple[str, bool]]:
    """Write examples, all of which are read first; return each, and whether it was not there already."""
    pins = [(text, parse_pin(text, where.rpartition("::")[2])) for text in texts]
    return [(text, pin_example(where, pin)) for text, pin in pins]


def pin_example(where: str, pin: Pin) -> bool:
    """Write the example at the end of the docstring of ``module.py::function``; False if it stands there already.

    The file is replaced as a whole or not at all, and only if it still parses to the same but for that docstring.
    Raises BadStub where the docstring cannot be edited or says something else about the same call.
    """
    target = find_target(where)
    path, function = target.path, target.function
    try:
        pin = pin.named(names_for(target, pin.source)).of_items(target)
    except (NotSpelled, BadText) as e:
        raise BadStub(
            f"expected values that {path.name} can spell, got {pin.source}: {e}; import what is missing"
        ) from None
    if _is_there(function, pin):
        return False
    raw = path.read_bytes()
    encoding, _ = tokenize.detect_encoding(BytesIO(raw).readline)
    text = raw.decode(encoding)
    docstring = _docstring_of(function, where)
    edited = _edited(text, docstring, pin, where)
    start = docstring.lineno, docstring.col_offset
    _replace(path.resolve(), _checked(text, edited, encoding, start, pin, where))
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
                if example.want:
                    return True
                continue  # it states nothing
            raise BadStub(
                f"the docstring of {function.name} already says {example.source.strip()} is "
                f"{example.want.strip() or 'None'}; take that out first if it is wrong"
            )
    return False


def _claim(source: str, want: str) -> tuple[str, str]:
    """Return a call and what an example says of it, each in one spelling: ``f(1) == 2`` is True says 2."""
    expression, said = expression_in(source), want.strip()
    if said.startswith("Traceback"):
        said = said.splitlines()[-1].partition(":")[0]
    match expression:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]) if said == "True":
            expression, said = left, ast.unparse(right)
    call = ast.unparse(expression) if expression else source.strip()
    value = expression_in(said) if said else None
    return call, ast.unparse(value) if value else said or "None"


def _docstring_of(function: Function, where: str) -> ast.Constant:
    match function.body:
        case [ast.Expr(value=ast.Constant(value=str()) as literal), *_]:
            return literal
    raise BadStub(f"expected a docstring in {where} to write the example into, found none; write one")


def _edited(text: str, literal: ast.Constant, pin: Pin, where: str) -> str:
    """Return the file's text with the example in it."""
    start = _offset(text, literal.lineno, literal.col_offset)
    end = _offset(text, literal.end_lineno or 0, literal.end_col_offset or 0)
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


def _checked(before: str, after: str, encoding: str, start: tuple[int, int], pin: Pin, where: str) -> bytes:
    """Return the bytes of the edited text: it has the example in the docstring that starts there, the rest as it was.

    Raises BadStub otherwise, and where the file's encoding cannot say it.
    """
    why, same, written = "", False, b""
    try:
        written = after.encode(encoding)
        old, new = ast.parse(before), ast.parse(written)
        examples = doctest.DocTestParser().get_examples(_docstring_taken(new, start))
        _docstring_taken(old, start)
        last = examples[-1] if examples else None
        same = last is not None and last.source.strip() == pin.source and last.want.strip() == pin.want
        same = same and ast.dump(old) == ast.dump(new)
    except (SyntaxError, ValueError) as e:
        why = f" ({e})"
    if not same:
        raise BadStub(f"the docstring of {where} cannot take the example{why}; write it by hand: {pin.lines}")
    return written


def _docstring_taken(module: ast.Module, start: tuple[int, int]) -> str:
    """Return the text that starts there and put an empty one in its place; "" where none does."""
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and (node.lineno, node.col_offset) == start and isinstance(node.value, str):
            text, node.value = node.value, ""
            return text
    return ""


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


_RAISES = re.compile(r" raises ([A-Za-z_]\w*)\s*$")


@dataclass(frozen=True, kw_only=True)
class Written:
    """What became of each text."""

    new: tuple[str, ...]
    there_already: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    """(text, why): no test can say it."""


def write_tests(file: Path, where: str, texts: Sequence[str]) -> Written:
    """Write a test for each of ``texts``, ``f(1) == 2`` or ``f([]) raises ValueError``, into a file.

    A file that exists keeps what it holds; what it tests already is not written again. Raises WrongUsage where the
    file cannot be written, or is no Python.
    """
    target = find_target(where)
    before, tree = _read(file)
    bodies = {ast.dump(_rest(each)) for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    taken = {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    parts, new, there, left_out = [], list[str](), list[str](), list[tuple[str, str]]()
    for text in dict.fromkeys(texts):
        try:
            lines = list(_lines(text, target))
        except (WrongUsage, NotSpelled, BadText) as e:
            left_out.append((text, str(e)))
            continue
        name = next(n for n in _names(target.entry_point) if n not in taken)
        code = "\n".join([f"def {name}() -> None:", *(f"    {line}" if line else "" for line in lines)])
        dumped = ast.dump(_rest(ast.parse(code).body[0]))
        if dumped in bodies:
            there.append(text)
            continue
        bodies.add(dumped)
        taken.add(name)
        parts.append(code)
        new.append(text)
    if parts:
        head = before.rstrip("\n") if before.strip() else _head(file, target)
        try:
            write_whole(file, "\n\n\n".join([head, *parts]) + "\n")
        except BadStore as e:
            raise WrongUsage(f"expected a file to write tests to, {e}") from None
    return Written(new=tuple(new), there_already=tuple(there), left_out=tuple(left_out))


def _read(file: Path) -> tuple[str, ast.Module]:
    if not file.absolute().parent.is_dir():
        raise WrongUsage(f"expected a file in a folder that exists, got {file}; make {file.parent} first")
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        return text, ast.parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as e:
        raise WrongUsage(f"expected a Python file to add tests to, {file} is none: {e}; name another") from None


def _head(file: Path, target: Target) -> str:
    """Return how a new file begins: the folder that the function is imported from is found from the file's own."""
    root = os.path.relpath(target.root, file.resolve().parent)
    return (
        '"""What was said to be right, as tests."""\n\nimport sys\nfrom pathlib import Path\n\n'
        f"sys.path.insert(0, str((Path(__file__).parent / {root!r}).resolve()))"
    )


def _lines(text: str, target: Target) -> Iterator[str]:
    """Yield the statements of a test. Raises WrongUsage, NotSpelled or BadText where none can say it."""
    pin = parse_pin(text, target.entry_point)
    named = pin.named(names_for(target, pin.source))
    raises = _RAISES.search(text)
    wanted = [named.call, *([] if raises else [_right(text, pin, named)])]
    names = [n.id for each in wanted for n in ast.walk(ast.parse(each, mode="eval")) if isinstance(n, ast.Name)]
    own = [*names, *([raises[1]] if raises else [])]
    bound = bound_names(target.module)
    imported = sorted({name for name in own if name in bound or not hasattr(builtins, name)})
    for name in imported:
        if name not in bound and "*" not in bound:
            raise WrongUsage(f"expected names that {target.path.name} has, got {name}; import it there")
    approximate = not raises and _is_approximate(wanted[1])
    call = _called(named.call, target)
    if call.startswith("asyncio."):
        yield "import asyncio"
        yield ""
    if raises or approximate:
        yield "import pytest"
        yield ""
    yield f"from {_module(target)} import {', '.join(imported)}"
    yield ""
    if raises:
        yield f"with pytest.raises({raises[1]}):"
        yield f"    {call}"
    elif approximate:
        yield f"assert {call} == pytest.approx({wanted[1]}, rel=1e-9, nan_ok=True)"
    else:
        yield f"assert {call} {'is' if wanted[1] in ('None', 'True', 'False') else '=='} {wanted[1]}"


def _right(text: str, pin: Pin, named: Pin) -> str:
    value = named.value or pin.value
    if not value:
        raise WrongUsage(f"expected a value, got {text!r}")
    return value


def _is_approximate(value: str) -> bool:
    """Tell whether a value is a float, or a list or tuple of some: what pytest compares approximately."""
    try:
        read = read_literal(value)
    except BadText:
        return False
    parts = read if isinstance(read, list | tuple) else [read]
    return any(isinstance(each, float) for each in parts) and all(isinstance(each, float | int) for each in parts)


def _called(call: str, target: Target) -> str:
    if isinstance(target.function, ast.AsyncFunctionDef):
        if target.is_generator:
            raise WrongUsage(f"expected a value that a test can compare, got an asynchronous generator: {call}")
        return f"asyncio.run({call})"
    return f"list({call})" if target.is_generator else call


def _module(target: Target) -> str:
    path = target.path.resolve().relative_to(target.root).with_suffix("")
    parts = path.parts[:-1] if path.name == "__init__" else path.parts
    if not all(part.isidentifier() for part in parts):
        raise WrongUsage(f"expected a module that can be imported, got {target.path.name}; rename it")
    return ".".join(parts)


def _names(entry_point: str) -> Iterator[str]:
    plain = re.sub(r"\W", "_", entry_point).lower().strip("_")
    return (f"test_{plain}_{number}" for number in range(1, 1_000_000))


def _rest(function: ast.AST) -> ast.Module:
    """Return the body of a test: what makes two tests the same, whatever they are called."""
    return ast.Module(body=list(getattr(function, "body", [])), type_ignores=[])
