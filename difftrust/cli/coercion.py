"""Read the words of a command line: former names of options, and plain values without pydantic.

Pydantic takes longer to load than most commands take to refuse. Typer reads every value by it, the defaults too. What
is plain is read here to the same effect; all else, and whatever is to be refused, is left to Typer.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from typer.core import TyperCommand, TyperGroup

from difftrust.cli.printing import echo_line
from difftrust_core.exceptions import WrongUsage

_LEFT = object()


class QuickCommand(TyperCommand):
    """A command whose plain values are read at once. With a Typer that works otherwise, as any other command."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments, ``--help`` among them."""
        return _made_quick(super().get_params(ctx))


class QuickGroup(TyperGroup):
    """The same for what stands before the command; behind it, former names are read as the new ones."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments, ``--help`` among them."""
        return _made_quick(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command, its name and its words, every former name among them renewed and reported.

        Raises WrongUsage where an option is repeated that may be with other commands and takes one value with this.
        """
        from difftrust.cli.shared_options import FORMER

        name, command, words = super().resolve_command(ctx, args)
        if command is None or ctx.resilient_parsing:
            return name, command, words
        renewed, notes, used = _renew(words, FORMER.get(str(name), {}), command.params)
        twice = {option for option in used if used.count(option) > 1}
        for each in command.params:
            if not each.multiple and twice.intersection(each.opts) and self._is_repeatable(each.opts[0]):
                raise WrongUsage(f"{each.opts[0]} takes one value with {name}, got several; leave all but one out")
        for note in dict.fromkeys(notes):
            echo_line(f"difftrust: {note}", err=True)
        return name, command, renewed

    def _is_repeatable(self, option: str) -> bool:
        """Tell whether any command takes several values of an option."""
        return any(
            each.multiple for command in self.commands.values() for each in command.params if option in each.opts
        )


def _renew(
    words: Iterable[str], former: dict[str, str], parameters: list[Any]
) -> tuple[list[str], list[str], list[str]]:
    """Return the words with every former name replaced, what to say of each, and the names of all options.

    Values of options stay as they are.
    """
    n_values = {
        name: 0 if parameter.is_flag else parameter.nargs
        for parameter in parameters
        if parameter.param_type_name == "option"
        for name in parameter.opts
    }
    renewed, notes, used, left = list[str](), list[str](), list[str](), list(words)
    while left and left[0] != "--":
        word = left.pop(0)
        name, is_joined, value = word.partition("=") if word.startswith("--") else (word, "", "")
        used.append(former.get(name, name))
        n = n_values.get(used[-1], 0)
        values, left = ([value], left) if is_joined else (left[:n], left[n:])
        spelled = next((key for key in (" ".join([name, *values]), name) if key in former), None)
        if spelled is None:
            renewed += [word] if is_joined else [word, *values]
            continue
        renewed += [*former[spelled].split(), *(values if spelled == name else [])]
        notes.append(f"{spelled} is now {former[spelled]}")
    return [*renewed, *left], notes, used


def _made_quick(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "_runtime_param", _LEFT) is None and hasattr(parameter, "type_descriptor"):
            parameter._runtime_param = _Quick(parameter)
    return parameters


class _Quick:
    """Stands for what Typer makes of a parameter's type, until a value is not plain."""

    def __init__(self, parameter: Any):
        self._parameter = parameter

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of a parameter. Raises what Typer raises for a wrong one."""
        read = self._read(value)
        if read is not _LEFT:
            return read
        self._parameter._runtime_param = None
        return self._parameter.get_runtime_param().coerce(value, param=param, ctx=ctx)

    def _read(self, value: Any) -> Any:
        told = self._parameter.type_descriptor
        info, kind = told.parameter_info, told.annotation
        several = self._parameter.multiple or self._parameter.nargs == -1
        if value is None:
            return () if several else None
        if several:
            plain = kind == list[str] and not info.parser and type(value) in (list, tuple)
            return list(value) if plain and all(type(each) is str for each in value) else _LEFT
        if info.parser is not None:
            from difftrust.cli.shared_options import store_folder

            return info.parser(value) if info.parser is store_folder else _LEFT  # it refuses by itself
        if value in get_args(kind) or (type(value) is kind and (value is self._parameter.default or kind is str)):
            return value
        if type(value) is str and kind is Path and (os.access(value, os.R_OK) or not os.path.exists(value)):
            return Path(value)  # no command asks more of a path than that it can be read if it is there
        return _LEFT
