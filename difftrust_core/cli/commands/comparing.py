"""Commands that parse programs and run none: structure, compare."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from difftrust_core.cli.options import Format, FormatOption, JobsOption, StoreOption
from difftrust_core.cli.reports import report_comparison, report_import
from difftrust_core.exceptions import WrongUsage

if TYPE_CHECKING:
    from difftrust_core.structure import Options

commands = typer.Typer()


class Base(StrEnum):
    """Of the logarithm in JSD."""

    TWO = "2"
    E = "e"


Language = Annotated[
    str | None, typer.Option(help="python, sql, or an installed grammar such as tree_sitter_java.", metavar="NAME")
]
Epsilon = Annotated[float, typer.Option(help="SCE: what a symbol that a program lacks counts as.")]
BaseOption = Annotated[Base, typer.Option(help="JSD: e compares with the published table.")]
SubtreeDepth = Annotated[int, typer.Option(min=1, help="Levels below a node that its symbol shows.")]
MaxDepth = Annotated[int | None, typer.Option(min=0, help="Only nodes at most this far from the root.")]
DropComments = Annotated[bool, typer.Option("--drop-comments", help="Leave out comments.")]
NamedOnly = Annotated[bool, typer.Option("--named-only", help="Leave out keywords and punctuation.")]
NoValueGaps = Annotated[bool, typer.Option("--no-value-gaps", help="Leave out text beside a string's escapes.")]


@commands.command(epilog="Example: difftrust structure --store DIR -m 10")
def structure(
    store: StoreOption,
    source: Annotated[Path | None, typer.Argument(help="Samples to import first, as `difftrust import` does.")] = None,
    benchmark: Annotated[list[str] | None, typer.Option(help="Only this benchmark; may be repeated.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this model (JSONL: whose samples these are).")] = None,
    temperature: Annotated[list[float] | None, typer.Option(help="Only this temperature (JSONL: theirs).")] = None,
    m: Annotated[int | None, typer.Option("-m", min=1, help="Only the first m candidates of each task.")] = None,
    tsed: Annotated[bool, typer.Option("--tsed", help="Tree edit distances too: ten times slower.")] = False,
    language: Language = None,
    epsilon: Epsilon = 1e-10,
    base: BaseOption = Base.TWO,
    subtree_depth: SubtreeDepth = 1,
    max_depth: MaxDepth = None,
    drop_comments: DropComments = False,
    named_only: NamedOnly = False,
    no_value_gaps: NoValueGaps = False,
    skip_parse_errors: Annotated[
        bool, typer.Option("--skip-parse-errors", help="Leave out programs that do not parse whole.")
    ] = False,
    jobs: JobsOption = 2,
) -> None:
    """Compare the programs of each task in pairs, as texts and as trees; none is run. Resumes where it was stopped."""
    from difftrust_core.pipeline import import_source, selection_of
    from difftrust_core.pipeline.stability import StabilityRequest, compare_store
    from difftrust_core.store import Store

    options = _options(
        epsilon=epsilon,
        base=base.value,
        subtree_depth=subtree_depth,
        max_depth=max_depth,
        drop_comments=drop_comments,
        named_only=named_only,
        value_gaps=not no_value_gaps,
        skip_parse_errors=skip_parse_errors,
        **({} if language is None else {"language": language}),
    )
    chosen = {"benchmarks": benchmark or [], "models": model or [], "temperatures": temperature or []}
    selection = selection_of(**chosen, m=m)  # type: ignore[arg-type]
    if source is not None:
        if len(model or []) != 1 or len(temperature or []) != 1:
            raise WrongUsage(
                f"{source.name} does not say whose samples it holds; give one --model and one --temperature"
            )
        coder = {"model": (model or [""])[0], "temperature": (temperature or [0.0])[0]}
        of_source = selection_of(benchmarks=benchmark or [], m=m)
        report_import(import_source(store, source, of_source, n_jobs=jobs, **coder), store)  # type: ignore[arg-type]
    request = StabilityRequest(options=options, selection=selection, language=language, with_tsed=tsed, n_jobs=jobs)
    report_comparison(compare_store(Store.open(store), request), options.label)


@commands.command(epilog="Example: difftrust compare a.py b.py")
def compare(
    first: Annotated[Path, typer.Argument(help="A program.")],
    second: Annotated[Path, typer.Argument(help="Another.")],
    language: Language = None,
    epsilon: Epsilon = 1e-10,
    base: BaseOption = Base.TWO,
    subtree_depth: SubtreeDepth = 1,
    max_depth: MaxDepth = None,
    drop_comments: DropComments = False,
    named_only: NamedOnly = False,
    no_value_gaps: NoValueGaps = False,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Print every score of two programs, in both directions; 1 is alike. Neither is run."""
    from difftrust_core.cli.rendering import render
    from difftrust_core.structure.report import compare_two

    named = language or ("sql" if first.suffix == second.suffix == ".sql" else "python")
    options = _options(
        language=named,
        epsilon=epsilon,
        base=base.value,
        subtree_depth=subtree_depth,
        max_depth=max_depth,
        drop_comments=drop_comments,
        named_only=named_only,
        value_gaps=not no_value_gaps,
    )
    made = compare_two(_text(first), _text(second), options)
    typer.echo(render(made.frame, format_.value))
    for name, wrong in zip((first, second), made.has_error, strict=True):
        if wrong:
            typer.echo(f"{name} does not parse whole as {named}; its tree holds errors", err=True)


def _options(**chosen: object) -> "Options":
    from difftrust_core.structure import Options

    return Options(**chosen)  # type: ignore[arg-type]


def _text(path: Path) -> str:
    from difftrust_core.structure.trees import MAX_BYTES

    try:
        data = path.read_bytes()
    except OSError as e:
        raise WrongUsage(f"expected a readable file, {path} is none: {e.strerror or e}") from None
    if len(data) > MAX_BYTES:
        raise WrongUsage(f"expected at most {MAX_BYTES:,} bytes, {path} has {len(data):,}; compare smaller files")
    return data.decode("utf-8", "replace")
