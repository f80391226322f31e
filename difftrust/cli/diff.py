"""`difftrust diff`: the smallest inputs on which two versions of a function behave differently."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from difftrust.cli.coercion import QuickCommand
from difftrust.cli.printing import patience
from difftrust.cli.shared_options import (
    AllowImportOption,
    AssumeOption,
    EqualOption,
    FindingsOption,
    MessageOption,
    SeedOption,
    TestsOption,
    ToleranceOption,
    WeakOption,
)
from difftrust_core.base.records import Equality
from difftrust_core.exceptions import WrongUsage

if TYPE_CHECKING:
    from difftrust.diff.comparison import DiffOptions, DiffReport

commands = typer.Typer()


@commands.command(
    epilog="""\b
Example:
  difftrust diff old.py::area new.py::area
  difftrust diff HEAD~1:shapes.py::area shapes.py::area --expect "area(0) == 0"
  difftrust diff HEAD~1:shapes.py::area            (with the working tree)
  difftrust diff HEAD~1 -- shapes/
  difftrust diff v1.0..v1.1 src/ --format markdown
""",
    cls=QuickCommand,
)
def diff(
    what: Annotated[
        list[str],
        typer.Argument(
            help="OLD NEW, each file.py::function or REV:file.py::function; or one or two revisions and paths.",
            metavar="OLD [NEW] [PATHS]",
        ),
    ],
    expect: Annotated[
        list[str] | None,
        typer.Option(help='What the new version shall do, "f(1) == 2" or "f([]) raises ValueError"; may be repeated.'),
    ] = None,
    n: Annotated[
        int, typer.Option("-n", min=1, help="Random inputs, in addition to those made for the changed lines.")
    ] = 600,
    seed: SeedOption = 0,
    examples: Annotated[
        list[str] | None, typer.Option("--example", help='A call to start from, "f(1)"; may be repeated.')
    ] = None,
    assume: AssumeOption = None,
    allow_imports: AllowImportOption = None,
    equality: EqualOption = Equality.VALUE,
    tolerance: ToleranceOption = 1e-9,
    messages: MessageOption = False,
    write_tests: TestsOption = None,
    style: FindingsOption = "text",
    again: Annotated[
        bool, typer.Option("--again", help="Between revisions: compare again what was compared before.")
    ] = False,
    allow_weak: WeakOption = False,
) -> None:
    """Find inputs on which two versions of a function differ: value, exception, changed argument, printed text.

    Neither docstring nor annotation is needed. Inputs come from calls in both packages and their tests, examples,
    types, use, and constants in the lines that differ.

    Exit status: 0 unchanged or changed as expected, 1 changed, 2 wrong usage, 3 undecided. Of several: 1 if any
    changed, else 3 if any is undecided or cannot be compared, else 0.
    """
    given = locals()
    from difftrust.cli.judgement import say, show, undecided_on_failure, write_what_is_right
    from difftrust.diff.comparison import DiffOptions
    from difftrust.outputs.findings import exit_status_of, finding_of_diff

    options = DiffOptions.of(given, say=say)
    if not any("::" in word for word in what[:2]):
        from difftrust.cli.changes import diff_changes, read_words

        if write_tests is not None:
            raise WrongUsage(f"expected one function with --write-tests, got {' '.join(what)}; name OLD::f NEW::f")
        raise typer.Exit(diff_changes(read_words(what), options, style=style, again=again))
    from difftrust.diff.revisions import split_where

    with undecided_on_failure(), patience(say) as phase:
        report = _one(what, replace(options, phase=phase))
        finding = finding_of_diff(report)
        show(report, finding, style)
        if report.failed_expectations and write_tests is not None:
            say(f"an expectation fails, so {write_tests} is not written")
        elif write_tests is not None:
            now = "".join(split_where(what[-1])[1:])  # tests import the function from the working tree
            for line in write_what_is_right(write_tests, now, options.expect):
                say(line)
    raise typer.Exit(exit_status_of([finding]))


def _one(what: list[str], options: "DiffOptions") -> "DiffReport":
    from difftrust.diff.diff import diff as run
    from difftrust.diff.revisions import resolve_where, split_where
    from difftrust.diff.version import load_version

    if len(what) == 1 and split_where(what[0])[0]:
        what = [what[0], "".join(split_where(what[0])[1:])]
    if len(what) != 2 or not all("::" in word for word in what):
        raise WrongUsage(f"expected OLD NEW, two functions such as old.py::f new.py::f, got {' '.join(what)}")
    with ExitStack() as stack:
        old, new = (load_version(stack.enter_context(resolve_where(word))) for word in what)
        report = run(old, new, options)
    path = split_where(what[1])[1]
    return replace(report, old=what[0], new=what[1], path=str(Path(path)))
