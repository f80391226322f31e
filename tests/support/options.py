"""Write docs/options.md: the options of every command, from the command line itself; run by make docs.

python -m tests.support.options
"""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import typer.main

from difftrust.cli.app import app
from difftrust.cli.shared_options import FORMER
from tests.support.markdown import table

TARGET: Final = Path(__file__).parents[2] / "docs" / "options.md"
SHARED: Final = 2
"""So many commands share an option that is listed once."""
HEAD = """# Options by command

What `difftrust COMMAND --help` prints, in tables. `NAME...` may be given several times. To complete commands and
options in your shell, run `difftrust --install-completion`. Written by `make docs`.

"""
_KINDS = {"str": "TEXT", "int": "INT", "float": "NUMBER", "Path": "PATH"}
_Row = tuple[str, str, str, str]


def document() -> str:
    """Return the document."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    rows = {name: [_row(each) for each in command.params if _is_option(each)] for name, command in commands.items()}
    counts = Counter(row for listed in rows.values() for row in listed)
    shared = {row: [name for name in sorted(rows) if row in rows[name]] for row in counts if counts[row] >= SHARED}
    text = HEAD + "## Shared options\n\n"
    text += _table((*row, _codes(names)) for row, names in sorted(shared.items()))
    for name in sorted(rows):
        own = [row for row in rows[name] if row not in shared]
        also = [row[0].split()[0].rstrip(",") for row in rows[name] if row in shared]
        text += f"\n## {name}\n\n{_usage(name, commands[name])}\n"
        text += f"\n{_table(own)}" if own else ""
        text += f"\nShared: {', '.join(also)}.\n" if also else ""
    former = [(name, f"`{was}`", f"`{now}`") for name, names in sorted(FORMER.items()) for was, now in names.items()]
    return (
        f"{text}\n## Former names\n\nThey work in this version.\n\n{table(['command', 'was', 'is'], former, texts=3)}"
    )


def _is_option(parameter: Any) -> bool:
    return parameter.param_type_name == "option" and not parameter.hidden


def _row(option: Any) -> _Row:
    """Return name, value, default and meaning."""
    name = ", ".join(
        f"`{each}`" for each in sorted((*option.opts, *option.secondary_opts), key=lambda each: each[:2] != "--")
    )
    default = "required" if option.required else _default(option.default)
    return name, _value(option), default, re.sub(r"; may be repeated\b", "", option.help or "").replace("|", "\\|")


def _value(option: Any) -> str:
    if option.is_flag:
        return ""
    kind = option.type_descriptor.annotation
    values = getattr(kind, "__members__", None)
    shown = option.metavar or "\\|".join(map(str, (values and kind) or getattr(kind, "__args__", ())))
    shown = shown.replace("<", "").replace(">", "").replace("\\|", "|").replace("|", "\\|")
    if not option.metavar and (option.multiple or not shown or "class" in shown):
        one = kind.__args__[0] if getattr(kind, "__args__", ()) else kind
        shown = _KINDS.get(one.__name__, one.__name__)
    return f"`{shown}{'...' if option.multiple else ''}`"


def _default(value: Any) -> str:
    return "" if value is None or value is False or value == "" else f"`{value}`"


def _usage(name: str, command: Any) -> str:
    words = [each.metavar or each.name.upper() for each in command.params if not _is_option(each)]
    return f"`{' '.join(['difftrust', name, *words])}`: {command.help.partition(chr(10) * 2)[0].replace(chr(10), ' ')}"


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    listed = list(rows)
    head = ["option", "value", "default", "meaning", "commands"][: len(listed[0])]
    return table(head, listed, texts=5)


if __name__ == "__main__":
    TARGET.write_text(document())
