"""`difftrust compare`: print every structural score of two programs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from difftrust_core.cli.echo import echo
from difftrust_core.cli.options import Format, FormatOption, LanguageOption, require_structure, with_structural
from difftrust_core.exceptions import WrongUsage

commands = typer.Typer()


@commands.command(epilog="Example: difftrust compare a.py b.py")
@with_structural
def compare(
    first: Annotated[Path, typer.Argument(help="A program.")],
    second: Annotated[Path, typer.Argument(help="Another.")],
    language: LanguageOption = None,
    format_: FormatOption = Format.TABLE,
    *,
    structural: dict[str, Any],
) -> None:
    """Print every score of two programs, in both directions; 1 is alike. Neither is run."""
    require_structure()
    from difftrust_core.languages.language import language_names
    from difftrust_core.metrics.structure.compare import compare_two
    from difftrust_core.metrics.structure.options import Options
    from difftrust_core.report.render import render

    suffix = first.suffix[1:]  # `.sql`; that of Python, the default, is not its name
    named = language or (suffix if first.suffix == second.suffix and suffix in language_names() else Options.language)
    options = Options(language=named, **structural)
    made = compare_two(_text(first), _text(second), options)
    echo(render(made.frame, format_.value))
    for name, wrong in zip((first, second), made.has_error, strict=True):
        if wrong:
            echo(f"{name} does not parse whole as {named}; its tree holds errors", err=True)


def _text(path: Path) -> str:
    from difftrust_core.metrics.structure.trees import MAX_BYTES

    try:
        data = path.read_bytes()
    except OSError as e:
        raise WrongUsage(f"expected a readable file, {path} is none: {e.strerror or e}") from None
    if len(data) > MAX_BYTES:
        raise WrongUsage(f"expected at most {MAX_BYTES:,} bytes, {path} has {len(data):,}; compare smaller files")
    return data.decode("utf-8", "replace")
