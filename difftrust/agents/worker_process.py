"""One call of the server, in a process of its own: a request as JSON on standard input, its answer on standard output.

Progress goes to standard error, a JSON string a line. The end of standard input ends the process with all it started:
the server is gone, or wants no answer any more.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from difftrust.text import printable, shorten
from difftrust_core.base.files import scratch_folder
from difftrust_core.exceptions import DifftrustError, WrongUsage

if TYPE_CHECKING:
    from difftrust.check.report import CheckReport
    from difftrust.diff.comparison import DiffReport
    from difftrust.outputs.findings import Finding

_TEXT, _CODE = 400, 4000
"""Characters of a text and of a program."""
_MOST = {"code": _CODE // 2, **dict.fromkeys(("consensus", "program", "statement", "next_step", "sandbox"), _CODE)}
"""Characters by the name of what is shown, where these are not _TEXT; lines stay lines then."""
_ITEMS = 8
_COUNTED = ("clusters", "witnesses", "changes", "notes")
"""Lists of which _ITEMS are shown; an answer says how many more there are."""
_ANSWER = 5900
"""Bytes of an answer as JSON in lines, the id of its check excepted: an agent reads all of it."""
_STEPS = ((_CODE, 50), (1000, 20), (500, 10), (250, 8), (250, 4), (250, 2), (100, 2), (50, 1))
"""Characters of a text and items of a list, until the answer is short enough; by the last any is."""
_FILE = 2_000_000
"""Bytes of a source."""
_VERDICTS = {"disagreement found": "incoherent"}

Answer = dict[str, Any]


def main() -> None:
    """Answer one request, and end with the process group."""
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    answer: Answer
    try:
        answer = {"answer": _TOOLS[request.pop("tool")](**request)}
    except DifftrustError as e:
        answer = {"error": printable(str(e)), "asked": _was_asked(e, request)}
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)  # the thread still reads


def _end_with_the_server() -> None:
    sys.stdin.read()
    os.killpg(0, signal.SIGKILL)


def _say(text: str) -> None:
    _said.append(text)
    _progress(text)


def _was_asked(error: DifftrustError, request: Mapping[str, Any]) -> bool:
    """Return whether a model may have been asked, and paid, before the error: each is announced first."""
    from difftrust.check.prepare import CannotAsk

    models = request.get("models") or []
    return bool(models and _said) and not (len(models) == 1 and isinstance(error, CannotAsk))


def _progress(text: str) -> None:
    sys.stderr.write(json.dumps(printable(text)) + "\n")
    sys.stderr.flush()


def _check(*, place: Mapping[str, Any], candidates: Sequence[str], **given: Any) -> Answer:
    from difftrust.check.check import check_to_ask
    from difftrust.check.options import CheckOptions
    from difftrust.check.prepare import prepare
    from difftrust.outputs.findings import finding_of_check
    from difftrust.questions.board import board_as_json

    with ExitStack() as stack:
        where = stack.enter_context(_where(place))
        folder = stack.enter_context(_folder(candidates)) if candidates else None
        options = CheckOptions.of(given, candidates=folder, say=_say, phase=_progress)
        prepared = prepare(where, options)
        report, board = check_to_ask(prepared)
        result = _check_result(report, finding_of_check(report, where))
    return {"result": _fitted(result), "board": board_as_json(board), "usd": prepared.usd}


def _check_result(report: "CheckReport", finding: "Finding") -> Answer:
    interval = report.interval
    return {
        **_common(report, finding),
        "verdict": _VERDICTS.get(report.verdict, report.verdict),
        "found_by": _found_by(report),
        "incoherence": report.incoherence,
        "interval": interval and {name: getattr(interval, name) for name in ("low", "high", "level", "covers")},
        "clusters": [
            {
                "number": each.number,
                "candidates": each.candidates,
                "works": each.works,
                "contradicts_example": each.contradicts,
                "code": each.code,
            }
            for each in report.clusters
        ],
        "witnesses": [
            {"call": each.call, "outcomes": [{"who": who, "outcome": what} for who, what in each.outcomes]}
            for each in finding.inputs
        ],
        "consensus": report.consensus,
    }


def _common(report: "CheckReport | DiffReport", finding: "Finding") -> Answer:
    """Return what checks and comparisons say alike."""
    return {
        "verdict": report.verdict,
        "statement": finding.message,
        "n_inputs": report.n,
        "undecided": [f"{each.why}; {each.remedy}" for each in report.undecided],
        "next_step": report.next_step,
        "sandbox": _sandbox(),
        "notes": report.notes,
    }


def _found_by(report: "CheckReport") -> str:
    if report.contradictions:
        return "examples"
    return {"incoherent": "inputs", "disagreement found": "witnesses"}.get(report.verdict, "nothing")


def _fitted(result: Answer) -> Answer:
    """Return an answer with its texts and lists cut until it is short, and a word of how."""
    more = {name: len(result.get(name, ())) - _ITEMS for name in _COUNTED}
    left_out = ", ".join(f"{count} {name}" for name, count in more.items() if count > 0)
    few = {name: result[name][:_ITEMS] for name in _COUNTED if name in result}
    whole = _shortened({**result, **few, "left_out": left_out and f"left out: {left_out}"}, *_STEPS[0])
    for n_characters, n_items in _STEPS:
        shown: Answer = _shortened(whole, n_characters, n_items)
        if shown != whole:
            said = f"texts were cut to {n_characters} characters, lists to {n_items}"
            shown["left_out"] = "; ".join(filter(None, (whole["left_out"], said)))
        if len(json.dumps(shown, indent=2, ensure_ascii=False).encode("utf-8", "replace")) <= _ANSWER:
            break
    return shown


def _shortened(what: Any, n_characters: int, n_items: int, most: int = _TEXT) -> Any:
    """Return ``what`` with its texts cut and without what steers a terminal, its lists cut."""
    if isinstance(what, dict):
        return {key: _shortened(each, n_characters, n_items, _MOST.get(key, _TEXT)) for key, each in what.items()}
    if isinstance(what, list | tuple):
        return [_shortened(each, n_characters, n_items, most) for each in what[:n_items]]
    if not isinstance(what, str):
        return what
    return shorten(printable(what, kept="\n" if most > _TEXT else ""), min(most, n_characters))


def _sandbox() -> str:
    from difftrust.doctor import diagnose

    found = diagnose()
    names = ", ".join(layer.name for layer in found.layers if layer.active)
    return f"{names}; {found.verdict}"


def _diff(*, old: Mapping[str, Any], new: Mapping[str, Any], **given: Any) -> Answer:
    from difftrust.diff.comparison import DiffOptions
    from difftrust.diff.diff import diff
    from difftrust.diff.version import load_version
    from difftrust.outputs.findings import finding_of_diff

    options = DiffOptions.of(given, say=_progress, phase=_progress)
    with _where(old, "old") as before, _where(new, "new") as after:
        report = diff(load_version(before), load_version(after), options)
    finding = finding_of_diff(report)
    changes = [
        {"call": each.call, **dict(each.outcomes), "expected": change.expected}
        for each, change in zip(finding.inputs, report.changes, strict=True)
    ]
    result = {
        **_common(report, finding),
        "changes": changes,
        "failed_expectations": report.failed_expectations,
        "n_differing": report.n_differing,
    }
    return {"result": _fitted(result)}


def _ask(*, board: Any, answers: Sequence[Sequence[str]], answer: str | None) -> Answer:
    from difftrust.questions import asking
    from difftrust.questions.board import board_of_json

    said = [asking.Answer(arguments=arguments, said=text) for arguments, text in answers]
    now = asking.Asking(board_of_json(board), said)
    if answer is not None:
        now.answer(answer)
    question = now.question()
    options = question.options if question else ()
    shown = question and {
        "call": question.call,
        "options": [
            {"answer": each.answer, "outcome": each.outcome, "n_candidates": len(each.candidates)}
            for each in options[:_ITEMS]
        ],
        "may_not_be_allowed": question.doubt,
    }
    result = {
        "question": shown,
        "n_answers": len(now.answers),
        "n_left": now.n_left,
        "survivors": now.survivors,
        "program": now.program,
    }
    whole = {"examples": list(now.pins), "assume": list(now.conditions)}  # to be given back as they are
    return {"result": _fitted(result) | whole, "answers": [[each.arguments, each.said] for each in now.answers]}


def _pin(*, place: Mapping[str, Any], examples: Sequence[str]) -> Answer:
    from difftrust.check.pin import pin_examples

    with _where(place) as where:
        done = pin_examples(where, examples)
        source = None if place.get("path") else Path(where.rpartition("::")[0]).read_text(encoding="utf-8")
    return {
        "result": {
            "written": [text for text, new in done if new],
            "there_already": [text for text, new in done if not new],
            "source": source,
        }
    }


@contextmanager
def _where(place: Mapping[str, Any], file_name: str = "source") -> Iterator[str]:
    """Yield ``module.py::function``: a file in the folder of the server, one of its revisions, or a source as a file.

    ``file_name``: of that file, by which messages tell it from another. Raises WrongUsage for a path that leads out of
    the folder.
    """
    from difftrust.diff.revisions import resolve_where

    name, source, path, revision = (place.get(key) or "" for key in ("entry_point", "source", "path", "revision"))
    if bool(source) == bool(path):
        raise WrongUsage("expected either a source or a path, got " + ("both" if source else "neither"))
    if len(source.encode("utf-8", "replace")) > _FILE:
        raise WrongUsage(f"expected a source of at most {_FILE:,} bytes, got more; leave out what is not needed")
    if path and not revision:
        yield f"{inside(path)}::{name}"
        return
    if path:
        with resolve_where(f"{revision}:{_relative(path)}::{name}") as where:
            yield where
        return
    with scratch_folder() as folder:
        file = folder / f"{file_name}.py"
        file.write_text(source, encoding="utf-8", errors="surrogatepass")
        yield f"{file}::{name}"


def inside(path: str) -> Path:
    """Return a regular file below the working folder, relative to it. Raises WrongUsage for any other."""
    root = Path.cwd().resolve()
    wanted = _relative(path)
    try:
        found = (root / wanted).resolve(strict=True)
        if found.is_relative_to(root) and found.is_file():
            return found.relative_to(root)
    except (OSError, RuntimeError, ValueError):
        pass
    raise WrongUsage(f"expected a file in the folder that the server was started in, got {printable(path)[:200]!r}")


def _relative(path: str) -> str:
    plain = Path(path)
    if "\0" in path or plain.is_absolute() or ".." in plain.parts or path.startswith("-"):
        raise WrongUsage(
            f"expected a path relative to the folder that the server was started in, got {printable(path)[:200]!r}"
        )
    return plain.as_posix()


@contextmanager
def _folder(codes: Sequence[str]) -> Iterator[Path]:
    with scratch_folder() as folder:
        for number, code in enumerate(codes, 1):
            name = f"candidate_{number:0{len(str(len(codes)))}}.py"
            (folder / name).write_text(code, encoding="utf-8", errors="surrogatepass")
        yield folder


_said: list[str] = []
"""What was said of the models that are asked."""
_TOOLS: dict[str, Callable[..., Answer]] = {"check": _check, "diff": _diff, "ask": _ask, "pin": _pin}
