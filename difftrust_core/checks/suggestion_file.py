"""The file that keeps what a model suggested: TOML, to be edited by hand."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from difftrust_core.base.files import write_whole
from difftrust_core.base.task import Task
from difftrust_core.checks.suggestions import MOST, Reading, call_in, condition_in, parsed
from difftrust_core.exceptions import BadStore, WrongUsage
from difftrust_core.store.verify.verification import SUGGESTIONS

_CONTROL = {i: f"\\u{i:04x}" for i in (*range(32), 127)}


def suggestion_path(root: Path, task: Task) -> Path:
    """Return where the suggestions for a task are kept in the store at ``root``."""
    return root / SUGGESTIONS / f"{task.task_id.replace('/', '.')}.toml"


def write_suggestions(path: Path, task: Task, reading: Reading, *, model: str, usd: float | None, reply: str) -> None:
    """Write what was understood of a reply, and the reply itself, whole or not at all. Raises BadStore."""
    cost = "" if usd is None else f"cost_usd = {usd!r}\n"
    text = (
        f"# Suggested for {task.entry_point} by the model named below. Edit it: while it is there, nothing is asked.\n"
        "# The check starts from these calls as well:\n"
        f"calls = {_array(reading.calls)}\n"
        "# The check leaves inputs out on which one of these does not hold:\n"
        f"conditions = {_array(reading.conditions)}\n\n"
        f"[asked]\nmodel = {_string(model)}\n{cost}"
        "# Of the reply, neither a call with literal arguments nor a condition:\n"
        f"left_out = {_array(reading.left_out)}\n"
        f"reply = {_long_string(reply)}\n"
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise BadStore(f"{path} cannot be written: {e.strerror}; make room and run the command again") from None
    write_whole(path, text)


def read_suggestions(path: Path, task: Task) -> Reading:
    """Return what the file holds. Raises WrongUsage if it is not what it should be, and names the entry."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise WrongUsage(f"{path} cannot be read: {e.strerror or e}") from None
    except (ValueError, RecursionError) as e:
        raise WrongUsage(f"expected TOML in {path}, found none ({e}); correct it, or delete it to ask anew") from None
    calls = [
        _checked(text, call_in, path, "a call with literal arguments", task) for text in _texts(found, "calls", path)
    ]
    conditions = [
        _checked(f"assert {text}", condition_in, path, "an expression over the parameters", task)
        for text in _texts(found, "conditions", path)
    ]
    return Reading(calls=tuple(calls), conditions=tuple(conditions), left_out=())


def _texts(found: dict[str, Any], key: str, path: Path) -> list[str]:
    texts = found.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise WrongUsage(f"expected a list of texts for {key} in {path}; correct it, or delete the file to ask anew")
    if len(texts) > MOST:
        raise WrongUsage(f"expected at most {MOST} {key} in {path}, got {len(texts)}; take some out")
    return texts


def _checked(text: str, read: Any, path: Path, wanted: str, task: Task) -> str:
    body = parsed(text)
    one = read(body[0], task) if body and len(body) == 1 else None
    if one is None:
        shown = text.removeprefix("assert ")[:200]
        raise WrongUsage(f"expected {wanted} of {task.entry_point} in {path}, got {shown!r}; correct it or take it out")
    return str(one)


def _array(texts: Sequence[str]) -> str:
    return "[\n" + "".join(f"    {_string(text)},\n" for text in texts) + "]" if texts else "[]"


def _string(text: str) -> str:
    return f'"{_escaped(text).translate(_CONTROL)}"'


def _long_string(text: str) -> str:
    control = {code: written for code, written in _CONTROL.items() if code != ord("\n")}
    return f'"""\n{_escaped(text).translate(control)}"""'


def _escaped(text: str) -> str:
    plain = text.encode("utf-8", "replace").decode()  # a lone surrogate cannot be written
    return plain.replace("\\", "\\\\").replace('"', '\\"')
