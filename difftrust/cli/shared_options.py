"""Options that several commands share, each spelled once."""

from collections.abc import Callable
from functools import partial, wraps
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from difftrust_core.base.records import EQUALITIES, Detection, Equality, Load, References, Validity
from difftrust_core.exceptions import WrongUsage

if TYPE_CHECKING:
    from difftrust_core.datasets.recorded import Selection

FORMER: dict[str, dict[str, str]] = {
    "check": {"--validity": "--inputs", "--output": "--out", "--json": "--format json"},
    "execute": {"--validity": "--inputs"},
    "export": {"--to": "--out"},
    "reproduce": {"--to": "--out"},
    "doctor": {"--json": "--format json"},
    "verify": {"--json": "--format json"},
    "structure": {"--epsilon": "--smoothing"},
    "table": {"--format table": "--format text"},
    "sql": {"--format table": "--format text"},
    "compare": {"--format table": "--format text", "--epsilon": "--smoothing"},
    "plan": {"--format table": "--format text", "--detection": "--find"},
}
"""By command, what options were called, alone or with a value, and what they are called now."""


def utf8_path(path: Path) -> Path:
    """Return a path that polars can read. Raises WrongUsage where a part of it is not UTF-8."""
    whole = str(path.absolute())
    if not whole.isascii() and any("\ud800" <= c <= "\udfff" for c in whole):
        raise WrongUsage(f"expected a path in UTF-8, found {whole}; rename it or name another")
    return path


def store_folder(place: str | Path) -> Path:
    """Return the folder of a store; for a store at a URL that of its local copy, brought up to date."""
    if "://" not in str(place):
        return utf8_path(Path(place))
    from difftrust_core.store.mirror import folder_of

    return folder_of(place)


def stored_equality(name: str) -> Equality:
    """Return the equality ``name`` of those for which stores keep results. Raises typer.BadParameter for another."""
    if name not in EQUALITIES:
        raise typer.BadParameter(f"expected {' or '.join(EQUALITIES)}, got {name!r}")
    return Equality(name)


def select(
    benchmarks: list[str] | None, models: list[str] | None, temperatures: list[float] | None, m: int | None = None
) -> "Selection":
    """Return which candidates the options of a command name."""
    from difftrust_core.datasets.recorded import selection_of

    return selection_of(benchmarks=benchmarks or [], models=models or [], temperatures=temperatures or [], m=m)


def require_structure() -> None:
    """Refuse where the packages that read and compare syntax trees are missing. Raises MissingPackage."""
    from difftrust_core.base.plugins import require

    for module in ("tree_sitter", "tree_sitter_python", "sacrebleu"):
        require(module, extra="structure", purpose="comparing programs as texts and as trees")


folder_option = partial(typer.Option, metavar="DIR", parser=store_folder)
name_option = partial(typer.Option, metavar="NAME")

