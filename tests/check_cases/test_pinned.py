"""Examples that --pin writes into a docstring are run by doctest, against the program that they were taken from."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.check_cases.case import FOLDER, load_case
from tests.support.command import run

CASES = (
    *("add_months", "age_on", "anagrams", "annotated_grade", "wrap"),
    *("backup_name", "booking_clash", "brackets", "xor_bytes"),
)
# The function of the module is a stub: the candidate takes its place, its docstring's examples stay.
_DOCTEST = """
import ast, doctest, sys
module, candidate, entry_point = sys.argv[1:]
names = {"__name__": "module"}
text = open(module, encoding="utf-8").read()
exec(compile(text, module, "exec"), names)
exec(compile(open(candidate, encoding="utf-8").read(), candidate, "exec"), names)
body = ast.parse(text).body
for name in entry_point.split("."):
    node = [n for n in body if getattr(n, "name", None) == name][-1]
    body = node.body
test = doctest.DocTestParser().get_doctest(ast.get_docstring(node), names, entry_point, module, 0)
found = doctest.DocTestRunner().run(test)
print(found.attempted)
sys.exit(found.failed > 0)
"""


def run_doctest(module: Path, program: Path, entry_point: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-P", "-c", _DOCTEST, str(module), str(program), entry_point]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", CASES)
def test_what_is_pinned_holds_for_the_program_that_was_said_to_be_right(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = load_case(FOLDER / f"{name}.toml")
    where, folder = case.write(tmp_path)
    module, _, entry_point = where.partition("::")
    words = ["check", where, "--candidates", folder, "-n", "200", "--format=json", *case.options]
    status, out, err = run(capsys, *words, "--pin", "1", "--out", tmp_path / "best.py")
    assert status == 1
    written = [line for line in err.splitlines() if line.startswith("written: ")]
    assert written
    right, wrong = (folder / found["candidates"][0] for found in json.loads(out)["clusters"][:2])
    for program in (right, tmp_path / "best.py"):
        ran = run_doctest(Path(module), program, entry_point)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert int(ran.stdout) >= len(written)
    assert run_doctest(Path(module), wrong, entry_point).returncode == 1  # and tells the other apart
