"""Whether inputs reach the places where two versions differ: all these raise at once, then those that are left."""

import ast
import copy
import difflib
import operator
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from difftrust.check.programs import Executor
from difftrust.diff.changed_behaviour import exceptions_in
from difftrust.diff.pair import Pair
from difftrust.diff.version import Bundle
from difftrust.source.closure import evaluated
from difftrust.source.scopes import bound_by
from difftrust.source.target import DEFINED
from difftrust.text import by_length, printable
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.languages.python.syntax import is_docstring

_MOST, _OF_A_PLACE, _FIRST = 30, 3, 5
"""Places that differ and are looked at, inputs that reach one, and inputs that run first."""
_SHOWN = 80
"""Characters of a line."""
_REACHED = "DifftrustReached"
_OWN = re.compile(rf"\b{_REACHED}(\d+)\b")
_MARK = f"raise ().__class__.__class__('{_REACHED}%d', (BaseException,), {{}})()"
_MARK_PART = f"(_ for _ in ()).throw({_MARK.removeprefix('raise ')})"
_BLOCKS = ("body", "orelse", "finalbody")

Row = tuple[Outcome, Outcome]


class Point(NamedTuple):
    """A block of statements, the place in it, and the part of the statement there that is meant, if not all of it."""

    block: list[ast.stmt]
    at: int
    part: ast.expr | list[ast.ExceptHandler] | None = None
    kind: ast.expr | None = None
    """Where ``part`` is a list of handlers: the exception that is meant."""


Place = dict[int, Point]
"""Where two versions differ: in the old one (0), the new one (1), or both."""


