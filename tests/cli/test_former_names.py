"""Former names of options: they work, and stderr says what they are called now."""

from enum import EnumMeta
from pathlib import Path
from typing import get_args

import pytest
import typer.main

from difftrust.cli.app import app
from difftrust.cli.shared_options import FORMER
from tests.support.command import Capture, run, typed
from tests.support.stubs import returning, write_stub

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def test_a_former_name_is_gone_and_the_new_one_is_there() -> None:
    for command, names in FORMER.items():
        options = {name: option for option in COMMANDS[command].params for name in option.opts}
        for former, now in names.items():
            (was, _, was_value), (name, _, value) = former.partition(" "), now.partition(" ")
            kind = options[name].type_descriptor.annotation
            values = {"", *get_args(kind), *(kind if isinstance(kind, EnumMeta) else ())}
            assert was not in options or was_value not in values, (command, former)
            assert value in values, (command, now)


def test_a_former_name_works_and_the_new_one_is_named_once(capsys: Capture, tmp_path: Path) -> None:
    where, programs = write_stub(tmp_path, 'def f(x: int) -> int:\n    """Return x."""\n', returning("f(x)", "x", "x"))
    checked = f"check {where} --candidates {programs} -n 60 --format json --validity all --validity=all"
    status, out, err = typed(capsys, checked)
    assert (status, '"validity": "all"' in out) == (0, True)
    assert err.count("difftrust: --validity is now --inputs\n") == 1


def test_a_former_flag_and_a_former_value_work(capsys: Capture, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text("def f(x):\n    return x\n")
    compared = f"compare {tmp_path}/a {tmp_path}/b --language python --format"
    said = (*typed(capsys, f"{compared} text")[:2], "difftrust: --format table is now --format text\n")
    assert typed(capsys, f"{compared} table") == said
    _, out, err = run(capsys, "doctor", "--json")
    assert (out[0], err) == ("{", "difftrust: --json is now --format json\n")


def test_a_former_name_is_not_sought_in_values_nor_behind_two_dashes(capsys: Capture) -> None:
    for words in (["--example", "--validity"], ["--example=--validity"], ["--", "--validity"]):
        _, _, err = run(capsys, "check", "nothing.py::f", *words)
        assert "is now" not in err


def test_a_wrong_value_is_refused_by_the_new_name(capsys: Capture) -> None:
    status, _, err = typed(capsys, "execute --validity most --store s")
    assert status == 2
    assert "Invalid value for '--inputs'" in err


@pytest.mark.parametrize("option", ["--benchmark", "--temperature", "--model"])
def test_an_option_that_takes_one_value_here_is_refused_twice(capsys: Capture, option: str) -> None:
    status, _, err = run(capsys, "plan", "--find", "0.5", option, "1", f"{option}=0.6")
    assert (status, err) == (
        2, f"difftrust: {option} takes one value with plan, got several; leave all but one out\n"
    )  # fmt: skip
