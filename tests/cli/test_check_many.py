"""`difftrust check` of several functions: candidates by folder, one summary, refusals, what is kept, a stop."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from difftrust_core.base.files import PREFIX
from tests.bench.processes import DIFFTRUST
from tests.support.command import Capture, Said, typed
from tests.support.proc import below
from tests.support.repository import commit, git, repository, write
from tests.support.waiting import until

MODULE = '''"""Shapes."""


def area(width: int, height: int) -> int:
    """Return the area."""
    return width * height


def half(x: int) -> float:
    return x / 2


class Box:
    def __init__(self, size: int):
        self.size = size

    def add(self, x: int) -> int:
        return self.size + x


def odd() -> int:
    return 1


def unnamed(x: int) -> int:
    return x
'''
CANDIDATES = {
    "c/area/a.py": "def area(width, height):\n    return height * width\n",
    "c/half/a.py": "def half(x):\n    return x // 2\n",
    "c/half/b.py": "def half(x):\n    return x // 2 + 0\n",
    "c/Box.add/a.py": "def add(self, x):\n    return x + self.size\n",
}
CHECK = "--candidates c --with-body -n 60 --witnesses 20"
JSON = f"{CHECK} --format=json"


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIFFTRUST_CACHE", str(tmp_path / ".cache"))
    write(tmp_path, {"shapes.py": MODULE, **CANDIDATES})
    return tmp_path


def check(capsys: Capture, words: str) -> Said:
    return typed(capsys, f"check {words}")


def verdicts(out: str) -> dict[str, str]:
    return {each["name"].rpartition("::")[2]: each["verdict"] for each in json.loads(out)}


@pytest.mark.slow
def test_each_function_has_its_folder_and_its_own_body_stands_beside(there: Path, capsys: Capture) -> None:
    status, out, err = check(capsys, f"shapes.py {JSON}")
    assert verdicts(out) == {"area": "coherent", "half": "incoherent", "Box.add": "coherent"}
    assert status == 1
    assert "left out, no candidates in c: shapes.py::unnamed" in err
    assert "shapes.py::half: incoherent" in err
    assert "in the minority: 1 of 3" in out
    again = check(capsys, f"shapes.py {JSON}")
    assert again[:2] == (status, out)
    assert "3 of 3 were checked before" in again[2]
    # What one of them rests on changes: that one is judged again.
    write(there, {"c/half/a.py": "def half(x):\n    return x / 2 + 0\n", "c/half/b.py": "half = lambda x: x / 2\n"})
    status, out, err = check(capsys, f"shapes.py::half shapes.py::Box {JSON}")
    assert (status, verdicts(out)) == (0, {"half": "coherent", "Box.add": "coherent"})
    assert "1 of 2 were checked before" in err
    assert "checked before" not in check(capsys, f"shapes.py::Box {JSON} -n 61")[2]


def test_one_that_cannot_be_checked_does_not_stop_the_others(there: Path, capsys: Capture) -> None:
    write(there, {"c/odd/a.py": "def odd():\n    return 1\n", "pkg/broken.py": "def f(:\n"})
    status, out, _ = check(capsys, f"shapes.py::odd shapes.py::unnamed shapes.py::Box pkg {JSON}")
    assert status == 3
    assert verdicts(out) == {"odd": "refused", "unnamed": "refused", "Box.add": "coherent", "pkg/broken.py": "refused"}
    assert "expected candidates in c/unnamed" in out
    assert "there is nothing to fuzz" in out
    assert "SyntaxError" in out


def test_functions_of_one_name_have_folders_of_their_own(there: Path, capsys: Capture) -> None:
    write(there, {"a/shapes.py": MODULE, "b.py": MODULE, "c/b.area/a.py": CANDIDATES["c/area/a.py"]})
    write(there, {"c/a/shapes.py/area/a.py": CANDIDATES["c/area/a.py"]})
    status, out, _ = check(capsys, f"a/shapes.py::area b.py::area shapes.py::area {CHECK}")
    assert status == 3
    assert "expected candidates in c/area" in out
    assert out.count("coherent") >= 2


def test_only_what_changed_is_checked(there: Path, capsys: Capture) -> None:
    repository(there, {".gitignore": "c/\n.cache/\n"})
    status, out, err = check(capsys, f"--changed-since HEAD {JSON}")
    assert (status, verdicts(out), "no function changed since HEAD" in err) == (0, {}, True)
    write(there, {"shapes.py": MODULE.replace("width * height", "height * width  # turned").replace("x / 2", "x // 2")})
    (there / "tests").mkdir()
    status, out, err = check(capsys, f"shapes.py tests --changed-since HEAD {JSON}")
    assert (status, verdicts(out)) == (0, {"area": "coherent", "half": "coherent"})
    (there / "sub").mkdir()
    os.chdir(there / "sub")
    status, out, err = check(capsys, f"../shapes.py::Box --changed-since HEAD {JSON}")
    assert (status, "no function changed since HEAD" in err) == (0, True)
    _, out, _ = check(capsys, f"--changed-since HEAD {JSON} --candidates ../c")
    assert verdicts(out) == {"area": "coherent", "half": "coherent"}


def test_candidates_are_not_among_the_functions_that_are_checked(there: Path, capsys: Capture) -> None:
    repository(there, {".gitignore": ".cache/\n"})
    write(there, {"shapes.py": MODULE.replace("width * height", "height * width")})
    text = CANDIDATES["c/area/a.py"].replace(":\n", ':\n    """Return the area."""\n', 1)
    write(there, {"c/area/a.py": text, "c/area/b.py": text, "c/area/broken.py": "def area(:\n"})
    for what in ("--changed-since HEAD", "."):
        _, out, _ = check(capsys, f"{what} {JSON}")
        named = [each["name"] for each in json.loads(out)]
        assert "shapes.py::area" in named
        assert not [name for name in named if name.startswith("c/")]


def test_a_stop_keeps_what_is_judged_and_leaves_nothing_else(there: Path) -> None:
    write(there, {"c/half/a.py": "import time\ndef half(x):\n    time.sleep(0.05)\n    return x / 2\n"})
    kept = there / ".cache" / "judged"
    environment = os.environ | {"TMPDIR": str(there)}
    command = [*DIFFTRUST, "check", "shapes.py", *CHECK.split()]
    running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: list(kept.glob("*.json")) or running.poll() is not None, 60)
        time.sleep(0.3)  # into the second one
        children = below(running.pid)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130
    assert err.splitlines()[-1] == "difftrust: stopped; what is finished is kept, the same command goes on from there"
    assert "Traceback" not in err
    assert out == ""
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children), 20)  # the kernel ends them after that one
    assert not [path for path in there.rglob("*") if path.name.startswith(PREFIX) or path.suffix == ".tmp"]
    assert [json.loads(path.read_text())["name"] for path in kept.iterdir()] == ["shapes.py::area"]
    write(there, CANDIDATES)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "1 of 3 were checked before" in done.stderr


def test_what_is_kept_and_damaged_is_judged_anew(there: Path, capsys: Capture) -> None:
    first = check(capsys, f"shapes.py::Box {CHECK}")
    for path in (there / ".cache" / "judged").iterdir():
        path.write_text("{")
    second = check(capsys, f"shapes.py::Box {CHECK}")
    assert first[0] == second[0] == 0
    assert "checked before" not in second[2]
    assert "1 of 1 were checked before" in check(capsys, f"shapes.py::Box {CHECK}")[2]
    assert "checked before" not in check(capsys, f"shapes.py::Box {CHECK} --again")[2]


def test_a_function_of_a_revision_is_checked(there: Path, capsys: Capture) -> None:
    repository(there, {".gitignore": "c/\n.cache/\n"})
    commit(there, {"shapes.py": MODULE.replace("width * height", "width + height")})
    area = "--candidates c/area --with-body -n 60"
    status, out, _ = check(capsys, f"HEAD~1:shapes.py::area {area}")
    assert (status, out.splitlines()[0]) == (0, "HEAD~1:shapes.py::area: coherent")
    status, out, _ = check(capsys, f"HEAD:shapes.py::area {area}")
    assert (status, out.splitlines()[0]) == (1, "HEAD:shapes.py::area: incoherent")
    assert out.splitlines()[1].startswith("Your code in shapes.py differs from a.py: 1 of 2 candidates stand on each")
    status, _, err = check(capsys, f"HEAD:shapes.py::area {area} --pin 'area(1, 2) == 2'")
    assert (status, "a file to write" in err) == (2, True)
    assert git(there, "status", "--porcelain") == ""
