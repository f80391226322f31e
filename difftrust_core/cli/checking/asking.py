"""`difftrust check --ask`: questions in a terminal, or answered by the lines of standard input."""

from typing import TYPE_CHECKING

from difftrust_core.cli.echo import echo

if TYPE_CHECKING:
    from difftrust_core.checks.questions.asking import Asking


def ask(asking: "Asking") -> None:
    """Ask until nothing is left to ask, and say what that settled: all on standard error."""
    from difftrust_core.report.asked import ask_in_words, settled_lines

    def say(line: str) -> None:
        echo(line, err=True)

    ask_in_words(asking, say)
    for line in settled_lines(asking):
        say(line)
