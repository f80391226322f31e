"""Without the optional packages, the everyday commands work and the others say in one line what installs them."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WITHOUT = """
import sys
OPTIONAL = {"apted", "dask", "distributed", "fsspec", "s3fs", "sacrebleu", "sqlglot"}
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in OPTIONAL or name.startswith("tree_sitter"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from difftrust.cli import main
main(sys.argv[1:])
"""


def run(folder: Path, command: str) -> tuple[int, str, str]:
    words = [sys.executable, "-c", WITHOUT, *command.replace("RESULTS", str(ROOT / "data" / "results")).split()]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "command",
    [
        "--help",
        "table 4 --store RESULTS",
        pytest.param("figure 1 --out figure.svg", marks=pytest.mark.slow),
        "sql select(1) --store RESULTS",
        "check stub.py::half --candidates programs -n 100",
    ],
)
def test_everyday_commands_need_none_of_them(tmp_path: Path, command: str) -> None:
    (tmp_path / "stub.py").write_text(
        'def half(x: int) -> float:\n    """Return half of x.\n\n    >>> half(2)\n    """\n'
    )
    (tmp_path / "programs").mkdir()
    for name, code in (("a", "x / 2"), ("b", "x * 0.5")):
        (tmp_path / "programs" / f"{name}.py").write_text(f"def half(x):\n    return {code}\n")
    status, out, err = run(tmp_path, command)
    assert status == 0, err
    assert out or "check" in command


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("structure --store RESULTS", "structure"),
        ("compare a.py b.py", "structure"),
        ("generate --benchmark starter-sql --model simulated/medium --store store", "sql"),
        ("table 4 --store s3://bucket/store", "url"),
    ],
)
def test_other_commands_say_what_to_install(tmp_path: Path, command: str, extra: str) -> None:
    status, _, err = run(tmp_path, command)
    assert status == 2
    assert len(err.splitlines()) == 1
    assert f"which is not installed; run `pip install 'difftrust[{extra}]'`" in err


def test_dask_is_asked_for_by_name(tmp_path: Path) -> None:
    connect = "from difftrust_core.execution.resumable import connected\nwith connected('tcp://127.0.0.1:1'): pass"
    code = f"{WITHOUT.partition('from difftrust')[0]}{connect}"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (
        "--backend dask needs distributed, which is not installed; run `pip install 'difftrust[dask]'`" in done.stderr
    )
