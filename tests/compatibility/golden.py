"""What today's code says, kept as JSON in ``data/golden``; DIFFTRUST_RECORD=1 writes it anew."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
GOLDEN = DATA / "golden"


def rounded(value: Any) -> Any:
    """Return a JSON value with floats of ten digits, so that another order of summation is no difference."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, dict):
        return {str(key): rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return value


def digest(value: Any) -> str:
    """Return the sha256 of a JSON value, floats rounded."""
    return hashlib.sha256(json.dumps(rounded(value), sort_keys=True).encode()).hexdigest()


def shape(value: Any) -> Any:
    """Return the keys of a JSON value with the types below them; of a list, the shapes of its items, each once.

    What is said of witnesses is left out: it is to be given up.
    """
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items() if "witness" not in key}
    if isinstance(value, list):
        shapes = {json.dumps(shape(each), sort_keys=True) for each in value}
        return [json.loads(each) for each in sorted(shapes)]
    return type(value).__name__


def normal(value: Any) -> Any:
    """Return a value as JSON gives it back, floats rounded."""
    return json.loads(json.dumps(rounded(value)))


def assert_golden(name: str, value: Any) -> None:
    """Compare a value with what was recorded under this name, key by key."""
    if os.environ.get("DIFFTRUST_RECORD"):
        write(name, normal(value))
        return
    value, recorded = normal(value), read(name)
    if isinstance(recorded, dict):
        assert list(value) == list(recorded)
        for key, said in recorded.items():
            assert value[key] == said, key
    assert value == recorded


def assert_golden_entry(name: str, key: str, value: Any) -> None:
    """Compare a value with one entry of what was recorded under this name."""
    if os.environ.get("DIFFTRUST_RECORD"):
        write(name, {**read(name), key: normal(value)})
        return
    assert normal(value) == read(name)[key]


def read(name: str) -> Any:
    """Return what was recorded; nothing yet is no entry."""
    path = GOLDEN / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write(name: str, value: Any) -> None:
    """Record a value."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    (GOLDEN / f"{name}.json").write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
