"""What was judged, kept under a digest of all that it rests on, so that the same command goes on where it stopped."""

import ast
import contextlib
import hashlib
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import fields
from importlib import metadata
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from difftrust import __version__
from difftrust.check.options import CheckOptions, PreparedCheck
from difftrust.types.argument_types import ArgumentTypes
from difftrust_core.base.files import write_whole
from difftrust_core.exceptions import BadStore

MOST = 10_000
"""Judgements that are kept; the oldest half of more is removed."""
_NOT_THE_RESULT = frozenset(
    (
        *("say", "phase", "allow_weak", "task", "types", "notes", "candidates", "with_body"),
        *("models", "m", "temperature", "store", "api_base", "max_usd"),
    )
)
"""Of the options, and of the function: the candidates and the task stand there themselves."""


class KeptVerdicts:
    """Judgements by digest, a small file each; what cannot be written is judged again next time.

    They lie in ``judged`` below the environment variable DIFFTRUST_CACHE, or below the user's cache folder: outside of
    what is checked, whose author could else write the verdict along with the code.
    """

    def __init__(self, folder: Path | None = None):
        self._folder = folder or _usual_folder()
        self._remove_old()

    def find(self, digest: str) -> dict[str, Any] | None:
        """Return what is kept under ``digest``; None where nothing is, or it cannot be read."""
        try:
            found = json.loads((self._folder / f"{digest}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def keep(self, digest: str, judged: Mapping[str, Any]) -> None:
        """Write a judgement, whole or not at all."""
        with contextlib.suppress(OSError, BadStore):
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._folder / f"{digest}.json", json.dumps(judged, indent=1))

    def _remove_old(self) -> None:
        with contextlib.suppress(OSError):
            there = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
            for path in there[: len(there) // 2] if len(there) > MOST else []:
                path.unlink(missing_ok=True)


def _usual_folder() -> Path:
    own = os.environ.get("DIFFTRUST_CACHE")
    return (Path(own) if own else user_cache_path("difftrust")) / "judged"


def digest_of(kind: str, *parts: Any) -> str:
    """Return a digest of ``parts``, of this version of difftrust and of this Python."""
    whole = json.dumps([kind, __version__, platform.python_version(), *parts], sort_keys=True, default=repr)
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def digest_of_check(where: str, prepared: PreparedCheck) -> str:
    """Return a digest of all that a check of ``module.py::function`` rests on.

    That is the file, what was found of the function in its package and tests, the candidates, the options, and the
    packages that candidates may import.
    """
    function, options = prepared.function, prepared.options
    chosen = {f.name: getattr(options, f.name) for f in fields(CheckOptions) if f.name not in _NOT_THE_RESULT}
    found = {f.name: getattr(function, f.name) for f in fields(function) if f.name not in _NOT_THE_RESULT}
    return digest_of(
        "check",
        where,
        hashlib.blake2b(Path(where.rpartition("::")[0]).read_bytes(), digest_size=16).hexdigest(),
        repr(function.task),
        [(candidate.model, candidate.sample_index, candidate.code) for candidate in prepared.candidates],
        {name: _stable(value) for name, value in (chosen | found).items()},
        [repr(value) for value in (prepared.subject, prepared.own, prepared.suggestion)],
        _types(function.types),
        {name: _version(name) for name in function.libraries},
    )


def _stable(value: Any) -> str:
    return repr(sorted(map(repr, value)) if isinstance(value, set | frozenset) else value)


def _types(types: ArgumentTypes | None) -> list[str] | None:
    if types is None:
        return None
    return [f"{p.name}: {ast.unparse(p.annotation) if p.annotation else ''}" for p in types.parameters]


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
