"""`check --model` against a real server: suggestions asked once, kept, shown, edited; they hide no disagreement."""

from pathlib import Path

import pytest

from tests.support.command import Capture, run
from tests.support.llm_server import Server

pytestmark = pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")
STUB = 'def clamp(x: int, low: int = 0, high: int = 5) -> int:\n    """Return x, at least low and at most high."""\n'
BODIES = ("max(low, min(x, high))", "min(high, max(x, low))")
SUGGESTED = "clamp(3)\nclamp(7, 1, 4)\nclamp(__import__('os').system('x'))\nclamp(evil.name)\n"


def replies(suggested: str) -> Server:
    def text(serial: int) -> str:
        code = f"def clamp(x, low=0, high=5):\n    return {BODIES[serial % 2]}" if serial < 2 else suggested
        return f"```python\n{code}\n```"

    return Server(text=text)


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIFFTRUST_CACHE", str(tmp_path.with_suffix(".cache")))
    monkeypatch.setenv("OPENAI_API_KEY", "planted-0123456789-abcdefghij-key")
    (tmp_path / "m.py").write_text(STUB)
    models = ["--model", "openai/one", "--model", "openai/two", "-m", "2"]
    return ["check", "m.py::clamp", *models, "--store", "st", "-n", "200", "--api-base"]


@pytest.mark.slow
def test_a_suggested_condition_hides_no_disagreement_and_is_asked_for_once(words: list[str], capsys: Capture) -> None:
    with replies(f"{SUGGESTED}assert low <= high\nassert __import__('os').system('x') or x") as server:
        words.append(server.url)
        status, out, err = run(capsys, *words)
        assert (status, len(server.asked)) == (3, 3), err
        assert "the mixture of 2 models (1 of openai/one, 1 of openai/two)" in out
        assert "1 condition; edit it to change them" in err
        assert "left out by" not in err
        assert "by conditions that a model suggests" in out
        assert "openai/one suggests, and the inputs drawn obey: low <= high (edit st/suggestions/" in out
        assert "the candidates differ on " in out
        assert 'Next best step: if the conditions are right, say so: --assume "low <= high"' in out
        again = run(capsys, *words)
        assert (again[0], again[1], len(server.asked)) == (status, out, 3)
        assert "suggestions taken from st/suggestions/" in again[2]
        assert run(capsys, *words, "--assume", "low <= high")[0] == 0
        (path,) = Path("st/suggestions").iterdir()
        path.write_text("conditions = []\n")
        assert run(capsys, *words)[0] == 1
        path.write_text("conditions = [\"open('x')\"]\n")
        status, out, err = run(capsys, *words)
        assert (status, out) == (2, "")
        assert "expected an expression over the parameters of clamp" in err.splitlines()[-1]
        assert len(server.asked) == 3
    status, out, _ = run(capsys, "verify", "--store", "st")
    assert (status, "suggestions" in out) == (0, False)


@pytest.mark.slow
def test_conditions_that_leave_all_out_decide_nothing(words: list[str], capsys: Capture) -> None:
    with replies("assert x.nope(3)") as server:
        status, out, _ = run(capsys, *words, server.url)
    assert status == 3
    assert "in only" not in out
    assert "take them out of st/suggestions/" in out


def test_a_server_that_refuses_leaves_nothing(words: list[str], capsys: Capture) -> None:
    with Server(behaviour=lambda serial, prompt: "404") as server:
        status, out, err = run(capsys, *words, server.url)
    assert (status, out) == (2, "")
    assert "answered 404" in err.splitlines()[-1]
    assert "planted" not in err
    assert [path.name for path in Path().iterdir()] == ["m.py"]


def test_several_functions_are_asked_for_once_within_one_budget(words: list[str], capsys: Capture) -> None:
    twice = 'def twice(x: int) -> int:\n    """Return x, doubled."""\n\n\n'
    Path("m.py").write_text(f"{twice}def bare(x: int) -> int: ...\n\n\n{STUB}")
    words[1] = "m.py"
    with Server() as server:
        status, out, err = run(capsys, *words, server.url)
        assert (status, len(server.asked)) == (1, 6), err
        assert "expected a docstring that says what bare shall do" in out
        assert "m.py::clamp: incoherent" in err
        again = run(capsys, *words, server.url)
        assert (again[0], again[1], len(server.asked)) == (status, out, 6)
        assert "2 of 3 were checked before" in again[2]
        Path("m.py").write_text(f"{twice}{STUB.replace('at most', 'not above')}")
        status, out, err = run(capsys, *words, server.url, "--max-usd", "0.0")
        assert (status, len(server.asked)) == (1, 6)
        assert "not sampled: --max-usd 0.0 is spent" in out
    with Server(behaviour=lambda serial, prompt: "401") as server:
        status, out, err = run(capsys, *words, server.url, "--store", "new")
        assert (status, out, len(server.asked)) == (2, "", 2)  # both programs of the first function alone
        assert not Path("new").exists()
