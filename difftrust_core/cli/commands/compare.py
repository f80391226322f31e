"""`difftrust compare`: print every structural score of two programs."""

from pathlib import Path
from typing import Annotated

import typer

from difftrust_core.cli.options import (
    BaseOption,
    DropCommentsOption,
    EpsilonOption,
    Format,
    FormatOption,
    LanguageOption,
    LogBase,
    MaxDepthOption,
    NamedOnlyOption,
    NoValueGapsOption,
    SubtreeDepthOption,
    require_structure,
)
from difftrust_core.exceptions import WrongUsage

commands = typer.Typer()


@commands.command(epilog="Example: difftrust compare a.py b.py")
def compare(
    first: Annotated[Path, typer.Argument(help="A program.")],
    second: Annotated[Path, typer.Argument(help="Another.")],
    language: LanguageOption = None,
    epsilon: EpsilonOption = 1e-10,
    base: BaseOption = LogBase.TWO,
    subtree_depth: SubtreeDepthOption = 1,
    max_depth: MaxDepthOption = None,
    drop_comments: DropCommentsOption = False,
    named_only: NamedOnlyOption = False,
    no_value_gaps: NoValueGapsOption = False,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Print every score of two programs, in both directions; 1 is alike. Neither is run."""
    require_structure()
    from difftrust_core.languages.language import language_names
    from difftrust_core.metrics.structure.compare import compare_two
    from difftrust_core.metrics.structure.options import Options
    from difftrust_core.report.render import render

    suffix = first.suffix[1:]  # `.sql`; that of Python, the default, is not its name
    named = language or (suffix if first.suffix == second.suffix and suffix in language_names() else Options.language)
    options = Options(
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


def _text(path: Path) -> str:
    from difftrust_core.metrics.structure.trees import MAX_BYTES

    try:
        data = path.read_bytes()
    except OSError as e:
        raise WrongUsage(f"expected a readable file, {path} is none: {e.strerror or e}") from None
    if len(data) > MAX_BYTES:
        raise WrongUsage(f"expected at most {MAX_BYTES:,} bytes, {path} has {len(data):,}; compare smaller files")
    return data.decode("utf-8", "replace")
