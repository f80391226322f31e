"""`make mutants`: a seeded sample of small mutations of the modules that compute or keep results, and who notices.

One run of the quick tests says which files of tests run which lines, in whatever process. Each mutation is made in a
copy of the checkout, and the files that run its line are run there until a test fails. A test notices if it fails with
the mutation and passes without, or if it takes a minute of processor time. One that fails by the clock decides nothing:
the mutation is tried again at the end. Answers are kept as they come, and a run that was stopped takes up where it was.
Survivors are listed; `harmless.toml` beside this file says why some cannot be noticed.
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
from importlib.util import cache_from_source
from itertools import accumulate
from pathlib import Path
from queue import Queue

import coverage
import pytest

from difftrust_core.metrics.intervals import clopper_pearson
from tests.conftest import BROWSER

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("difftrust_core", "difftrust", "tests", "dashboard", "data", "docs", "notebooks")
COPIED_FILES = ("*.toml", "*.md", "*.cff", "*.lock", "Makefile", "LICENSE*")
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
PYTEST = (sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.bench.mutants")
"""It runs tests with this module as a plugin."""
CPU_PER_TEST, CPU_PER_SLOW_TEST = 60, 300
"""Seconds of processor time, each process of a test by itself; what takes more is noticed."""
CLOCK_PER_TEST = 300
"""Seconds, for what waits: by then nothing is decided."""
BY_THE_CLOCK = re.compile(r"^(\w+\.)*(TimeoutExpired|TimeoutError)\b|Timeout \(?>", re.MULTILINE)
REPORT, SECONDS = "DIFFTRUST_MUTANTS_REPORT", "DIFFTRUST_MUTANTS_SECONDS"
"""Where a run of tests writes which test began last, and how it failed; and where, how long each file of tests took."""
UNDECIDED, SURVIVED = "not decided", "survived"
MOST_SECONDS = 120
"""What the test files of one mutation may take together that run its line."""
MORE = 40
"""And those that run others of its file."""
NEAREST = 3
"""Of these the slow tests are run as well, where no quick one notices."""


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
    """Yield the nodes that are run and are no texts: no annotations, no types, no f-strings, no ``strict=True``."""
    match tree:
        case ast.keyword(arg="strict", value=ast.Constant(value=True)):  # of a zip: it refuses what is never given
            return
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
    """Which test files run a line, and how long each takes: one run of the quick tests in a copy, every process seen.

    Whole files, as what a test looks at may have been made in a fixture that another test of the file asked for.
    """

    def __init__(self, folder: Path, kept: Path) -> None:
        """Measure the tests in the copy ``folder``, unless ``kept`` and the seconds beside it say what they ran."""
        seconds = kept.with_suffix(".json")
        if not seconds.exists():
            self._measure(folder, kept, seconds)
        self._seconds: dict[str, float] = json.loads(seconds.read_text())
        self._data = coverage.CoverageData(str(kept))
        self._data.read()
        self._names = self._data.measured_files()

    @staticmethod
    def _measure(folder: Path, kept: Path, seconds: Path) -> None:
        settings = folder / "measured.ini"
        parts = folder / "measured"
        parts.mkdir()
        included = ", ".join(f"{folder}/{name}/*" for name in ("difftrust_core", "difftrust"))
        settings.write_text(
            f"[run]\nparallel = true\npatch = subprocess\ndata_file = {parts / kept.name}\ninclude = {included}\n"
            "context = ${PYTEST_CURRENT_TEST-}\ndisable_warnings = no-data-collected, module-not-measured\n"
        )
        words = [*PYTEST, "-n", "3", "--dist", "worksteal", "-m", "not slow"]
        environment = surroundings(folder) | {"COVERAGE_PROCESS_START": str(settings), SECONDS: str(seconds)}
        subprocess.run(words, cwd=folder, env=environment, stdout=sys.stderr, check=False)
        combined = coverage.Coverage(data_file=str(kept), config_file=str(settings))
        combined.combine([str(parts)], strict=True)
        combined.save()

    def of(self, mutation: Mutation) -> list[str]:
        """Return the test files that run what is mutated, those named like it and the quickest first; then others.

        Those run the file: what is run once a process, as it is imported or for a cache, was run for one test of many.
        """
        name = next((name for name in self._names if name.endswith(f"/{mutation.path}")), "")
        path, lines = Path(mutation.path), lines_of(mutation)
        run, near = set[str](), set[str]()
        for line, contexts in self._data.contexts_by_lineno(name).items():
            found = {context.partition("::")[0] for context in contexts} & self._seconds.keys()
            near |= found
            run |= found if line in lines else set()

        def is_own(test: str) -> bool:
            return any(name in Path(test).name for name in (path.stem, path.parent.name))

        def order(test: str) -> tuple[bool, bool, float]:
            return not is_own(test), path.parts[1] != Path(test).parts[1], self._seconds[test]

        near |= set(filter(is_own, self._seconds))  # a table is all run as it is imported
        return [*self._within(sorted(run, key=order), MOST_SECONDS), *self._within(sorted(near - run, key=order), MORE)]

    def _within(self, tests: Sequence[str], seconds: float) -> list[str]:
        so_far = accumulate(self._seconds[test] for test in tests)
        return [test for test, end in zip(tests, so_far, strict=True) if end <= seconds]


def lines_of(mutation: Mutation) -> range:
    """Return the lines whose tests are asked: of its statement; of its function, if that is a default; else all."""
    text = (ROOT / mutation.path).read_text()
    around = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt) and node.lineno <= mutation.line <= (node.end_lineno or 0)
    ]  # from the outside in
    functions = [node for node in around if isinstance(node, ast.FunctionDef)]
    if not functions:
        return range(1, text.count("\n") + 2)
    if around[-1] is functions[-1]:
        return range(around[-1].lineno, (around[-1].end_lineno or 0) + 1)
    return range(around[-1].lineno, mutation.line + 1)


def copied(to: Path) -> Path:
    """Return a copy of the checkout, with the byte code that it has."""
    for name in COPIED:
        shutil.copytree(ROOT / name, to / name)
    for path in (path for form in COPIED_FILES for path in ROOT.glob(form)):
        shutil.copy(path, to / path.name)
    return to


def pytest_runtest_logstart(nodeid: str) -> None:
    """Say which test begins, to the report or to what measures its lines; pytest calls this of its plugin."""
    if REPORT in os.environ:
        Path(os.environ[REPORT]).write_text(json.dumps([nodeid, ""]))
    elif measured := coverage.Coverage.current():
        measured.switch_context(nodeid.partition("::")[0])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Bound the processor time of a test and of each process that it starts."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    more = CPU_PER_SLOW_TEST if item.get_closest_marker("slow") else CPU_PER_TEST
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + more, hard))


_took: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Say how a test failed, or remember how long it took."""
    _took[report.nodeid.partition("::")[0]] += report.duration  # type: ignore[assignment]
    if report.failed and REPORT in os.environ:
        crash = getattr(report.longrepr, "reprcrash", None)
        message = crash.message if crash else report.longreprtext
        Path(os.environ[REPORT]).write_text(json.dumps([report.nodeid, message]))


