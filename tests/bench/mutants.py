"""`make mutants`: a seeded sample of small mutations of the modules that compute or keep results, and who notices.

Each is made in a copy of the checkout, and the tests of its module run there until one fails: the files of its layer's
tests that import it, or what imports it, the nearest first. A mutation that hangs is noticed as well. Survivors are
listed; `harmless.toml` beside this file says why some cannot be noticed.
"""

import argparse
import ast
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from queue import Queue

import pytest

from tests.layers import imported_by, module_of

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("difftrust_core", "difftrust", "tests", "dashboard", "data", "docs", "notebooks")
COPIED_FILES = ("pyproject.toml", "README.md")
MUTATED = (
    *("difftrust_core/base", "difftrust_core/metrics", "difftrust_core/estimates", "difftrust_core/execution"),
    *("difftrust_core/store", "difftrust_core/sandbox/host.py", "difftrust_core/languages/python/identity.py"),
    "difftrust/search/shrink.py",
    *(f"difftrust_core/generation/{name}.py" for name in ("sampling", "prices", "extraction")),
    *(f"difftrust_core/datasets/{name}.py" for name in ("entries", "recorded", "sources")),
    *(f"difftrust/{name}" for name in ("research", "verify", "shipped.py", "task_intervals.py")),
    *(f"difftrust/check/{name}.py" for name in ("verdict", "outcomes", "programs", "check")),
)
"""What computes results or keeps them."""
HARMLESS = Path(__file__).with_name("harmless.toml")
PER_TEST, PER_MUTATION = 60, 400
"""Seconds, of tests that are not slow; what hangs is noticed as well."""
MOST_FILES = 12
SLOW_FILES = 3
"""Of the nearest files the slow tests are run as well, where no other notices."""
_FAR = 3


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """One place of one file, and what stands there instead."""

    path: str
    start: int
    end: int
    before: str
    after: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before} -> {self.after}   {self.text}"

    @property
    def key(self) -> str:
        """What ``harmless.toml`` calls it, wherever its line moves."""
        return f"{self.path}: {self.before} -> {self.after}: {self.text}"


_SWAPPED: dict[type, str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*", ast.Pow: "*",
    ast.And: "or", ast.Or: "and", ast.BitAnd: "|", ast.BitOr: "&",
}  # fmt: skip


def mutations_of(path: Path) -> Iterator[Mutation]:
    """Yield every small mutation of a file: an operator, a comparison, a number, a truth value, a ``not``, a jump."""
    text = path.read_text()
    content = text.encode()
    starts = [0, *accumulate(map(len, content.splitlines(keepends=True)))]

    def made(start: int, end: int, after: str) -> Mutation:
        line = content[:start].count(b"\n") + 1
        shown = content[starts[line - 1] : starts[line]].decode().strip()
        name, before = path.relative_to(ROOT).as_posix(), content[start:end].decode()
        return Mutation(path=name, start=start, end=end, before=before, after=after, line=line, text=shown)

    def place(node: ast.expr | ast.stmt) -> tuple[int, int]:
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def between(left: ast.expr, right: ast.expr, after: str) -> Iterator[Mutation]:
        start, end = place(left)[1], place(right)[0]
        word = content[start:end].decode()
        operator = word.strip("() \n")
        if operator and "\n" not in operator and "#" not in operator:
            at = start + word.encode().index(operator.encode())
            yield made(at, at + len(operator), after)

    for node in _running(ast.parse(text)):
        match node:
            case ast.Compare(left=left, ops=ops, comparators=others):
                for first, operator, second in zip([left, *others], ops, others, strict=False):
                    yield from between(first, second, _SWAPPED[type(operator)])
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _SWAPPED:
                yield from between(left, right, _SWAPPED[type(operator)])
            case ast.BoolOp(op=operator, values=[first, second, *_]):
                yield from between(first, second, _SWAPPED[type(operator)])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                start = place(node)[0]
                yield made(start, place(operand)[0], content[start + len("not") : place(operand)[0]].decode().lstrip())
            case ast.Constant(value=bool() as value):
                yield made(*place(node), str(not value))
            case ast.Constant(value=int() as value) if content[slice(*place(node))].isdigit():
                yield made(*place(node), str(value + 1))
            case ast.Continue():
                yield made(*place(node), "break")
            case ast.Break():
                yield made(*place(node), "continue")
            case ast.If(test=test) if not isinstance(test, ast.Name | ast.NamedExpr):
                start, end = place(test)
                yield made(start, end, f"not ({content[start:end].decode()})")


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that are run and are no texts: no annotations, no subscripts of types, no f-strings."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "type_params", "decorator_list") or isinstance(value, ast.JoinedStr):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST) and not isinstance(node, ast.JoinedStr):
                yield node
                yield from _running(node)


def files() -> list[Path]:
    """Return the files that are mutated."""
    found = [ROOT / name for name in MUTATED]
    return sorted(
        p for path in found for p in (path.rglob("*.py") if path.is_dir() else [path]) if p.stem != "__init__"
    )


def sample(n: int, seed: int) -> list[Mutation]:
    """Return ``n`` mutations, each of a file drawn first: long tables of numbers do not crowd out the rest."""
    draws = random.Random(seed)
    by_file = {path: [m for m in mutations_of(path) if _compiles(path, m)] for path in files()}
    by_file = {path: listed for path, listed in by_file.items() if listed}
    chosen: dict[Mutation, None] = {}
    paths = list(by_file)
    weights = [len(by_file[path]) ** 0.5 for path in paths]
    while len(chosen) < min(n, sum(map(len, by_file.values()))):
        (path,) = draws.choices(paths, weights)
        chosen[draws.choice(by_file[path])] = None
    return list(chosen)


