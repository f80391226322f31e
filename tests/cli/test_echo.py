"""Everything that commands print goes through one place, and nothing in it steers the terminal."""

import ast
from pathlib import Path

import difftrust.cli
from difftrust.cli.printing import echo, echo_line
from tests.support.command import Capture

HOSTILE = "a\x1b[2J\u202eb\x9b1m\x07\r\u2028c"


def test_lines_and_tabs_stay_and_the_rest_is_escaped(capsys: Capture) -> None:
    echo(f"one\t漢\n{HOSTILE}\n", err=True)
    found = capsys.readouterr().err
    assert found == "one\t漢\na\\x1b[2J\\u202eb\\x9b1m\\x07\\r\\u2028c\n\n"
    echo("plain\n\ttext")
    assert capsys.readouterr().out == "plain\n\ttext\n"


def test_a_name_cannot_begin_a_line(capsys: Capture) -> None:
    echo_line(f"model x\nnothing is wrong{HOSTILE}")
    found = capsys.readouterr().out
    assert found.startswith("model x\\nnothing is wrong")
    assert found.count("\n") == 1


def test_no_command_prints_by_another_way() -> None:
    for path in Path(difftrust.cli.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and path.name != "printing.py":
                assert ast.unparse(node.func) not in ("typer.echo", "typer.secho", "print", "click.echo"), path
