"""The cases of this folder, ``cases/*.toml``, with programs of known truth, written as the contests release theirs."""

import base64
import json
import pickle
import tomllib
import zlib
from collections.abc import Sequence
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


NAMES = {"livecodebench": "LiveCodeBench", "apps": "APPS", "codecontests": "CodeContests"}
_NUMBERS = {case.name: number for number, case in enumerate(c for c in load_cases() if c.layout == "apps")}
"""The ids in the layout of APPS, which are numbers."""


def packed(value: Any) -> str:
    """Return a value as LiveCodeBench packs its private tests."""
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(value)))).decode()


def livecodebench(case: ContestCase) -> dict[str, Any]:
    """Return the object of a task in the layout of LiveCodeBench."""
    kind = "functional" if case.function else "stdin"
    tests = [
        {"input": _lines(given) if case.function else given, "output": _json(case, said), "testtype": kind}
        for given, said in zip(case.inputs, case.outputs, strict=True)
    ]
    return {
        "question_content": case.description,
        "platform": "leetcode" if case.function else "atcoder",
        "question_id": case.name,
        "starter_code": case.starter,
        "public_test_cases": json.dumps(tests[: case.public]),
        "private_test_cases": packed(tests[case.public :]),
        "metadata": json.dumps({"func_name": case.function} if case.function else {}),
        **case.relation,
    }


def apps(case: ContestCase) -> dict[str, Any]:
    """Return the object of a task in the layout of APPS."""
    inputs = [json.loads(given) for given in case.inputs] if case.function else list(case.inputs)
    outputs = [[said] for said in case.outputs] if case.function else list(case.outputs)
    called = {"fn_name": case.function} if case.function else {}
    return {
        "problem_id": _NUMBERS[case.name],
        "question": case.description,
        "solutions": json.dumps([program.code for program in case.programs if program.right]),
        "input_output": json.dumps({**called, "inputs": inputs, "outputs": outputs}),
        "starter_code": case.starter,
        "difficulty": "introductory",
        **case.relation,
    }


def codecontests(case: ContestCase) -> dict[str, Any]:
    """Return the object of a task in the layout of CodeContests, with a solution in C++ before those in Python 3."""
    right = [program.code for program in case.programs if program.right]
    wrong = [program.code for program in case.programs if not program.right]
    middle = (case.public + len(case.inputs)) // 2
    groups = {"public": slice(0, case.public), "private": slice(case.public, middle), "generated": slice(middle, None)}
    return {
        "name": f"7_A. {case.name.replace('_', ' ')}",
        "description": case.description,
        **{f"{g}_tests": {"input": case.inputs[s], "output": case.outputs[s]} for g, s in groups.items()},
        "solutions": {"language": [2] + [3] * len(right), "solution": ["int main() { return 0; }", *right]},
        "time_limit": {"seconds": 2, "nanos": 0},
        "incorrect_solutions": {"language": [3] * len(wrong), "solution": wrong},
        **case.relation,
    }


_MAKERS = {"livecodebench": livecodebench, "apps": apps, "codecontests": codecontests}


def task_id(case: ContestCase) -> str:
    """Return the id that the loaders give the task."""
    ids = {"livecodebench": case.name, "codecontests": f"7_A._{case.name}"}
    return ids.get(case.layout) or str(_NUMBERS[case.name])


def write_layout(path: Path, layout: str, cases: Sequence[ContestCase]) -> Path:
    """Write the cases of one layout as its file."""
    objects = [_MAKERS[layout](case) for case in cases if case.layout == layout]
    path.write_text("".join(json.dumps(one) + "\n" for one in objects))
    return path


def write_apps_folder(root: Path, cases: Sequence[ContestCase]) -> Path:
    """Write the cases of APPS as its folders."""
    for case in cases:
        if case.layout != "apps":
            continue
        fields, folder = apps(case), root / f"{_NUMBERS[case.name]:04}"
        folder.mkdir(parents=True)
        (folder / "question.txt").write_text(fields["question"])
        (folder / "input_output.json").write_text(fields["input_output"])
        (folder / "solutions.json").write_text(fields["solutions"])
        (folder / "metadata.json").write_text(json.dumps({"url": "", **case.relation}))
        if case.starter:
            (folder / "starter_code.py").write_text(case.starter)
    return root


def write_samples(path: Path, cases: Sequence[ContestCase]) -> Path:
    """Write the programs of the cases, wrong ones included, as samples."""
    lines = [
        json.dumps({"task_id": task_id(case), "solution": program.code}) for case in cases for program in case.programs
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def _lines(given: str) -> str:
    return "\n".join(json.dumps(argument) for argument in json.loads(given))


def _json(case: ContestCase, said: Any) -> str:
    return json.dumps(said) if case.function else str(said)