def _compiles(path: Path, mutation: Mutation) -> bool:
    try:
        ast.parse(mutated(path.read_bytes(), mutation))
    except SyntaxError:
        return False
    return True


def mutated(content: bytes, mutation: Mutation) -> bytes:
    """Return a file's content with a mutation made."""
    return content[: mutation.start] + mutation.after.encode() + content[mutation.end :]


class Tests:
    """Which test files are a module's: those of its layer that reach it by imports, the nearest first."""

    def __init__(self) -> None:
        package = [path for name in ("difftrust_core", "difftrust") for path in (ROOT / name).rglob("*.py")]
        self._imports = {module_of(path): self._modules(imported_by(path)) for path in package}
        tests = [p for p in (ROOT / "tests").rglob("test_*.py") if "hostile" not in p.parts and "bench" not in p.parts]
        support = (ROOT / "tests" / "support").rglob("*.py")
        of_support = {".".join(p.relative_to(ROOT).with_suffix("").parts): imported_by(p) for p in support}
        self._tests = {}
        for path in tests:
            named = imported_by(path)
            named |= {n for name in named for part, more in of_support.items() if name.startswith(part) for n in more}
            self._tests[path] = self._modules(named)

    @staticmethod
    def _modules(names: set[str]) -> set[str]:
        modules = {module for name in names for module in (name, name.rpartition(".")[0])}
        return {module for module in modules if (ROOT / f"{module.replace('.', '/')}.py").is_file()}

    def of(self, path: str) -> list[str]:
        """Return the test files of a module, as paths below the checkout."""
        wanted = ".".join(Path(path).with_suffix("").parts)
        layer = Path(path).parts[1]
        near, distance = {wanted}, 0
        ranked: dict[Path, int] = {}
        while near and distance < _FAR:
            for test, modules in self._tests.items():
                if modules & near and test not in ranked:
                    ranked[test] = distance
            near = {name for name, modules in self._imports.items() if modules & near} - near
            distance += 1
        own = {Path(path).stem, Path(path).parent.name}

        def order(test: Path) -> tuple[bool, bool, int, int]:
            folder = test.relative_to(ROOT / "tests").parts[0]
            is_own = any(name in test.stem for name in own)
            return not is_own, folder != layer, ranked[test], test.stat().st_size

        return [test.relative_to(ROOT).as_posix() for test in sorted(ranked, key=order)[:MOST_FILES]]


def copied(to: Path) -> Path:
    """Return a copy of the checkout."""
    for name in COPIED:
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in COPIED_FILES:
        shutil.copy(ROOT / name, to / name)
    return to


def fails(folder: Path, tests: list[str], which: str) -> str:
    """Return how the tests ended in a copy: "" if all passed. ``which``: "not slow", or "slow"."""
    words = [sys.executable, "-P", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", which]
    words += ["--timeout", str(PER_TEST * (1 + 4 * (which == "slow"))), *tests]
    environment = {name: value for name, value in os.environ.items() if name != "DIFFTRUST_DATA"}
    environment |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as run:
        try:
            said, _ = run.communicate(timeout=PER_MUTATION)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
            return "hung"
    if run.returncode in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
        return ""
    lines = [line for line in said.decode(errors="replace").splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (lines or [f"status {run.returncode}"])[0][:160]


def tried(mutation: Mutation, folder: Path, tests: list[str]) -> str:
    """Return which test noticed a mutation; "" if none."""
    path = folder / mutation.path
    content = path.read_bytes()
    path.write_bytes(mutated(content, mutation))
    try:
        return fails(folder, tests, "not slow") or fails(folder, tests[:SLOW_FILES], "slow")
    finally:
        path.write_bytes(content)


def main() -> int:
    """Try a sample, and print each mutation with what noticed it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=200, help="mutations")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="only files with this in their path")
    asked = parser.parse_args()
    harmless = tomllib.loads(HARMLESS.read_text())
    chosen = [m for m in sample(asked.n, asked.seed) if asked.only in m.path]
    tests = Tests()
    survivors, n_harmless = [], 0
    with tempfile.TemporaryDirectory(prefix="difftrust-mutants-") as temporary:
        folders: Queue[Path] = Queue()
        for number in range(asked.jobs):
            folders.put(copied(Path(temporary) / str(number)))

        def judged(mutation: Mutation) -> tuple[Mutation, str]:
            folder = folders.get()
            try:
                return mutation, tried(mutation, folder, tests.of(mutation.path))
            finally:
                folders.put(folder)

        with ThreadPoolExecutor(asked.jobs) as pool:
            for number, (mutation, noticed) in enumerate(pool.map(judged, chosen), 1):
                why = harmless.get(mutation.key, "")
                how = "noticed" if noticed else "harmless" if why else "SURVIVED"
                print(f"{number:3} {how}  {mutation}", flush=True)
                print(f"      {noticed or why or ', '.join(tests.of(mutation.path)[:4])}", flush=True)
                n_harmless += bool(why and not noticed)
                if not noticed and not why:
                    survivors.append(mutation)
    n = len(chosen)
    print(f"\n{n - len(survivors) - n_harmless} of {n} noticed; {n_harmless} harmless; {len(survivors)} survived:")
    for mutation in survivors:
        print(f"  {mutation}")
    return 0 if n - len(survivors) - n_harmless >= 0.9 * n else 1


if __name__ == "__main__":
    sys.exit(main())
