"""The same attacks once more, started by root as a user without any privilege."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from difftrust_core.sandbox import layers
from tests.support.ordinary_user import NOBODY, REPOSITORY, as_nobody, why_not

_EVERYTHING = "DIFFTRUST_HOSTILE_ROUNDS" in os.environ
ASKS = "processes or kernel or files or network or mapping or doors"
"""By default the groups in which it matters who asks."""


def _chosen() -> list[str]:
    """Return pytest's options that choose the attacks: none that need bubblewrap where there is none."""
    words = [] if _EVERYTHING else [f"({ASKS} or weaker)"]
    if not layers.bubblewrap():
        words.append("(without_namespaces or weaker) and not bubblewrap")
    return ["-k", " and ".join(words)] if words else []


@pytest.fixture
def ordinary_user() -> None:
    """Skip where there is no becoming one."""
    if why_not():
        pytest.skip(why_not())


@pytest.mark.slow
@pytest.mark.timeout(7200 if _EVERYTHING else 600)
@pytest.mark.usefixtures("ordinary_user")
def test_contained_for_an_ordinary_user():
    with tempfile.TemporaryDirectory(prefix="difftrust-nobody-") as home:
        os.chown(home, NOBODY, NOBODY)
        environment = {**os.environ, "HOME": home, "TMPDIR": home, "PYTHONDONTWRITEBYTECODE": "1"}
        for name in [name for name in environment if name.startswith("PYTEST_")]:
            del environment[name]
        tests = [str(Path(__file__).with_name("test_contained.py")), "-n", "0", "-p", "no:randomly", "--tb=short"]
        command = as_nobody(sys.executable, "-m", "pytest", *tests, *_chosen())
        ran = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, env=environment, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " passed" in ran.stdout
    assert "skipped" not in ran.stdout
    assert "failed" not in ran.stdout


@pytest.mark.usefixtures("ordinary_user")
def test_an_ordinary_user_is_one():
    code = "import os; print(os.getresuid(), os.getgroups(), os.access('/etc/shadow', os.R_OK))"
    status = "print([l.split()[1] for l in open('/proc/self/status') if l.startswith(('CapEff', 'CapPrm', 'CapInh'))])"
    ran = subprocess.run(
        as_nobody(sys.executable, "-c", f"{code}; {status}"), capture_output=True, text=True, check=True
    )
    assert ran.stdout.split("\n")[0] == f"({NOBODY}, {NOBODY}, {NOBODY}) [] False"
    assert ran.stdout.split("\n")[1] == str(["0" * 16] * 3)
