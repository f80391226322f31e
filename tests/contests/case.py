"""The cases of this folder, ``cases/*.toml``: a task, its tests, and programs of which the truth is known."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program and what is known of it."""

    name: str
    right: bool
    code: str
    found: str = ""
    """Of a wrong one: ``tests`` if a test fails, ``fuzz`` if only further inputs show it."""
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class ContestCase:
    """A task with its tests and programs."""

    name: str
    layout: str
    description: str
    inputs: tuple[str, ...]
    """What stands on standard input, or a JSON list of arguments."""
    outputs: tuple[Any, ...]
    """What one right program prints or returns."""
    programs: tuple[Program, ...]
    public: int = 1
    starter: str = ""
    function: str = ""
    """Empty: the programs read standard input."""
    relation: dict[str, Any] = field(default_factory=dict)


def load_cases() -> list[ContestCase]:
    """Return all cases by name."""
    return [_case(path) for path in sorted(CASES.glob("*.toml"))]


def _case(path: Path) -> ContestCase:
    fields = tomllib.loads(path.read_text())
    programs = tuple(Program(**{**p, "code": p["code"].lstrip("\n")}) for p in fields.pop("program"))
    fields["starter"] = fields.get("starter", "").removeprefix("\n")
    fields["description"] = fields["description"].strip()
    return ContestCase(
        name=path.stem,
        programs=programs,
        **{name: tuple(value) if type(value) is list else value for name, value in fields.items()},
    )