def pytest_sessionfinish() -> None:
    """Say how long each file of tests took."""
    if SECONDS in os.environ and "PYTEST_XDIST_WORKER" not in os.environ:
        Path(os.environ[SECONDS]).write_text(json.dumps(_took))


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


def surroundings(folder: Path) -> dict[str, str]:
    """Return the environment of tests in a copy, which finds the benchmarks where the checkout does."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    data = ROOT.parent / "shared" / "data"
    return ({"DIFFTRUST_DATA": str(data)} if data.is_dir() else {}) | kept | {"PYTHONPATH": str(folder)}


def fails(folder: Path, tests: Sequence[str], *options: str) -> Ended | None:
    """Return how the tests ended in a copy; None if all passed."""
    words = [*PYTEST, "-x", "--timeout", str(CLOCK_PER_TEST), *options, *tests]
    report = folder / "report.json"
    report.write_text(json.dumps(["", ""]))
    environment = surroundings(folder) | {REPORT: str(report)}
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
            Path(cache_from_source(str(path))).unlink(missing_ok=True)  # it is told by size and second alone

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
        self.ran = path.with_name(f"{path.stem}-{self._commit[:12]}.coverage")
        """Where it is kept which tests run which lines of this commit."""
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
    with tempfile.TemporaryDirectory(prefix="difftrust-mutants-") as temporary:
        copies: Queue[Copy] = Queue()
        for number in range(n_jobs):
            copies.put(Copy(Path(temporary) / str(number)))
        tests = Tests(Path(temporary) / "0", answers.ran)

        def answer(mutation: Mutation) -> None:
            if time.monotonic() > end:
                return
            copy = copies.get()
            try:
                answers.keep(mutation, copy.try_out(mutation, tests.of(mutation)))
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