def look_at_places(pair: Pair, executor: Executor, rows: Mapping[str, Row]) -> tuple[tuple[str, ...], list[str]]:
    """Return of the places that differ the first lines of those that no input reaches, and inputs that reach others.

    A place is reached in either version; of each the smallest inputs that do so.

    ``rows``: what both did on each input. At each place an exception is raised instead, and of a module's value that
    differs the name is taken away: where that changes nothing on any input, the place is not reached. Methods that
    nothing names, which the function rests on, are not looked at, nor are those of operators if no input calls any of
    them, nor are places beyond the first thirty.
    """
    texts = list(rows)
    if not texts:
        return (), []

    def differing(which: int, code: str, *, first: bool = False) -> dict[str, Outcome]:
        """Return what a version that raises somewhere does otherwise than it did, by input; ``first``: on a few."""
        some = texts[:: max(1, len(texts) // _FIRST)][:_FIRST] if first else texts
        ran = executor.run([code], some)
        return {text: row[0] for text, row in zip(some, ran.rows, strict=True) if row[0] != rows[text][which]}

    called = any(code and differing(which, code) for which, code in enumerate(map(_operators_raise, pair.bundles)))
    idle = {node for bundle in pair.bundles for node in (*bundle.idle, *(() if called else bundle.implied))}
    left, reaching = dict(enumerate(islice(_probes(pair, idle), _MOST))), dict[str, None]()
    for which in (1, 0):
        own = {number: probes[which] for number, (_, probes) in left.items() if which in probes}
        for number, inputs in _reached(own, pair.bundles[which], partial(differing, which)):
            del left[number]
            reaching |= dict.fromkeys(sorted(inputs, key=by_length)[:_OF_A_PLACE])
    return tuple(dict.fromkeys(line for line, _ in left.values())), list(reaching)


class Probe(NamedTuple):
    """How an input shows that it reaches a place of a version: the statement, its copy with a point, else a text."""

    statement: ast.stmt
    copy: ast.stmt
    point: Point | None
    text: str = ""


def _reached(
    probes: Mapping[int, Probe], bundle: Bundle, differing: Callable[..., Mapping[str, Outcome]]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the places that inputs reach, with these: all raise at once, then those that no input came to before.

    ``differing``: what a program does otherwise than the version did, by input. Where something else than what was
    raised comes back, each place raises alone.
    """
    waiting = {number: probe for number, probe in probes.items() if probe.point is not None}
    alone = {number: probe for number, probe in probes.items() if probe.point is None}
    first = True  # a few inputs reach what all do, such as a table that is read at import, again and again if it raises
    while waiting:
        others = differing(bundle.remade(_marked(waiting)), first=first)
        reached: dict[int, list[str]] = {}
        for text, (kind, said) in others.items():
            for number in map(int, _OWN.findall(said) if kind != Kind.VALUE else ()):
                if number in waiting:
                    reached.setdefault(number, []).append(text)
        yield from reached.items()
        if first and not reached:
            first = False
        elif not reached:
            alone |= waiting if others else {}
            break
        waiting = {number: probe for number, probe in waiting.items() if number not in reached}
    for number, probe in alone.items():
        if others := differing(bundle.remade(_marked({number: probe}))):
            yield number, list(others)


def _marked(probes: Mapping[int, Probe]) -> dict[ast.stmt, str]:
    """Return the texts of the statements in which all these probes raise, each under its number."""
    found: dict[ast.stmt, str] = {}
    for one in probes.values():
        points = {number: p.point for number, p in probes.items() if p.statement is one.statement and p.point}
        if one.statement not in found:
            found[one.statement] = _raising(one.copy, points) if points else one.text
    return found


def _operators_raise(bundle: Bundle) -> str:
    """Return the program in which the methods raise that only operators call; empty where there are none."""
    found = {}
    for statement in bundle.definitions:
        memo: dict[int, ast.AST] = {}
        made = copy.deepcopy(statement, memo)
        methods = [memo[id(method)] for method in bundle.implied if id(method) in memo and method is not statement]
        for method in methods:
            method.body.insert(0, ast.parse(_MARK % 0).body[0])  # type: ignore[attr-defined]
        if methods:
            found[statement] = ast.unparse(ast.fix_missing_locations(made))
    return bundle.remade(found) if found else ""


def _probes(pair: Pair, idle: Collection[ast.AST]) -> Iterator[tuple[str, dict[int, Probe]]]:
    """Yield each place that differs: its first line, and how each version that has it shows that it is reached.

    ``idle``: statements and methods that are not looked at.
    """
    old, new = (_by_name(bundle) for bundle in pair.bundles)
    every = [s for bundle in pair.bundles for s in bundle.definitions]
    read = _read(every)
    plain = _Plain(are_heard=any(isinstance(n, ast.ExceptHandler) and n.name for s in every for n in ast.walk(s)))
    for key, after in new.items():
        before = old.get(key)
        if before is None or type(before) is not type(after) or after in idle:
            continue
        whole, where = (before, after), f" (in {key[0]})" if key[0] else ""
        if isinstance(after, ast.Assign | ast.AnnAssign):
            if _dump(before) != _dump(after) and key[1] in read:
                gone = [Probe(each, each, None, f"{ast.unparse(each)}\ndel {key[1]}") for each in whole]
                yield _line(after) + where, dict(enumerate(gone))
            continue
        memo: dict[int, ast.AST] = {}
        copies = copy.deepcopy(whole, memo)
        for each in copies:
            plain.visit(each)
        not_asked = {id(block) for node in idle for block in _blocks_in(memo, node)}
        heads = _changed_cases(*copies)
        for place in _places([copies[0]], [copies[1]]):
            point = place.get(1) or place[0]
            block, index = point.block, point.at
            if index < len(block) and id(block) not in not_asked:
                head = heads.get(id(block)) if index == 0 and point.part is None else ""
                meant: ast.AST = point.part if isinstance(point.part, ast.expr) else block[index]
                if point.kind is not None:
                    meant = ast.ExceptHandler(type=point.kind, name=None, body=[ast.Pass()])
                probes = {which: Probe(whole[which], copies[which], point) for which, point in place.items()}
                yield (head or _line(meant)) + where, probes


def _read(statements: Sequence[ast.stmt]) -> set[str]:
    """Return the names that code reads when it runs, also by an attribute, another name or a text.

    Those that annotations alone name are not among them.
    """
    found: set[str] = set()
    values: dict[str, set[str]] = {}
    for statement in statements:
        names = {name for node in evaluated(statement) if (name := _name_in(node))}
        bound = bound_by(statement) if isinstance(statement, ast.Assign | ast.AnnAssign) else set()
        for name in bound:
            values.setdefault(name, set()).update(names - {name})
        found |= set() if bound else names
    waiting = [*found]
    while waiting:
        new = values.pop(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def _name_in(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            return name
        case ast.alias(name=name, asname=str()):
            return name
    return ""


_COMPARED: dict[type, Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq
}  # fmt: skip


def _python_version(node: ast.expr) -> Any:
    """Return what ``sys.version_info``, an item or the beginning of it is. Raises ValueError for anything else."""
    match node:
        case ast.Attribute(value=ast.Name(id="sys"), attr="version_info"):
            return tuple(sys.version_info)
        case ast.Subscript(value=of, slice=ast.Constant(value=int(at))):
            return _python_version(of)[at]
        case ast.Subscript(value=of, slice=ast.Slice(lower=None, upper=ast.Constant(value=int(end)), step=None)):
            return _python_version(of)[:end]
    raise ValueError("not the version of Python")


def _is_said(node: ast.expr) -> bool:
    """Tell whether an expression makes a text of names and attributes alone."""
    if any(isinstance(each, ast.Call | ast.Await | ast.NamedExpr | ast.Subscript) for each in ast.walk(node)):
        return False
    match node:
        case ast.JoinedStr() | ast.Constant(value=str()):
            return True
        case ast.BinOp(left=left, op=ast.Mod() | ast.Add()):
            return _is_said(left)
    return False


class _Plain(ast.NodeTransformer):
    """Takes away annotations of variables of functions, what is for other versions of Python, and messages.

    ``are_heard``: a handler names its exception, so that messages may come back.
    """

    def __init__(self, *, are_heard: bool):
        self._are_heard = are_heard

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        """Return the statement with three dots for each text that the exception is made of."""
        if isinstance(node.exc, ast.Call) and not self._are_heard:
            node.exc.args = [ast.Constant("...") if _is_said(each) else each for each in node.exc.args]
        return node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """Return the branch that a test of the version of Python takes."""
        self.generic_visit(node)
        match node.test:
            case ast.Compare(left=left, ops=[op], comparators=[given]) if type(op) in _COMPARED:
                with suppress(ValueError, TypeError, LookupError):
                    holds = _COMPARED[type(op)](_python_version(left), ast.literal_eval(given))
                    return (node.body if holds else node.orelse) or ast.Pass()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Leave the fields of a class as they are."""
        for part in node.body:
            if not isinstance(part, ast.AnnAssign):
                self.visit(part)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Return the assignment, ``pass`` where there is none."""
        if node.value is None:
            return ast.Pass()
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)


def _changed_cases(*versions: ast.stmt) -> dict[int, str]:
    """Return the first lines of the cases that only one version has, by their blocks."""
    cases = [[node for node in ast.walk(each) if isinstance(node, ast.match_case)] for each in versions]
    lines = [{id(case.body): ast.unparse(case).strip().splitlines()[0] for case in each} for each in cases]
    both = {*lines[0].values()} & {*lines[1].values()}
    return {block: printable(line)[:_SHOWN] for each in lines for block, line in each.items() if line not in both}


def _blocks_in(memo: Mapping[int, ast.AST], method: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield all blocks of the copy of a method or statement."""
    nodes = ast.walk(memo[id(method)]) if id(method) in memo else ()
    return (getattr(node, name) for node in nodes for name in _BLOCKS if hasattr(node, name))


def _by_name(bundle: Bundle) -> dict[tuple[str, str], ast.stmt]:
    """Return the functions, classes and values of a version's modules by module and name."""
    found: dict[tuple[str, str], ast.stmt] = {}
    for module, statements in bundle.modules.items():
        for statement in statements:
            match statement:
                case (
                    ast.FunctionDef(name=name)
                    | ast.AsyncFunctionDef(name=name)
                    | ast.ClassDef(name=name)
                    | ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr())
                ):
                    found[module, name] = statement
    return found


def _line(node: ast.AST) -> str:
    return printable(ast.unparse(node).strip().splitlines()[0])[:_SHOWN]


def _raising(statement: ast.stmt, points: Mapping[int, Point]) -> str:
    """Return the text of a statement that raises at some places, at each under its number."""
    inserted, instead = list[tuple[list[ast.stmt], ast.stmt]](), dict[int, Any]()
    for number, (block, at, part, kind) in sorted(points.items(), key=lambda item: -item[1].at):
        mark = ast.parse(_MARK % number).body[0]
        if part is None:
            block.insert(at, mark)
            inserted.append((block, mark))
        elif isinstance(part, list):
            handler = ast.ExceptHandler(type=kind, name=None, body=[mark])
            instead[id(part)] = [handler, *instead.get(id(part), part)]
        else:
            instead[id(part)] = ast.parse(_MARK_PART % number, mode="eval").body
    made = ast.unparse(ast.fix_missing_locations(copy.deepcopy(statement, instead)))
    for block, mark in inserted:
        block.remove(mark)
    return made


def _places(old: list[ast.stmt], new: list[ast.stmt]) -> Iterator[Place]:
    """Yield where two blocks differ, as deep as both have the same statements around it."""
    dumps = [[_dump(each) for each in block] for block in (old, new)]
    for tag, i, j, k, m in difflib.SequenceMatcher(None, dumps[0], dumps[1], autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if j - i == m - k:
            for a, b in zip(range(i, j), range(k, m), strict=True):
                yield from _within(Point(old, a), Point(new, b))
        else:
            sides = ((0, old, range(i, j)), (1, new, range(k, m)))
            first = {which: [at for at in span if not is_docstring(block[at])][:1] for which, block, span in sides}
            if place := {which: Point(block, at) for which, block, _ in sides for at in first[which]}:
                yield place
            for which, block in ((0, old[i:j]), (1, new[k:m])):
                for statement in block:
                    yield from ({which: point} for point in _blocks(statement))


def _within(old: Point, new: Point) -> Iterator[Place]:
    one, other = old.block[old.at], new.block[new.at]
    match one, other:
        case ast.Match(cases=cases), ast.Match(cases=others) if ast.dump(one.subject) == ast.dump(
            other.subject
        ) and len(cases) == len(others):
            if _head(one) != _head(other):
                yield {0: old, 1: new}
            for before, after in zip(cases, others, strict=True):
                if _condition(before) != _condition(after):
                    yield {0: Point(before.body, 0), 1: Point(after.body, 0)}
                yield from _places(before.body, after.body)
            return
    defines = isinstance(other, DEFINED) and type(one) is type(other)
    if not defines and (_head(one) != _head(other) or not hasattr(one, "body")):
        yield {0: old, 1: new}
        for parts in _parts(one, other):
            yield {which: (old, new)[which]._replace(part=part) for which, part in parts.items()}
        yield from _handled(old, new)
        yield from ({which: point} for which, each in ((0, one), (1, other)) for point in _blocks(each))
        return
    for a, b in zip(_inner(one), _inner(other), strict=True):
        yield from _places(a, b)


def _handled(old: Point, new: Point) -> Iterator[Place]:
    """Yield the exceptions that handlers of one version alone name: each has to be raised there."""
    one, other = old.block[old.at], new.block[new.at]
    if not isinstance(one, ast.Try) or not isinstance(other, ast.Try):
        return
    for before, after in zip(one.handlers, other.handlers, strict=False):
        named = [exceptions_in(handler) for handler in (before, after)]
        for which, point, statement in ((0, old, one), (1, new, other)):
            for kind in named[which].keys() - named[1 - which].keys() if all(named) else ():
                yield {which: point._replace(part=statement.handlers, kind=named[which][kind])}


def _parts(one: ast.AST, other: ast.AST) -> Iterator[dict[int, ast.expr]]:
    """Yield the expressions that differ and that are evaluated now and then only: a branch of "if ... else" in one."""
    parts = [[node for node in ast.iter_child_nodes(each) if not isinstance(node, ast.stmt)] for each in (one, other)]
    if type(one) is not type(other) or len(parts[0]) != len(parts[1]):
        for which, each in ((0, one), (1, other)):
            yield from ({which: part} for node in _without_blocks(each) for part in _seldom(node))
        return
    seldom = {id(part) for part in _seldom(one)}
    for before, after in zip(*parts, strict=True):
        if ast.dump(before) != ast.dump(after):
            if id(before) in seldom and isinstance(before, ast.expr) and isinstance(after, ast.expr):
                yield {0: before, 1: after}
            yield from _parts(before, after)


def _without_blocks(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and the expressions in it, without the statements in it."""
    yield node
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, ast.stmt):
            yield from _without_blocks(part)


def _seldom(node: ast.AST) -> list[ast.expr]:
    """Return the parts of an expression that need not be evaluated when it is."""
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.BoolOp(values=[_, *others]):
            return others
        case ast.ListComp(elt=made, generators=loops) | ast.SetComp(elt=made, generators=loops):
            return [made, *(test for loop in loops for test in loop.ifs)]
        case ast.GeneratorExp(elt=made, generators=loops) | ast.DictComp(value=made, generators=loops):
            return [made, *(test for loop in loops for test in loop.ifs)]
        case ast.Lambda(body=body):
            return [body]
    return []


def _condition(case: ast.match_case) -> str:
    return ast.dump(case.pattern) + (ast.dump(case.guard) if case.guard is not None else "")


def _blocks(statement: ast.stmt) -> Iterator[Point]:
    """Yield the beginnings of the blocks of a statement: all of it differs, so each has to be reached."""
    if not isinstance(statement, DEFINED):
        yield from (Point(block, 0) for block in _inner(statement) if block)


def _inner(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Return the blocks of a statement, those of its handlers and cases included."""
    parts = [statement, *getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
    return [getattr(part, name) for part in parts for name in _BLOCKS if hasattr(part, name)]


def _head(statement: ast.stmt) -> str:
    """Return a statement without what stands in its blocks; how many handlers and cases it has counts."""
    kept = copy.deepcopy(statement)
    for block in _inner(kept):
        block.clear()
    return ast.dump(kept)


def _dump(statement: ast.stmt) -> str:
    return "docstring" if is_docstring(statement) else ast.dump(statement)
