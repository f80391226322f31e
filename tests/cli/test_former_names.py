"""Former names of options: they work, and stderr says what they are called now."""

from pathlib import Path

import pytest
import typer.main

from difftrust.cli.app import app
from difftrust.cli.options import FORMER
from tests.support.command import run

PAIRS = [(command, was, now) for command, names in FORMER.items() for was, now in names.items()]
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize(("command", "was", "now"), PAIRS)
def test_a_former_name_is_gone_and_the_new_one_is_there(command: str, was: str, now: str) -> None:
    options = {name: option for option in COMMANDS[command].params for name in option.opts}
    name, _, value = now.partition(" ")
    assert was not in options
    assert name in options
    assert not value or value in str(options[name].type_descriptor.annotation.__args__)


@pytest.mark.parametrize("words", [["--validity", "all"], ["--validity=all"], ["--validity", "all", "--validity=all"]])
def test_a_former_name_works_and_the_new_one_is_named_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "f.py").write_text('def f(x: int) -> int:\n    """Return x."""\n')
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in "ab":
        (programs / f"{name}.py").write_text("def f(x):\n    return x\n")
    checked = ("check", tmp_path / "f.py::f", "--candidates", programs, "-n", "60", "--format", "json")
    status, out, err = run(capsys, *checked, *words)
    assert (status, '"validity": "all"' in out) == (0, True)
    assert err.count("difftrust: --validity is now --inputs\n") == 1


def test_a_former_name_is_not_sought_in_values_nor_behind_two_dashes(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--example", "--validity"], ["--example=--validity"], ["--", "--validity"]):
        _, _, err = run(capsys, "check", "nothing.py::f", *words)
        assert "is now" not in err


def test_a_wrong_value_is_refused_by_the_new_name(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "execute", "--validity", "most", "--store", "s")
    assert status == 2
    assert "Invalid value for '--inputs'" in err
