"""Where the files that others published lie on this machine, and nothing else."""

import os
from pathlib import Path

from platformdirs import user_cache_path

import difftrust_core
from difftrust_core.exceptions import NoBenchmark

LAYOUT = {
    "humaneval": Path("humaneval/HumanEval.jsonl.gz"),
    "mbpp": Path("mbpp/sanitized-mbpp.json"),
    "bigcodebench": Path("bigcodebench/BigCodeBench.jsonl.gz"),
    "spider": Path("spider/dev_questions.jsonl"),
    "spider-tables": Path("spider/tables.json"),
    "difftrust": Path("difftrust/candidates.parquet"),
}
"""Name for `difftrust fetch` -> place below DIFFTRUST_DATA and, alike, below the cache."""


def cache_root() -> Path:
    """Return the folder that `fetch` installs into, laid out as LAYOUT.

    It is ``benchmarks`` below the environment variable DIFFTRUST_CACHE, or below the user's cache folder.
    """
    override = os.environ.get("DIFFTRUST_CACHE")
    return (Path(override) if override else user_cache_path("difftrust")) / "benchmarks"


def find_file(name: str) -> Path:
    """Return the first file for ``name`` (a key of LAYOUT) below DIFFTRUST_DATA, then below the cache.

    Raises NoBenchmark if neither holds it.
    """
    own = os.environ.get("DIFFTRUST_DATA")
    roots = ([Path(own)] if own else []) + [cache_root()]
    for root in roots:
        if (root / LAYOUT[name]).is_file():
            return root / LAYOUT[name]
    looked = " and ".join(str(root) for root in roots)
    raise NoBenchmark(
        f"no {LAYOUT[name].name} below {looked}; run `difftrust fetch {name}`, "
        f"or set DIFFTRUST_DATA to a folder that holds {LAYOUT[name].as_posix()}"
    )


def find_starter(name: str = "starter") -> Path:
    """Return the folder of starter tasks ``name``: in a wheel inside the package, in a checkout beside it."""
    package = Path(difftrust_core.__file__).parent
    inside, beside = package / "data" / name, package.parent / "data" / name
    folder = inside if inside.is_dir() else beside
    if any(folder.glob("*.toml")):
        return folder
    raise NoBenchmark(f"no starter task (*.toml) in {folder}; install difftrust again")
