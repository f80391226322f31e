"""`make mutants`: a seeded sample of small mutations of the modules that compute or keep results, and who notices.

Each is made in a copy of the checkout, and the tests of its module run there until one fails: the files of its layer's
tests that import it, or what imports it, the nearest first. A test notices if it fails with the mutation and passes
without, or if it takes a minute of processor time. One that fails by the clock decides nothing: the mutation is tried
again at the end. Answers are kept as they come, and a run that was stopped takes up where it was. Survivors are listed;
`harmless.toml` beside this file says why some cannot be noticed.
"""

import argparse
import ast
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from queue import Queue

import pytest

from difftrust_core.metrics.intervals import clopper_pearson
from tests.conftest import BROWSER
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
CPU_PER_TEST, CPU_PER_SLOW_TEST = 60, 300
"""Seconds of processor time, each process of a test by itself; what takes more is noticed."""
CLOCK_PER_TEST = 300
"""Seconds, for what waits: by then nothing is decided."""
BY_THE_CLOCK = re.compile(r"^(\w+\.)*(TimeoutExpired|TimeoutError)\b|Timeout \(?>", re.MULTILINE)
REPORT = "DIFFTRUST_MUTANTS_REPORT"
"""Where a run of tests writes which test began last, and how it failed."""
UNDECIDED, SURVIVED = "not decided", "survived"
MOST_FILES = 12
NEAREST = 3
"""These are run first; and their slow tests as well, where no other notices."""
_FAR = 3
_NEVER = {"hostile", "bench", "dashboard", "test_layers.py", "test_architecture.py"}
"""These cost more than they notice."""


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
    by_file = {path: listed for path in files() if (listed := list(mutations_of(path)))}
    chosen: dict[Mutation, None] = {}
    paths = list(by_file)
    weights = [len(by_file[path]) ** 0.5 for path in paths]
    while len(chosen) < n:
        (path,) = draws.choices(paths, weights)
        mutation = draws.choice(by_file[path])
        if _compiles(path, mutation):
            chosen[mutation] = None
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
        tests = [p for p in (ROOT / "tests").rglob("test_*.py") if not _NEVER.intersection(p.parts)]
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
    """Return a copy of the checkout, with the byte code that it has."""
    for name in COPIED:
        shutil.copytree(ROOT / name, to / name)
    for name in COPIED_FILES:
        shutil.copy(ROOT / name, to / name)
    return to


def pytest_runtest_logstart(nodeid: str) -> None:
    """Say which test begins; pytest calls this, where this module is its plugin."""
    Path(os.environ[REPORT]).write_text(json.dumps([nodeid, ""]))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Bound the processor time of a test and of each process that it starts."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    more = CPU_PER_SLOW_TEST if item.get_closest_marker("slow") else CPU_PER_TEST
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + more, hard))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Say how a test failed."""
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        message = crash.message if crash else report.longreprtext
        Path(os.environ[REPORT]).write_text(json.dumps([report.nodeid, message]))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Start no browser, and let what takes long be the last to be tried."""
    yield
    items[:] = [item for item in items if BROWSER not in getattr(item, "fixturenames", ())]
    items.sort(key=lambda item: item.get_closest_marker("long") is not None)


@dataclass(frozen=True)
class Ended:
    """How tests ended that did not all pass: the test, "" if none began; and the message."""

    test: str
    message: str

    def __str__(self) -> str:
        return f"{self.test or 'no test began'}: {(self.message.splitlines() or [''])[0][:120]}"


