"""Run the ``console`` blocks of a document: files shown by cat are written, the output of others is compared."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command of a document and what it prints there; for ``cat FILE`` the content of the file."""

    line: int
    words: str
    output: str

    @property
    def shown_file(self) -> str | None:
        """The file that it shows, if it is ``cat FILE``."""
        found = re.fullmatch(r"cat ([\w./-]+)", self.words)
        return found[1] if found else None


def read_blocks(document: Path) -> list[list[Command]]:
    """Return the commands of each console block, in order. Lines that end in a backslash go on in the next."""
    text = document.read_text()
    blocks = []
    for block in re.finditer(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        first = text.count("\n", 0, block.start()) + 2
        commands = []
        parts = re.split(r"^\$ ", block[1], flags=re.MULTILINE)
        line = first + parts[0].count("\n")
        for part in parts[1:]:
            words, _, output = re.sub(r"\\\n", "", part).partition("\n")
            commands.append(Command(line=line, words=words.strip(), output=output))
            line += part.count("\n")
        blocks.append(commands)
    return blocks


def run_command(command: Command, folder: Path) -> str | None:
    """Run a command in a folder, ``difftrust`` being this package's; return what is wrong with its output, if anything.

    A line of three dots stands for any lines, three dots within a line for anything in it.
    """
    if command.shown_file is not None:
        path = folder / command.shown_file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(command.output.rstrip("\n") + "\n")
        return None
    binaries = folder / ".bin"
    binaries.mkdir(exist_ok=True)
    script = binaries / "difftrust"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -P -c 'from difftrust.cli import main; main()' \"$@\"\n")
    script.chmod(0o755)
    variables = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    ended = subprocess.run(
        ["sh", "-c", command.words], cwd=folder, env=variables, capture_output=True, text=True, timeout=120
    )
    if matches(command.output, ended.stdout):
        return None
    return f"line {command.line}: $ {command.words}\nprinted:\n{ended.stdout}{ended.stderr[-1000:]}"


def matches(expected: str, printed: str) -> bool:
    """Tell whether output is as a document shows it."""
    lines = [line.rstrip() for line in expected.strip().splitlines()]
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(re.escape("..."), ".*") + r" *\n" for line in lines
    )
    return re.fullmatch(pattern, printed.strip() + "\n" if printed.strip() else "") is not None
