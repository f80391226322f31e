"""A wheel installed outside the checkout: every command once, entry points and data files."""

import os
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = "from importlib.metadata import entry_points; print(*[e.load() is not None for g in entry_points().groups"
PLUGINS += " if g.startswith('difftrust_core.') for e in entry_points(group=g)])"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the commands of an environment that has the wheel, and what it needs from this one."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("difftrust-*.whl")
    venv.create(folder / "env", with_pip=False)
    (packages,) = (folder / "env" / "lib").glob("python*/site-packages")
    target = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--prefix", str(folder / "env"), str(wheel)]
    subprocess.run([*target, "--ignore-installed"], check=True, capture_output=True)
    beside = [path for path in sys.path if path.endswith("site-packages")]  # its .pth files are not followed
    (packages / "beside.pth").write_text("\n".join(beside))
    return folder / "env" / "bin"


def run(installed: Path, words: str) -> str:
    """Run a command of the environment in the folder of its commands."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "DIFFTRUST_DATA")}
    program, *more = shlex.split(words)
    command = [installed / program, *more]
    done = subprocess.run(command, cwd=installed, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_every_command_and_what_comes_with_the_wheel(installed: Path, tmp_path: Path) -> None:
    where = run(installed, "python -c 'import difftrust, difftrust_core; print(difftrust.__file__)'").strip()
    assert Path(where).is_relative_to(installed.parent)
    assert run(installed, f'python -c "{PLUGINS}"').split() == ["True"] * 12
    shown = run(installed, "difftrust --help").partition("Commands:")[2]
    names = [line.split()[0] for line in shown.splitlines() if line.startswith("  ") and line[2] != " "]
    assert len(names) == 22
    for name in names:
        assert "Usage" in run(installed, f"difftrust {name} --help")
    assert "gpt_4o" in run(installed, "difftrust table 4")
    assert "HumanEval" in run(installed, "difftrust table 2 --published")
    store = tmp_path / "store"
    run(installed, f"difftrust generate --benchmark starter --model simulated/weak -m 2 --store {store}")
    run(installed, f"difftrust execute --store {store} -n 20 --allow-weak-sandbox")
    assert "nothing is wrong" in run(installed, f"difftrust verify --store {store}")
    counted = run(installed, f"difftrust sql 'select count(*) from estimates' --store {store} --format csv")
    assert counted.split()[-1] == "60"
