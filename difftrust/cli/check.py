"""The commands that ask about functions: check and, for agents, mcp."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from difftrust.cli.coercion import QuickCommand
from difftrust.cli.shared_options import (
    AllowImportOption,
    ApiBaseOption,
    AssumeOption,
    EqualOption,
    FindingsOption,
    MaxUsdOption,
    MessageOption,
    SamplingOption,
    SeedOption,
    TestsOption,
    ToleranceOption,
    WeakOption,
    folder_option,
    name_option,
)
from difftrust_core.base.records import Equality
from difftrust_core.exceptions import WrongUsage

commands = typer.Typer()


@commands.command(
    epilog="""\b
Example:
  difftrust check shapes.py::area --candidates DIR
  difftrust check shapes.py::area --candidates DIR --assume "width >= 0"
  difftrust check shapes.py::area --model gpt-4o --example "area(2, 3) == 6"
  difftrust check shapes.py::area --model gpt-4o --with-body
  difftrust check shapes.py src/ --candidates DIR        (DIR/area/*.py, DIR/Box.add/*.py)
  difftrust check src/ --changed-since main --model gpt-4o --with-body
""",
    cls=QuickCommand,
)
def check(
    where: Annotated[
        list[str] | None,
        typer.Argument(
            help="What to check: module.py::function, module.py::Class.method; or several: a file, a folder, "
            "module.py::Class, more than one of these.",
            metavar="WHAT...",
        ),
    ] = None,
    models: Annotated[
        list[str] | None,
        name_option("--model", help="Sample from this LLM; may be repeated."),
    ] = None,
    m: Annotated[int, typer.Option("-m", min=2, help="Programs to sample, over all models.")] = 10,
    temperature: SamplingOption = 0.6,
    store: Annotated[
        Path,
        folder_option("--store", help="Where replies are kept; none is paid for twice."),
    ] = Path("difftrust-check"),
    api_base: ApiBaseOption = None,
    max_usd: MaxUsdOption = None,
    candidates: Annotated[
        Path | None,
        typer.Option(
            help="Folder of candidates, each *.py one; no LLM is asked. For several functions DIR/FUNCTION/*.py, "
            "DIR/Class.method/*.py, or DIR/MODULE.FUNCTION/*.py.",
            metavar="DIR",
        ),
    ] = None,
    with_body: Annotated[
        bool,
        typer.Option("--with-body", help="The function's own body is one more candidate; the report starts with it."),
    ] = False,
    changed_since: Annotated[
        str | None, typer.Option(help="Only functions that changed since this git revision.", metavar="REV")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Several functions: check again those that were checked before.")
    ] = False,
    n: Annotated[int, typer.Option("-n", min=1, help="Fuzzed inputs.")] = 1000,
    seed: SeedOption = 0,
    witnesses: Annotated[
        int,
        typer.Option(
            min=0,
            help="At most so many seed inputs run unchanged too, and differences are sought; 0: neither.",
        ),
    ] = 100,
    examples: Annotated[
        list[str] | None,
        typer.Option(
            "--example",
            help='What is right, "f(1) == 2" or "f([]) raises ValueError", or a call alone; may be repeated.',
        ),
    ] = None,
    assume: AssumeOption = None,
    allow_imports: AllowImportOption = None,
    no_types: Annotated[bool, typer.Option("--no-types", help="Let inputs leave the annotated types.")] = False,
    validity: Annotated[
        Literal["quorum", "all"],
        typer.Option(
            "--inputs", help="The inputs counted: those on which at least half of the candidates return, or all."
        ),
    ] = "quorum",
    equality: EqualOption = Equality.VALUE,
    tolerance: ToleranceOption = 1e-9,
    messages: MessageOption = False,
    output: Annotated[
        Path | None, typer.Option("--out", help="Write the consensus program here.", metavar="FILE")
    ] = None,
    pins: Annotated[
        list[str] | None,
        typer.Option(
            "--pin",
            help='Write what is right into the docstring: "f(1) == 2", the number of the right behaviour, or answers.',
        ),
    ] = None,
    ask: Annotated[
        bool,
        typer.Option("--ask", help="Then ask about up to five inputs which result is right; wrong programs drop out."),
    ] = False,
    write_tests: TestsOption = None,
    style: FindingsOption = "text",
    allow_weak: WeakOption = False,
) -> None:
    """Show the inputs on which several implementations of a function disagree; no reference is needed.

    The docstring's examples run first, then random inputs. Types, domain and examples come from the parsed file.
    Of several functions, tests and private ones are left out; verdicts are kept in the user's cache folder until
    the code or an option changes, so a command that was stopped goes on.

    Exit status: 0 coherent, 1 incoherent or a disagreement found, 2 wrong usage, 3 could not decide. Of several: 1 if
    any is incoherent, else 3 if any is undecided or cannot be checked, else 0.
    """
    given = locals()
    from difftrust.cli.judgement import CheckRequest, check_one
    from difftrust.source.target import is_several

    if candidates is not None and models:
        raise WrongUsage("expected either --candidates or --model, got both; leave one out")
    request = CheckRequest.of(given, typed=not no_types, style=style)
    what = where or []
    if len(what) == 1 and changed_since is None and not is_several(what[0]):
        raise typer.Exit(check_one(what[0], request))
    if ask or write_tests is not None:
        raise WrongUsage(f"expected one function with --ask and --write-tests, got {' '.join(what)}; name one")
    if not what and changed_since is None:
        raise WrongUsage("expected what to check, got nothing; name module.py::function, a file or a folder")
    from difftrust.cli.check_many import check_many  # with its progress bar

    raise typer.Exit(check_many(what, request, since=changed_since or "", again=again))


@commands.command(epilog="Example: difftrust mcp --max-usd 1")
def mcp(
    max_usd: Annotated[
        float | None,
        typer.Option(min=0, help="What sampling from LLMs may cost while the server runs; without it, none is asked."),
    ] = None,
) -> None:
    """Answer agents over standard input and output: check, diff, ask_next and pin (docs/agents.md).

    It reads and writes only files below the folder that it is started in.
    """
    from difftrust_core.base.plugins import require

    require("mcp.server", extra="mcp", purpose="a server for agents")
    from difftrust.agents.server import make_server

    make_server(max_usd=max_usd).run("stdio")
