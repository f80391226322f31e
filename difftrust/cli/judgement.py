"""What a check was asked for, and what is printed, asked and written of one function or of several."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from difftrust.check.options import CheckOptions
from difftrust.check.prepare import prepare
from difftrust.cli.printing import echo, patience
from difftrust.text import printable
from difftrust_core.exceptions import DifftrustError, WrongUsage

if TYPE_CHECKING:
    from difftrust.check.report import CheckReport
    from difftrust.diff.comparison import DiffReport
    from difftrust.outputs.findings import Finding
    from difftrust.questions.asking import Asking
    from difftrust.questions.board import Board


@dataclass(frozen=True, kw_only=True)
class CheckRequest(CheckOptions):
    """A check, and what to print, ask and write then."""

    output: Path | None = None
    pins: tuple[str, ...] = ()
    write_tests: Path | None = None
    """The file that what is right is written to as tests."""
    ask: bool = False
    """Questions follow the report."""
    style: str = "text"
    """The format of what is printed: one of ``outputs.formats.FORMATS``."""


_UNDECIDED = 3
ANSWERS = "answers"
"""Of --pin: the answers of --ask."""


def check_one(where: str, request: CheckRequest) -> int:
    """Check one function, print its report and return the exit status.

    Raises WrongUsage for wrong options before anything is run.
    """
    from difftrust.check.pin import as_it_was
    from difftrust.diff.revisions import resolve_where, split_where

    if request.pins and "::" in where and split_where(where)[0]:
        raise WrongUsage(f"expected a file to write an example into, got {where}; name the file as it is now")
    if ANSWERS in request.pins and not request.ask:
        raise WrongUsage(f"expected --ask with --pin {ANSWERS}, which writes what was answered; add it")
    if request.output is not None:
        _refuse_unwritable(request.output)
    resolved = resolve_where(where) if "::" in where else nullcontext(where)
    with undecided_on_failure(), resolved as found, as_it_was(found), patience(say) as phase:
        chosen, written = _pin_examples(found, request.pins)
        if request.candidates is None and not request.models:
            if written and chosen is None:
                for line in [*written, *write_what_is_right(request.write_tests, found, _texts(request))]:
                    say(line)
                return 0
            raise WrongUsage("expected --model or --candidates, got neither; name an LLM, or a folder of programs")
        prepared, right = prepare(found, replace(request, say=say, phase=phase)), _texts(request)
        from difftrust.check.check import check, check_to_ask  # late, so that a refusal comes soon

        report, board = check_to_ask(prepared) if request.ask else (check(prepared), None)
        from difftrust.outputs.findings import exit_status_of, finding_of_check
        from difftrust.questions.board import board_as_json

        finding, program = finding_of_check(report, where), report.consensus
        show(report, finding, request.style, **({"questions": board_as_json(board)} if board else {}))
        if board:
            asking = _ask(board)
            right += asking.pins
            program = asking.program if asking.answers else program
            if ANSWERS in request.pins:
                written += _pin_examples(found, asking.pins)[1]
        _write(program, request.output)
        if chosen is not None:
            pinned = _pin_behaviour(found, report, chosen)
            right += [line.partition(": ")[2] for line in pinned]
            written += pinned
        for line in [*written, *write_what_is_right(request.write_tests, found, right)]:
            say(line)
    return exit_status_of([finding])


def _texts(request: CheckRequest) -> list[str]:
    """Return what the options say is right."""
    said = [*request.examples, *(text for text in request.pins if text != ANSWERS and not text.isdigit())]
    return [text for text in said if "==" in text or " raises " in text]


def write_what_is_right(file: Path | None, where: str, texts: Sequence[str]) -> list[str]:
    """Write ``texts`` as tests, and return what to say of that."""
    if file is None:
        return []
    from difftrust.check.pin import write_tests

    done = write_tests(file, where, texts)
    said = [f"{text} cannot be written as a test: {why}" for text, why in done.left_out]
    if not texts:
        return [f"no result is confirmed, so {file} is not written; pin a result or answer a question"]
    there = f", {len(done.there_already)} were there already" if done.there_already else ""
    return [*said, f"{len(done.new)} test{'s'[len(done.new) == 1 :]} written to {file}{there}"]


def _refuse_unwritable(file: Path) -> None:
    """Raise WrongUsage where the consensus could not be written, before anything runs."""
    folder = file.absolute().parent
    why = "it is a folder" if file.is_dir() else "" if folder.is_dir() else f"{folder} is no folder"
    if not why and not os.access(file if file.exists() else folder, os.W_OK):
        why = "no permission"
    if why:
        raise WrongUsage(f"expected a file to write the consensus to, {file} cannot be written: {why}; change --out")


@contextmanager
def undecided_on_failure() -> Iterator[None]:
    """Let failures end with status 3, since 1 says incoherent."""
    try:
        yield
    except DifftrustError as e:
        if e.exit_status == 1:
            e.exit_status = _UNDECIDED
        raise
    except (typer.Exit, typer.Abort, typer.TyperException):
        raise
    except BrokenPipeError:  # nobody reads the verdict
        raise typer.Exit(_UNDECIDED) from None
    except Exception as e:  # a fault of ours decides nothing about the candidates
        import traceback

        for line in traceback.format_exc().splitlines():
            say(line)
        say(f"difftrust: the check itself failed ({type(e).__name__}) and decided nothing; please report these lines")
        raise typer.Exit(_UNDECIDED) from None


def say(line: str) -> None:
    """Print a line on standard error, without what could steer a terminal."""
    echo(printable(line), err=True)


def show(report: "CheckReport | DiffReport", finding: "Finding", style: str, **more: Mapping[str, Any]) -> None:
    """Print what was found of one function: all of it for people and as JSON, with ``more``; else as its finding."""
    from difftrust.outputs.formats import render
    from difftrust.outputs.report_text import json_of, text_of

    if style == "json":
        echo(json_of(report, **more))
    else:
        echo(text_of(report, finding.name) if style == "text" else render([finding], style))


def _ask(board: "Board") -> "Asking":
    """Ask until nothing is left to ask, and say what that settled, on standard error; return the conversation."""
    from difftrust.questions.ask_in_words import ask_in_words, settled_lines
    from difftrust.questions.asking import Asking

    asking = Asking(board)
    ask_in_words(asking, say)
    for line in settled_lines(asking):
        say(line)
    return asking


def _write(program: str | None, output: Path | None) -> None:
    """Write the consensus, or what questions left of it."""
    if output is None:
        return
    if program is None:
        say(f"no consensus, so {output} is not written: every candidate fails or contradicts an example; sample more")
        return
    try:
        output.write_text(program, encoding="utf-8", errors="surrogatepass")
    except OSError as e:
        raise WrongUsage(f"expected a file to write to, {output} cannot be written: {e.strerror or e}") from None
    say(f"consensus written to {output}")


def _pin_examples(where: str, pins: Sequence[str]) -> tuple[int | None, list[str]]:
    """Write the examples among ``pins``; return the number of the behaviour chosen, if any, and what to say of them."""
    if not pins:
        return None, []
    pins = [text for text in pins if text != ANSWERS]
    numbers = [int(text) for text in pins if text.isascii() and text.isdigit()]
    if len(numbers) > 1:
        raise WrongUsage(f"expected one behaviour to be right, got {len(numbers)}; pin single examples instead")
    return (numbers[0] if numbers else None), _pin(where, [text for text in pins if not text.isdigit()])


def _pin(where: str, texts: Sequence[str]) -> list[str]:
    from difftrust.check.pin import pin_examples

    return [f"{'written' if is_new else 'there already'}: {text}" for text, is_new in pin_examples(where, texts)]


def _pin_behaviour(where: str, report: "CheckReport", number: int) -> list[str]:
    """Write what the chosen behaviour does on each input shown; return what to say of it."""
    from difftrust.outputs.report_text import as_json, pins_of, shown_disagreements

    whole, pins = as_json(report), []
    for found in shown_disagreements(whole):
        if number in (found["first"], found["second"]):
            pins.append(pins_of(found, whole)[0 if number == found["first"] else 1])
    sound = [text for text in dict.fromkeys(pins) if text is not None]
    if not sound:
        raise WrongUsage(
            f"expected the number of a behaviour that differs on an input shown, that contradicts no example and whose "
            f"result {where} can spell, got {number}"
        )
    return _pin(where, sound)
