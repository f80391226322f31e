"""`difftrust check`: see where several implementations of a function disagree."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from difftrust_core.base.text import printable
from difftrust_core.cli.coercion import QuickCommand
from difftrust_core.cli.options import WeakOption, store_folder
from difftrust_core.cli.patience import patience
from difftrust_core.exceptions import BadSource, DifftrustError, NoStore, WrongUsage
from difftrust_core.metrics.equality import Equality

if TYPE_CHECKING:
    from difftrust_core.base.records import Candidate
    from difftrust_core.checks.report import CheckReport, Suggestion
    from difftrust_core.checks.sampling import SamplingRequest
    from difftrust_core.checks.source.function import Stub

commands = typer.Typer()
UNDECIDED = 3
_STATUS = {"coherent": 0, "incoherent": 1, "disagreement found": 1, "undecided": UNDECIDED}


@commands.command(
    epilog="""\b
Example:
  difftrust check shapes.py::area --candidates DIR
  difftrust check shapes.py::area --candidates DIR --assume "width >= 0"
  difftrust check shapes.py::area --model gpt-4o --example "area(2, 3) == 6"
""",
    cls=QuickCommand,
)
def check(
    where: Annotated[str, typer.Argument(help="What to check: module.py::function or module.py::Class.method.")],
    model: Annotated[list[str] | None, typer.Option(help="Sample from this LLM; several make a mixture.")] = None,
    m: Annotated[int, typer.Option("-m", min=2, help="Programs to sample, over all models.")] = 10,
    temperature: Annotated[float, typer.Option(min=0, help="Sampling temperature.")] = 0.6,
    store: Annotated[
        Path,
        typer.Option(
            "--store", help="Where replies are kept; none is paid for twice.", metavar="DIR", parser=store_folder
        ),
    ] = Path("difftrust-check"),
    api_base: Annotated[str | None, typer.Option(help="Address of a server, for models named openai/...")] = None,
    max_usd: Annotated[float | None, typer.Option(help="Stop before a request that might pass this.")] = None,
    candidates: Annotated[
        Path | None, typer.Option(help="Folder of candidates, each *.py one; no LLM is asked.", metavar="DIR")
    ] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Fuzzed inputs.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the inputs.")] = 0,
    witnesses: Annotated[
        int, typer.Option(min=0, help="Further inputs that seek a disagreement; the incoherence does not count them.")
    ] = 100,
    example: Annotated[
        list[str] | None,
        typer.Option(help='What is right, "f(1) == 2" or "f([]) raises ValueError", or a call alone; may be repeated.'),
    ] = None,
    assume: Annotated[
        list[str] | None, typer.Option(help='What the arguments obey, "start <= end"; may be repeated.')
    ] = None,
    allow_import: Annotated[
        list[str] | None,
        typer.Option(help="A package of this environment that candidates may import; may be repeated.", metavar="NAME"),
    ] = None,
    no_types: Annotated[bool, typer.Option("--no-types", help="Let inputs leave the annotated types.")] = False,
    validity: Annotated[
        Literal["quorum", "all"],
        typer.Option(help="Inputs kept: those on which at least half of the candidates that load return, or all."),
    ] = "quorum",
    equality: Annotated[
        Equality,
        typer.Option(help="Outcome comparison: by value, strict (types count), or paper (numbers within 0.1 % agree)."),
    ] = Equality.VALUE,
    tolerance: Annotated[
        float, typer.Option(min=0, help="By value, floats agree that differ by at most this share of the larger.")
    ] = 1e-9,
    message: Annotated[bool, typer.Option("--message", help="Compare the messages of exceptions, too.")] = False,
    output: Annotated[Path | None, typer.Option(help="Write the consensus program here.", metavar="FILE")] = None,
    pin: Annotated[
        list[str] | None,
        typer.Option(help='Write what is right into the docstring: "f(1) == 2", or the number of the right behaviour.'),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
    allow_weak_sandbox: WeakOption = False,
) -> None:
    """See where several implementations of a function disagree, without knowing what is right.

    The docstring's examples run first, then random inputs. Types, domain and examples come from the parsed file.

    Exit status: 0 coherent, 1 incoherent or a disagreement found, 2 wrong usage, 3 could not decide.
    """
    from difftrust_core.checks.pin import as_it_was

    if candidates is not None and model:
        raise WrongUsage("expected either --candidates or --model, got both; leave one out")
    if output is not None:
        _refuse_unwritable(output)
    with _undecided_on_failure(), as_it_was(where), patience(_say) as phase:
        chosen, written = _pin_examples(where, pin or [])
        if candidates is None and not model:
            if written and chosen is None:
                for line in written:
                    _say(line)
                return
            raise WrongUsage("expected --model or --candidates, got neither; name an LLM, or a folder of programs")
        known: dict[str, Any] = {
            "examples": example or [],
            "assume": assume or [],
            "typed": not no_types,
            "seed": seed,
            "allow_imports": allow_import or [],
        }
        suggestion, notes = None, list[str]()
        from difftrust_core.checks.source.function import load_stub
        from difftrust_core.datasets.recorded.folder import candidates_of

        if candidates is not None:
            codes = _codes(candidates)
            stub = load_stub(where, candidates=tuple(codes.values()), needs_docstring=False, **known)
            found = candidates_of(codes, stub.task)
        else:
            phase(f"asking {', '.join(model or ())}")
            from difftrust_core.checks.sampling import SamplingRequest  # loads polars

            request = SamplingRequest(
                models=tuple(model or ()), m=m, temperature=temperature, api_base=api_base, max_usd=max_usd
            )
            stub, found, suggestion, notes = _sampled(where, known, store, request)
        from difftrust_core.checks.check import check as run
        from difftrust_core.checks.options import CheckOptions  # late, so that a refusal comes soon

        options = CheckOptions.of(
            stub,
            subject=f"these {len(found)} programs" if candidates else "",
            n=n,
            seed=seed,
            witnesses=witnesses,
            equality=equality,
            tolerance=tolerance,
            messages=message,
            validity=validity,
            suggestion=suggestion,
            allow_weak=allow_weak_sandbox,
            say=_say,
            phase=phase,
        )
        report = run(stub.task, found, options)
        report = replace(report, notes=(*stub.notes, *notes, *report.notes))
        _show(report, where, json_wanted=as_json, output=output)
        if chosen is not None:
            written += _pin_behaviour(where, report, chosen)
        for line in written:
            _say(line)
    raise typer.Exit(_STATUS[report.verdict])


def _refuse_unwritable(file: Path) -> None:
    """Raise WrongUsage where the consensus could not be written, before anything runs."""
    folder = file.absolute().parent
    why = "it is a folder" if file.is_dir() else "" if folder.is_dir() else f"{folder} is no folder"
    if not why and not os.access(file if file.exists() else folder, os.W_OK):
        why = "no permission"
    if why:
        raise WrongUsage(f"expected a file to write the consensus to, {file} cannot be written: {why}; change --output")


def _codes(folder: Path) -> dict[str, str]:
    from difftrust_core.datasets.recorded.folder import read_folder

    try:
        return read_folder(folder)
    except BadSource as e:
        raise WrongUsage(str(e)) from None


def _sampled(
    where: str, known: dict[str, Any], store: Path, request: "SamplingRequest"
) -> "tuple[Stub, list[Candidate], Suggestion | None, list[str]]":
    """Ask the models for programs, and the first one for calls and conditions; return what has to be said, too.

    Raises WrongUsage where the store cannot be written.
    """
    from difftrust_core.checks.report import Suggestion
    from difftrust_core.checks.sampling import ask_about, sample_candidates
    from difftrust_core.checks.source.function import load_stub, refused_examples

    stub, notes = load_stub(where, **known), list[str]()
    try:
        found = sample_candidates(store, stub.task, request, say=_say, note=notes.append)
        suggested = ask_about(
            store, stub.task, request.models[0], api_base=request.api_base, max_usd=request.max_usd, say=_say
        )
    except (OSError, NoStore) as e:
        raise WrongUsage(f"expected a folder for replies, {store} cannot be written: {e}; change --store") from None
    refused = refused_examples(where, suggested.calls)
    notes += [f"a call in {suggested.path} is not used: {why}" for why in refused.values()]
    calls = [text for text in suggested.calls if text not in refused]
    codes = tuple(candidate.code for candidate in found)
    stub = load_stub(where, **(known | {"examples": [*known["examples"], *calls], "candidates": codes}))
    own = stub.task.domain.requires if stub.task.domain is not None else ""
    conditions = tuple(text for text in suggested.conditions if f"({text})" not in own)
    by = Suggestion(by=request.models[0], where=str(suggested.path), conditions=conditions)
    return stub, found, by if conditions else None, notes


@contextmanager
def _undecided_on_failure() -> Iterator[None]:
    """Let failures end with status 3, since 1 says incoherent."""
    try:
        yield
    except DifftrustError as e:
        if e.exit_status == 1:
            e.exit_status = UNDECIDED
        raise
    except (typer.Exit, typer.Abort, typer.TyperException):
        raise
    except Exception as e:  # a fault of ours decides nothing about the candidates
        import traceback

        for line in traceback.format_exc().splitlines():
            _say(line)
        _say(f"difftrust: the check itself failed ({type(e).__name__}) and decided nothing; please report these lines")
        raise typer.Exit(UNDECIDED) from None


def _say(line: str) -> None:
    typer.echo(printable(line), err=True)


def _show(report: "CheckReport", where: str, *, json_wanted: bool, output: Path | None) -> None:
    from difftrust_core.report.check_text import json_of, text_of

    typer.echo(json_of(report) if json_wanted else text_of(report, where))
    if output is None:
        return
    if report.consensus is None:
        _say(f"no consensus, so {output} is not written: every candidate fails or contradicts an example; sample more")
        return
    try:
        output.write_text(report.consensus, encoding="utf-8", errors="surrogatepass")
    except OSError as e:
        raise WrongUsage(f"expected a file to write to, {output} cannot be written: {e.strerror or e}") from None
    _say(f"consensus written to {output}")


def _pin_examples(where: str, pins: list[str]) -> tuple[int | None, list[str]]:
    """Write the examples among ``pins``; return the number of the behaviour chosen, if any, and what to say of them."""
    if not pins:
        return None, []
    from difftrust_core.checks.pin import parse_pin, pin_example

    numbers = [int(text) for text in pins if text.isascii() and text.isdigit()]
    if len(numbers) > 1:
        raise WrongUsage(f"expected one behaviour to be right, got {len(numbers)}; pin single examples instead")
    function = where.rpartition("::")[2]
    parsed = [(text, parse_pin(text, function)) for text in pins if not text.isdigit()]
    said = [f"{'written' if pin_example(where, pin) else 'there already'}: {text}" for text, pin in parsed]
    return (numbers[0] if numbers else None), said


def _pin_behaviour(where: str, report: "CheckReport", number: int) -> list[str]:
    """Write what the chosen behaviour does on each input shown; return what to say of it."""
    from difftrust_core.checks.pin import parse_pin, pin_example
    from difftrust_core.report.check_text import as_json, pins_of, shown_disagreements

    function, whole = report.task.entry_point, as_json(report)
    pins = []
    for found in shown_disagreements(whole):
        if number in (found["first"], found["second"]):
            pins.append(pins_of(found, whole)[0 if number == found["first"] else 1])
    sound = [text for text in dict.fromkeys(pins) if text is not None]
    if not sound:
        raise WrongUsage(
            f"expected the number of a behaviour that differs on an input shown, that contradicts no example and whose "
            f"result {where} can spell, got {number}"
        )
    return [
        f"{'written' if pin_example(where, parse_pin(text, function)) else 'there already'}: {text}" for text in sound
    ]
