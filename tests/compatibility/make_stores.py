"""Write stores and pins into ``data/``: ``python -m tests.compatibility.make_stores``, by hand, with the code of then.

They are what users of that code have on their disks, so a later version must not write them anew.
"""

import shutil
from pathlib import Path

from tests.compatibility.doors import DATA, run

TASKS = DATA / "tasks"
STORES = DATA / "stores"
PINS = DATA / "pins"


def make(store: Path, *words: object) -> None:
    """Run a command on a store."""
    said = run(*words, "--store", store, "-j", 1)
    assert said.status == 0, said.err


def import_own(store: Path, samples: str, *more: object) -> None:
    """Add programs of ours to a store."""
    make(store, "import", TASKS / samples, "--model", "ours", "--temperature", 0.6, *more)


def make_half(store: Path) -> None:
    """Execute one model of two on few inputs, then add a task."""
    for task in ("starter/split_bill", "starter/rolling_checksum"):
        coders = ("--model", "simulated/strong", "--model", "simulated/weak")
        make(store, "generate", "--benchmark", "starter", "--task", task, *coders, "-m", 3)
        if task == "starter/split_bill":
            make(store, "execute", "-n", 12, "--model", "simulated/strong")


def make_replies(store: Path) -> None:
    """Ask two simulated coders for a part of the samples, and execute none."""
    coders = ("--model", "simulated/strong", "--model", "simulated/weak")
    make(store, "generate", "--benchmark", "starter", "--task", "starter/split_bill", *coders, "-m", 2)


def make_sql(store: Path) -> None:
    """Execute queries on few databases."""
    make(store, "import", TASKS / "queries.jsonl", "--model", "ours", "--temperature", 0.6)
    make(store, "execute", "-n", 10)


def make_contest(store: Path) -> None:
    """Execute programs that read, on all inputs."""
    import_own(store, "contest_programs.jsonl", "--tasks", TASKS / "contest.jsonl")
    make(store, "execute", "-n", 20)


def make_domain(store: Path) -> None:
    """Execute own tasks with a domain and relations on few inputs."""
    import_own(store, "shop.jsonl", "--tasks", TASKS / "shop.toml")
    make(store, "execute", "-n", 12)


def make_tests(store: Path) -> None:
    """Execute own tasks on their tests alone, the tests of one task not yet."""
    import_own(store, "shop.jsonl", "--tasks", TASKS / "shop.toml")
    make(store, "execute", "-n", 12, "--validity", "tests")


def make_pins() -> None:
    """Write pins into a docstring, and into a file of tests those of a check and of a diff."""
    shutil.copy(PINS / "module.py", PINS / "pinned.py")
    (PINS / "said_tests.py").unlink(missing_ok=True)
    where = PINS / "pinned.py"
    for pin in ("middle([0, 1]) == 0", "middle([]) raises IndexError"):
        said = run("check", f"{where}::middle", "--pin", pin, "--write-tests", PINS / "said_tests.py")
        print(said)
    old, new = (f"{PINS / name}.py::parity" for name in ("old", "new"))
    print(run("diff", old, new, "--expect", "parity(True) == 'even'", "--write-tests", PINS / "said_tests.py"))


MAKERS = {
    "half": make_half,
    "replies": make_replies,
    "sql": make_sql,
    "contest": make_contest,
    "domain": make_domain,
    "tests": make_tests,
}


def main() -> None:
    """Write everything anew."""
    shutil.rmtree(STORES, ignore_errors=True)
    STORES.mkdir()
    for name, maker in MAKERS.items():
        print(name)
        maker(STORES / name)
    make_pins()


if __name__ == "__main__":
    main()
