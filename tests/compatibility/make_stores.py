"""Write stores and pins into ``data/``: ``python -m tests.compatibility.make_stores``, by hand, with the code of then.

They are what users of that code have on their disks, so a later version must not write them anew.
"""

import shutil

from tests.compatibility.doors import DATA, run

TASKS, STORES, PINS = DATA / "tasks", DATA / "stores", DATA / "pins"
OURS = ("--model", "ours", "--temperature", 0.6)
SIMULATED = ("--model", "simulated/strong", "--model", "simulated/weak")
STARTER = ("--benchmark", "starter", "--task")
SHOP = ("import", TASKS / "shop.jsonl", *OURS, "--tasks", TASKS / "shop.toml")
CONTEST = ("import", TASKS / "contest_programs.jsonl", *OURS, "--tasks", TASKS / "contest.jsonl")
COMMANDS: dict[str, list[tuple[object, ...]]] = {
    "half": [
        ("generate", *STARTER, "starter/split_bill", *SIMULATED, "-m", 3),
        ("execute", "-n", 12, "--model", "simulated/strong"),
        ("generate", *STARTER, "starter/rolling_checksum", *SIMULATED, "-m", 3),
    ],
    "replies": [("generate", *STARTER, "starter/split_bill", *SIMULATED, "-m", 2)],
    "sql": [("import", TASKS / "queries.jsonl", *OURS), ("execute", "-n", 10)],
    "contest": [CONTEST, ("execute", "-n", 20)],
    "domain": [SHOP, ("execute", "-n", 12)],
    "tests": [SHOP, ("execute", "-n", 12, "--validity", "tests")],
}
"""Of each store the commands that write it."""


def make_pins() -> None:
    """Write pins into a docstring, and into a file of tests those of a check and of a diff."""
    where, tests = PINS / "pinned.py", PINS / "said_tests.py"
    shutil.copy(PINS / "module.py", where)
    tests.unlink(missing_ok=True)
    for pin in ("middle([0, 1]) == 0", "middle([]) raises IndexError"):
        print(run("check", f"{where}::middle", "--pin", pin, "--write-tests", tests))
    old, new = (f"{PINS / name}.py::parity" for name in ("old", "new"))
    print(run("diff", old, new, "--expect", "parity(True) == 'even'", "--write-tests", tests))


if __name__ == "__main__":
    shutil.rmtree(STORES, ignore_errors=True)
    for name, commands in COMMANDS.items():
        for words in commands:
            said = run(*words, "--store", STORES / name, "-j", 1)
            assert said.status == 0, said.err
    make_pins()
