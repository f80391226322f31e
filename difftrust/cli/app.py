"""The command line as a whole: its commands put together, its exit statuses, its errors in one line."""

import errno
import sys
from collections import UserDict
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from difftrust import __version__
from difftrust.cli.coercion import QuickGroup
from difftrust.cli.commands import COMMANDS
from difftrust.cli.printing import echo, echo_line
from difftrust_core.exceptions import DifftrustError, WrongUsage

_MODULES = {name: module for module, commands in COMMANDS.items() for name in commands}


class _Commands(UserDict[str, Any]):
    """The commands by name; the module of one is loaded when it is asked for."""

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __contains__(self, name: object) -> bool:
        return name in _MODULES

    def __len__(self) -> int:
        return len(_MODULES)

    def __missing__(self, name: str) -> Any:
        if name not in _MODULES:
            raise KeyError(name)
        own = import_module(f"difftrust.cli.{_MODULES[name]}").commands
        own.rich_markup_mode = None
        self.data |= typer.main.get_group(own).commands
        return self.data[name]


class _Root(QuickGroup):
    """All commands."""

    def __init__(self, **told: Any) -> None:
        super().__init__(**told)
        self.commands = _Commands()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        named: dict[str, Any] = {n: TyperCommand(n, help=said) for own in COMMANDS.values() for n, said in own.items()}
        TyperGroup(commands=named).format_commands(ctx, formatter)


app = typer.Typer(
    cls=_Root,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="See where LLM-written programs are wrong, without an oracle. Start with: difftrust demo",
)


@app.callback(invoke_without_command=True)
def _root(
    ctx: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    if version:
        echo(f"difftrust {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        echo(ctx.get_help())


_INTERRUPTED = 130
_OF_PATHS = (errno.ENAMETOOLONG, errno.EACCES)
"""Errors that show wherever a path is first looked at."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit status 0, 1 for failed work, 2 for wrong usage, 130 after Ctrl-C."""
    status = _status(lambda: app(args=arguments, standalone_mode=False))
    if status == _INTERRUPTED:
        echo("\ndifftrust: stopped; what is finished is kept, the same command goes on from there", err=True)
    sys.exit(status)


def _shown(error: DifftrustError) -> str:
    if "difftrust_core.store.mirror" not in sys.modules:  # no URL was asked for
        return str(error)
    from difftrust_core.store.mirror import with_urls

    return with_urls(str(error))


def _status(run: Callable[[], Any]) -> int:
    try:
        code = run()
        return code if isinstance(code, int) else 0
    except typer.Exit as e:
        return e.exit_code
    except DifftrustError as e:
        echo_line(f"difftrust: {_shown(e)}", err=True)
        return e.exit_status
    except (KeyboardInterrupt, typer.Abort):
        return _INTERRUPTED
    except BrokenPipeError:
        return 0
    except OSError as e:
        if e.errno == errno.ENOSPC:
            where = "" if e.filename is None else f" for {e.filename}"
            echo_line(f"difftrust: expected room to write{where}, found: {e.strerror}; make room", err=True)
            return DifftrustError.exit_status
        if e.errno not in _OF_PATHS or e.filename is None:
            raise
        echo_line(
            f"difftrust: expected a path that can be used, found {e.filename}: {e.strerror}; correct it", err=True
        )
        return WrongUsage.exit_status
    except typer.TyperException as e:
        echo_line(f"difftrust: {e.format_message()} (see --help)", err=True)
        return e.exit_code
