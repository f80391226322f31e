"""Which calls two versions both take, and which only one of them does."""

import ast
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from difftrust_core.checks.source.target import Target
from difftrust_core.exceptions import BadStub
from difftrust_core.languages.python.argument_types import Parameter


@dataclass(frozen=True, kw_only=True)
class Signature:
    """Parameters that inputs are drawn for; ``note``: what sets such inputs apart, "" for those that both take."""

    parameters: tuple[Parameter, ...]
    note: str = ""


def parameters_of(target: Target) -> tuple[Parameter, ...]:
    """Return what a call takes, nothing for a function without parameters."""
    with suppress(BadStub):
        return tuple(target.parameters())
    return ()


def signatures(old: Target, new: Target) -> list[Signature]:
    """Return the parameters that both versions have, then those of each version that has others besides."""
    before, after = parameters_of(old), parameters_of(new)
    common = _common(before, after)
    found, names = [Signature(parameters=common)], renamed(old, new)
    for own, other, which in ((after, before, "old"), (before, after, "new")):
        known = {parameter.name for parameter in (*common, *other)} | {name for pair in names for name in pair}
        extra = [parameter.name for parameter in own if parameter.name not in known]
        if extra:
            note = f"it gives {', '.join(extra)}, which the {which} version does not take"
            found.append(Signature(parameters=own, note=note))
    return found


def _common(before: Sequence[Parameter], after: Sequence[Parameter]) -> tuple[Parameter, ...]:
    old_places, new_places = _positional(before), _positional(after)
    old_names, new_names = {p.name: p for p in before}, {p.name: p for p in after}
    found: list[Parameter] = []
    aligned = 0
    for one, other in zip(old_places, new_places, strict=False):
        renamed = one.name not in new_names and other.name not in old_names
        if one.name != other.name and not renamed:
            break
        found.append(_both(one, other))
        aligned += 1
    if aligned == len(old_places) == len(new_places):
        found += [
            p for p in after if p.variadic and not p.keyword and any(q.variadic and not q.keyword for q in before)
        ]
    taken = {p.name for p in (*old_places[:aligned], *new_places[:aligned])}
    for name, parameter in new_names.items():
        partner = old_names.get(name)
        if name in taken or partner is None or parameter.variadic or partner.variadic:
            continue
        found.append(replace(_both(partner, parameter), keyword=True))
    found += [p for p in after if p.variadic and p.keyword and any(q.variadic and q.keyword for q in before)]
    return tuple(found)


def _positional(parameters: Sequence[Parameter]) -> list[Parameter]:
    return [p for p in parameters if not p.keyword and not p.variadic]


def _both(old: Parameter, new: Parameter) -> Parameter:
    """Return a parameter as calls give it that suit both: left out only where both have a default."""
    required = old.required or new.required
    return replace(new, annotation=new.annotation or old.annotation, required=required)


def renamed(old: Target, new: Target) -> list[tuple[str, str]]:
    """Return the positional parameters that changed their names only."""
    before, after = parameters_of(old), parameters_of(new)
    names = {p.name for p in before}, {p.name for p in after}
    pairs = zip(_positional(before), _positional(after), strict=False)
    return [(a.name, b.name) for a, b in pairs if a.name not in names[1] and b.name not in names[0]]


def differing_defaults(old: Target, new: Target) -> list[str]:
    """Return the parameters whose default is another one."""
    before = {p.name: p for p in parameters_of(old)}
    return [
        p.name for p in parameters_of(new) if p.name in before and _text(p.default) != _text(before[p.name].default)
    ]


def _text(node: ast.expr | None) -> str:
    return ast.unparse(node) if node is not None else ""