StoreOption = Annotated[Path, folder_option("--store", help="The folder or URL of the store.")]
StoreOrResultsOption = Annotated[
    Path | None, folder_option("--store", help="The folder or URL of the store. Default: the shipped results.")
]
ResultsOption = Annotated[Path, folder_option("--out", help="The folder or URL of the results store.")]
BenchmarkOption = Annotated[list[str] | None, name_option(help="Only this benchmark; may be repeated.")]
TasksOption = Annotated[
    Path | None,
    typer.Option(
        "--tasks",
        help="Your own tasks: a .toml, .jsonl or .py file, or a folder of these (docs/own_tasks.md).",
        metavar="FILE|DIR",
    ),
]
ModelOption = Annotated[list[str] | None, name_option(help="Only this model; may be repeated.")]
TaskOption = Annotated[list[str] | None, typer.Option(help="Only this task; may be repeated.", metavar="ID")]
TemperatureOption = Annotated[list[float] | None, typer.Option(help="Only this temperature; may be repeated.")]
WhoseModelOption = Annotated[
    list[str] | None,
    name_option(help="Only this model; may be repeated. For JSONL: the model that wrote the samples."),
]
WhoseTemperatureOption = Annotated[
    list[float] | None, typer.Option(help="Only this temperature; may be repeated. For JSONL: that of the samples.")
]
FirstOption = Annotated[int | None, typer.Option("-m", min=1, help="Only the first m candidates of each task.")]
FormatOption = Annotated[
    Literal["text", "csv", "markdown", "latex", "json"],
    typer.Option("--format", help="Output: for people, programs, pages."),
]
PlainFormatOption = Annotated[Literal["text", "json"], typer.Option("--format", help="Output: for people, programs.")]
DetectionOption = Annotated[
    Detection, typer.Option(help="When a task counts as detected: one random pair an input disagrees, or any pair.")
]
EqualityOption = Annotated[
    Equality,
    typer.Option(
        help="Outcome comparison: tolerant (paper: numbers within 0.1 % agree) or strict.",
        parser=stored_equality,
        metavar=f"<{'|'.join(EQUALITIES)}>",
    ),
]
InputsOption = Annotated[
    Validity | None,
    typer.Option(help="The inputs counted: `reference` accepts (as published), `domain` allows. Default: the store's."),
]
ReferencesOption = Annotated[
    References, typer.Option(help="The tasks counted: all, as published, or without those whose reference is at fault.")
]
LoadOption = Annotated[Load, typer.Option(help="strict: a program whose trailing lines fail counts as not loading.")]
MostOption = Annotated[int | None, typer.Option("-m", min=2, help="Only the first m candidates.")]
FirstInputsOption = Annotated[int | None, typer.Option("-n", min=1, help="Only the first n inputs.")]
OneTemperatureOption = Annotated[float | None, typer.Option(help="Only this temperature.")]
NOption = Annotated[int, typer.Option("-n", min=1, help="Inputs a task.")]
CoderSeedOption = Annotated[int, typer.Option(help="Seed of the simulated coders.")]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Worker processes.")]
WeakOption = Annotated[
    bool, typer.Option("--allow-weak-sandbox", help="Execute even where candidates could reach files or network.")
]
FindingsOption = Annotated[
    Literal["text", "json", "junit", "sarif", "github", "markdown"],
    typer.Option("--format", help="Output: for people, programs, test reports, code scanning, GitHub Actions, pages."),
]
EqualOption = Annotated[
    Equality,
    typer.Option(help="Outcome comparison: by value, strict (types count), or paper (numbers within 0.1 % agree)."),
]
ToleranceOption = Annotated[
    float, typer.Option(min=0, help="By value, floats agree that differ by at most this share of the larger.")
]
SamplingOption = Annotated[float, typer.Option(min=0, max=2, help="Sampling temperature.")]
MaxUsdOption = Annotated[
    float | None, typer.Option(min=0, help="Stop before a request that might bring the cost of the samples above this.")
]
ApiBaseOption = Annotated[
    str | None,
    typer.Option(help="Address of an OpenAI-compatible server, for models named openai/...", metavar="URL"),
]
AllowImportOption = Annotated[
    list[str] | None,
    name_option("--allow-import", help="A package of this environment that programs may import; may be repeated."),
]
SeedOption = Annotated[int, typer.Option(help="Seed of the inputs.")]
AssumeOption = Annotated[
    list[str] | None, typer.Option(help='What the arguments obey, "start <= end"; may be repeated.')
]
MessageOption = Annotated[bool, typer.Option("--message", help="Compare the messages of exceptions, too.")]
TestsOption = Annotated[
    Path | None,
    typer.Option("--write-tests", help="Add the confirmed examples to FILE as pytest tests.", metavar="FILE"),
]
LanguageOption = Annotated[
    str | None, name_option(help="python, sql, or an installed grammar such as tree_sitter_java.")
]


def _structural(
    epsilon: Annotated[
        float, typer.Option("--smoothing", help="SCE: what a symbol that a program lacks counts as.")
    ] = 1e-10,
    base: Annotated[Literal["2", "e"], typer.Option(help="JSD: e compares with the published table.")] = "2",
    subtree_depth: Annotated[int, typer.Option(min=1, help="Depth of the subtree in a symbol.")] = 1,
    max_depth: Annotated[int | None, typer.Option(min=0, help="Only nodes at most this far from the root.")] = None,
    drop_comments: Annotated[bool, typer.Option("--drop-comments", help="Leave out comments.")] = False,
    named_only: Annotated[bool, typer.Option("--named-only", help="Leave out keywords and punctuation.")] = False,
    no_value_gaps: Annotated[
        bool, typer.Option("--no-value-gaps", help="Leave out text beside a string's escapes.")
    ] = False,
) -> dict[str, Any]:
    """Return what is chosen, by the names of ``structure.trees.Options``."""
    chosen = locals() | {"value_gaps": not no_value_gaps}
    del chosen["no_value_gaps"]
    return chosen


def with_structural(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a structural comparison behind ``language``; the command gets them as ``structural``."""
    shared, options = signature(_structural).parameters, []
    for name, option in signature(command).parameters.items():
        options += [] if name == "structural" else [option]
        options += shared.values() if name == "language" else []

    @wraps(command)
    def run(**given: Any) -> None:
        command(structural=_structural(**{name: given.pop(name) for name in shared}), **given)

    run.__annotations__ = {option.name: option.annotation for option in options}
    run.__signature__ = Signature(options)  # type: ignore[attr-defined]
    return run