def fails(folder: Path, tests: Sequence[str], *options: str) -> Ended | None:
    """Return how the tests ended in a copy; None if all passed."""
    words = [sys.executable, "-P", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "tests.bench.mutants"]
    words += ["--timeout", str(CLOCK_PER_TEST), *options, *tests]
    report = folder / "report.json"
    report.write_text(json.dumps(["", ""]))
    left_out = ("DIFFTRUST_DATA", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment |= {"PYTHONPATH": str(folder), REPORT: str(report)}
    with subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as run:
        status = run.wait()
    if status in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
        return None
    test, message = json.loads(report.read_text())
    used_up = status == -signal.SIGXCPU
    return Ended(test, "its processor time is used up" if used_up else message or f"status {status}")


class Copy:
    """One copy of the checkout, in which one mutation at a time is tried."""

    def __init__(self, folder: Path) -> None:
        self._folder = copied(folder)
        self._sound: set[str] = set()
        self._unsound: set[str] = set()

    def try_out(self, mutation: Mutation, tests: list[str]) -> str:
        """Return which test noticed a mutation; "" if none, ``UNDECIDED`` if one failed by the clock."""
        nearest, others = tests[:NEAREST], tests[NEAREST:]
        for files, which in ((nearest, "not slow"), (others, "not slow"), (nearest, "slow")):
            while files and (ended := self._with(mutation, files, "-m", which)):
                if BY_THE_CLOCK.search(ended.message):
                    return UNDECIDED
                if self._passes_without(ended.test, files):
                    return str(ended)
        return ""

    def _with(self, mutation: Mutation, tests: list[str], *options: str) -> Ended | None:
        path = self._folder / mutation.path
        content = path.read_bytes()
        path.write_bytes(mutated(content, mutation))
        left_out = [word for test in sorted(self._unsound) for word in ("--deselect", test)]
        try:
            return fails(self._folder, tests, *options, *left_out)
        finally:
            path.write_bytes(content)

    def _passes_without(self, test: str, files: list[str]) -> bool:
        """Return whether a test passes here without a mutation; where none began, the files must be collectable."""
        if not test:
            if ended := fails(self._folder, files, "--collect-only"):
                raise RuntimeError(f"expected test files that can be collected, got {ended} for {', '.join(files)}")
            return True
        if test not in self._sound | self._unsound:
            (self._unsound if fails(self._folder, [test]) else self._sound).add(test)
        return test in self._sound


class Answers:
    """What is known of each mutation of one commit, kept in a file of JSON lines as it comes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        asked = ["git", "describe", "--always", "--abbrev=40", "--dirty"]
        self._commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        lines = path.read_text().splitlines() if path.exists() else []
        rows = [row for row in map(json.loads, lines) if row["commit"] == self._commit]
        self._kept: dict[str, str] = {row["mutation"]: row["answer"] for row in rows}

    def of(self, mutation: Mutation) -> str | None:
        """Return the answer to a mutation; None if it is not known."""
        return self._kept.get(str(mutation))

    def keep(self, mutation: Mutation, answer: str) -> None:
        """Keep an answer."""
        self._kept[str(mutation)] = answer
        with self._path.open("a") as file:
            file.write(json.dumps({"commit": self._commit, "mutation": str(mutation), "answer": answer}) + "\n")


def judge(chosen: list[Mutation], answers: Answers, n_jobs: int, end: float) -> None:
    """Try the mutations that have no answer, ``n_jobs`` at a time; those that are undecided once more at the end.

    After the moment ``end`` none is begun.
    """
    tests = Tests()
    with tempfile.TemporaryDirectory(prefix="difftrust-mutants-") as temporary:
        copies: Queue[Copy] = Queue()
        for number in range(n_jobs):
            copies.put(Copy(Path(temporary) / str(number)))

        def answer(mutation: Mutation) -> None:
            if time.monotonic() > end:
                return
            copy = copies.get()
            try:
                answers.keep(mutation, copy.try_out(mutation, tests.of(mutation.path)))
            finally:
                copies.put(copy)
            print(f"{answers.of(mutation) or 'SURVIVED'}\n      {mutation}", flush=True)

        with ThreadPoolExecutor(n_jobs) as pool:
            for waiting in (None, UNDECIDED):
                list(pool.map(answer, [m for m in chosen if answers.of(m) == waiting]))


def main() -> int:
    """Try a sample, and print how many mutations are noticed, by package, and which are not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=200, help="mutations")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="only files with this in their path")
    parser.add_argument("--kept", type=Path, default=ROOT / ".mutants.jsonl", help="where answers are kept, by commit")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin none after that")
    asked = parser.parse_args()
    end = time.monotonic() + 60 * asked.minutes
    harmless = tomllib.loads(HARMLESS.read_text())
    chosen = [m for m in sample(asked.n, asked.seed) if asked.only in m.path]
    answers = Answers(asked.kept)
    judge(chosen, answers, asked.jobs, end)
    packages: dict[str, Counter[str]] = {}
    for mutation in chosen:
        answer = answers.of(mutation)
        how = "not tried" if answer is None else UNDECIDED if answer == UNDECIDED else "noticed" if answer else SURVIVED
        how = "harmless" if how == SURVIVED and mutation.key in harmless else how
        packages.setdefault("/".join(Path(mutation.path).parts[:2]), Counter())[how] += 1
        if how in (SURVIVED, UNDECIDED):
            print(f"{how}: {mutation}")
    total = sum(packages.values(), Counter())
    for name, counts in (*sorted(packages.items()), ("all", total)):
        decided = counts["noticed"] + counts[SURVIVED]
        low, high = clopper_pearson(counts["noticed"], decided, alpha=0.025)
        print(f"{name:28} {counts['noticed']} of {decided} noticed, {low:.0%} to {high:.0%}", dict(counts))
    return 0 if total["noticed"] >= 0.9 * total.total() else 1


if __name__ == "__main__":
    sys.exit(main())
