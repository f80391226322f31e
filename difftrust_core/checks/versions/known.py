"""What is known of the arguments of two versions: seeds, types, texts; nothing of their files is executed."""

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

from difftrust_core.checks.source.calls import mine_calls
from difftrust_core.checks.source.function import Loading
from difftrust_core.checks.source.target import Function, Target
from difftrust_core.checks.source.usage import named_type, usage_types
from difftrust_core.checks.source.values import Scope
from difftrust_core.checks.versions.bundle import Bundle
from difftrust_core.checks.versions.version import Version
from difftrust_core.languages.python.argument_types import Parameter
from difftrust_core.languages.python.value_types import type_of_values


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two versions with their programs, and the functions as their arguments are read from them."""

    old: Version
    new: Version
    bundles: tuple[Bundle, Bundle]
    targets: tuple[Target, Target]


def target_of(version: Version, bundle: Bundle) -> Target:
    """Return the function in its file, beside it the classes and constants of other modules that it rests on.

    A class's ``__init__`` becomes a function of the class's name. What objects are made of gets types where its
    ``__init__`` has none.
    """
    target = version.target
    others = [s for s in bundle.definitions if s not in bundle.own and not isinstance(s, ast.Import | ast.ImportFrom)]
    body = [_with_types(statement) for statement in (*others, *target.module.body)]
    module = ast.Module(body=body, type_ignores=[])
    if not version.makes or target.owner is None:
        owner = target.owner
        if owner is not None:
            owner = next((s for s in reversed(body) if isinstance(s, ast.ClassDef) and s.name == owner.name), owner)
        return replace(target, module=module, owner=owner)
    made = copy.copy(target.function)
    made.name, made.args = target.owner.name, copy.copy(made.args)
    first = "posonlyargs" if made.args.posonlyargs else "args"
    setattr(made.args, first, getattr(made.args, first)[1:])
    made.decorator_list = []
    return replace(target, module=module, owner=None, function=made)


def _with_types(statement: ast.stmt) -> ast.stmt:
    """Return a class whose ``__init__`` has annotations, guessed where it has none."""
    if not isinstance(statement, ast.ClassDef):
        return statement
    init = next((s for s in statement.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)
    if init is None or all(a.annotation is not None for a in init.args.args[1:] + init.args.kwonlyargs):
        return statement
    made = copy.copy(statement)
    typed = copy.deepcopy(init)
    used = usage_types(init, ())
    defaults = _defaults(init)
    for argument in typed.args.args[1:] + typed.args.kwonlyargs:
        if argument.annotation is None:
            default = defaults.get(argument.arg)
            found = used.get(argument.arg) or _by_default(default) or named_type(argument.arg)
            if found is not None and isinstance(default, ast.Constant) and default.value is None:
                found = ast.BinOp(left=found, op=ast.BitOr(), right=ast.Constant(value=None))
            argument.annotation = found
    made.body = [typed if s is init else s for s in statement.body]
    return made


def _defaults(function: Function) -> dict[str, ast.expr | None]:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = zip([a.arg for a in positional][::-1], arguments.defaults[::-1], strict=False)
    named = zip([a.arg for a in arguments.kwonlyargs], arguments.kw_defaults, strict=True)
    return dict([*pairs, *named])


def _by_default(default: ast.expr | None) -> ast.expr | None:
    try:
        value = ast.literal_eval(default) if default is not None else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return type_of_values([value]) if value is not None else None


def load(pair: Pair, parameters: Sequence[Parameter], examples: Sequence[str]) -> Loading:
    """Return what the files say of the arguments ``parameters``: annotations, docstrings, calls in both trees."""
    old, new = pair.targets
    loading = Loading(new, (pair.old.text, pair.new.text), parameters)
    loading.take_examples(examples)
    loading.take_calls()
    if pair.old.path.resolve() != pair.new.path.resolve():
        loading.add_calls(mine_calls(old, Scope(old)).seeds)
    return loading
