"""`difftrust check`: see where several implementations of a function disagree."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from difftrust_core.base.text import printable
from difftrust_core.cli.coercion import QuickCommand
from difftrust_core.cli.options import WeakOption, store_folder
from difftrust_core.exceptions import BadSource, DifftrustError, NoStore, WrongUsage
from difftrust_core.metrics.equality import Equality

if TYPE_CHECKING:
    from difftrust_core.base.records import Candidate
    from difftrust_core.checks.function import Stub
    from difftrust_core.checks.report import CheckReport

commands = typer.Typer()
UNDECIDED = 3
_STATUS = {"coherent": 0, "incoherent": 1, "disagreement found": 1, "undecided": UNDECIDED}


@commands.command(
    epilog="""\b
Examples:
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
    if candidates is not None and model:
        raise WrongUsage("expected either --candidates or --model, got both; leave one out")
    with _undecided_on_failure():
        chosen, written = _pin_examples(where, pin or [])
        if candidates is None and not model:
            if written:
                return
            raise WrongUsage("expected --model or --candidates, got neither; name an LLM, or a folder of programs")
        known: dict[str, Any] = {
            "examples": example or [],
            "assume": assume or [],
            "typed": not no_types,
            "seed": seed,
            "allow_imports": allow_import or [],
        }
        from difftrust_core.checks.function import load_stub
        from difftrust_core.datasets.recorded.folder import candidates_of

        if candidates is not None:
            codes = _codes(candidates)
            stub = load_stub(where, candidates=tuple(codes.values()), needs_docstring=False, **known)
            found, notes = candidates_of(codes, stub.task), list[str]()
        else:
            asked = {"models": tuple(model or ()), "m": m, "temperature": temperature}
            stub, found, notes = _sampled(where, known, store, asked | {"api_base": api_base, "max_usd": max_usd})
        from difftrust_core.checks.check import CheckOptions  # late, so that a refusal comes soon
        from difftrust_core.checks.check import check as run

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
            allow_weak=allow_weak_sandbox,
            say=_say,
        )
        report = run(stub.task, found, options)
        report = replace(report, notes=(*stub.notes, *notes, *report.notes))
        _show(report, where, json_wanted=as_json, output=output)
        if chosen is not None:
            _pin_behaviour(where, report, chosen)
    raise typer.Exit(_STATUS[report.verdict])


def _codes(folder: Path) -> dict[str, str]:
    from difftrust_core.datasets.recorded.folder import read_folder

    try:
        return read_folder(folder)
    except BadSource as e:
        raise WrongUsage(str(e)) from None


def _sampled(
    where: str, known: dict[str, Any], store: Path, asked: dict[str, Any]
) -> "tuple[Stub, list[Candidate], list[str]]":
    """Ask the models for programs, and the first one for calls and preconditions; return what has to be said, too.

    Raises WrongUsage where the store cannot be written.
    """
    from difftrust_core.checks.function import load_stub
    from difftrust_core.checks.sampling import SamplingRequest, ask_about, sample_candidates

    request = SamplingRequest(**asked)
    stub, notes = load_stub(where, **known), list[str]()
    try:
        found = sample_candidates(store, stub.task, request, say=_say, note=notes.append)
        suggested = ask_about(
            store, stub.task, request.models[0], api_base=request.api_base, max_usd=request.max_usd, say=_say
        )
    except (OSError, NoStore) as e:
        raise WrongUsage(f"expected a folder for replies, {store} cannot be written: {e}; change --store") from None
    more = {
        "examples": [*known["examples"], *suggested.calls],
        "assume": [*known["assume"], *suggested.conditions],
        "candidates": tuple(candidate.code for candidate in found),
    }
    notes += [f"assumed, as {request.models[0]} suggests: {text}" for text in suggested.conditions]
    try:
        return load_stub(where, **(known | more)), found, notes
    except WrongUsage as e:
        _say(f"suggestions of {suggested.path} are not used: {e}")
        return stub, found, []


@contextmanager
def _undecided_on_failure() -> Iterator[None]:
    """Let failures end with status 3, since 1 says incoherent."""
    try:
        yield
    except DifftrustError as e:
        if e.exit_status == 1:
            e.exit_status = UNDECIDED
        raise


def _say(line: str) -> None:
    typer.echo(printable(line), err=True)


def _show(report: "CheckReport", where: str, *, json_wanted: bool, output: Path | None) -> None:
    from difftrust_core.report.check_text import json_of, text_of

    typer.echo(json_of(report) if json_wanted else text_of(report, where))
    if output is None:
        return
    if report.consensus is None:
        raise DifftrustError(f"expected a program that works to write to {output}, found none; sample more")
    try:
        output.write_text(report.consensus, encoding="utf-8", errors="surrogatepass")
    except OSError as e:
        raise WrongUsage(f"expected a file to write to, {output} cannot be written: {e.strerror or e}") from None
    _say(f"consensus written to {output}")


def _pin_examples(where: str, pins: list[str]) -> tuple[int | None, bool]:
    """Write the examples among ``pins``; return the number of the behaviour chosen, if any, and whether some were."""
    if not pins:
        return None, False
    from difftrust_core.checks.pin import parse_pin, pin_example

    numbers = [int(text) for text in pins if text.isascii() and text.isdigit()]
    if len(numbers) > 1:
        raise WrongUsage(f"expected one behaviour to be right, got {len(numbers)}; pin single examples instead")
    function = where.rpartition("::")[2]
    parsed = [parse_pin(text, function) for text in pins if not text.isdigit()]
    for pin in parsed:
        _say(f"{'written' if pin_example(where, pin) else 'there already'}: {pin.source} is {pin.want or None}")
    return (numbers[0] if numbers else None), bool(parsed) and not numbers


def _pin_behaviour(where: str, report: "CheckReport", number: int) -> None:
    """Write what the chosen behaviour does on each input shown."""
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
    for text in sound:
        _say(f"{'written' if pin_example(where, parse_pin(text, function)) else 'there already'}: {text}")
