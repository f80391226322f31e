"""Read the tree of recorded candidates as the paper's authors published it."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from difftrust_core.base.progress import Progress
from difftrust_core.base.records import BadRow
from difftrust_core.datasets.recorded.pickles import Refused, read_codes
from difftrust_core.datasets.recorded.selection import Recorded, Selection, as_table, flaw_of
from difftrust_core.exceptions import BadSource

_CODER = re.compile(r"(?P<model>.+)_temp(?P<temperature>[0-9]+(\.[0-9]+)?)")
_FILE = re.compile(r"candidates_(?P<benchmark>HumanEval_)?(?P<number>[0-9]+)")
_FOLDERS = {"humaneval": "HumanEval", "mbpp": "MBPP"}


@dataclass(frozen=True, kw_only=True)
class _File:
    path: Path
    benchmark: str
    task_id: str
    model: str
    temperature: float


@dataclass(frozen=True, kw_only=True)
class _Findings:
    """What a walk has found so far."""

    rows: list[tuple[str, str, str, float, int, str]] = field(default_factory=list)
    bad: list[BadRow] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def refuse(self, where: str, why: str) -> None:
        self.bad.append(BadRow(where=where, why=why))


def read_artifact(root: Path, selection: Selection | None = None) -> Recorded:
    """Return the candidates below ``root``: the repository, one benchmark's folder, or any folder above.

    Expected are ``.experiments/<model>_temp<t>/cache/candidates_HumanEval_<n>`` and ``.../candidates_<n>``
    (MBPP). ``sample_index`` is the position in the file. No pickle is run (see ``inert_pickle``).
    Raises BadSource if there is no ``.experiments`` folder; a file that cannot be used becomes a bad row.
    """
    selection = selection or Selection()
    homes = sorted(path for path in [root, *root.rglob(".experiments")] if path.name == ".experiments")
    if not homes:
        raise BadSource(
            f"{root}: expected a folder .experiments in it, as in a clone of "
            "github.com/mpi-softsec/difftrust, found none; name the clone, a Parquet file or a JSONL file"
        )
    found = _Findings()
    files = [f for home in homes for f in _files(home, found) if _wanted(f, selection)]
    files.sort(key=lambda f: (f.benchmark, f.model, f.temperature, int(f.task_id.split("/")[1]), f.path))
    for file in Progress(_once(files, found), desc=f"reading {root.name}", unit="file", leave=False):
        _take(file, selection.m, found)
    return Recorded(candidates=as_table(found.rows), bad_rows=tuple(found.bad), skipped=dict(found.skipped))


def _files(home: Path, found: _Findings) -> Iterator[_File]:
    for folder in sorted(path for path in home.iterdir() if path.is_dir()):
        coder = _CODER.fullmatch(folder.name)
        if coder is None:
            found.skipped["folders not named <model>_temp<t>"] += 1
            continue
        for path in sorted((folder / "cache").glob("*")):
            named = _FILE.fullmatch(path.name)
            if named is None or not path.is_file():
                refined = path.name.startswith("refined_")
                found.skipped["refined_* files" if refined else "other files in cache"] += 1
                continue
            benchmark, prefix = ("HumanEval", "HumanEval") if named["benchmark"] else ("MBPP", "Mbpp")
            if _FOLDERS.get(home.parent.name.lower(), benchmark) != benchmark:
                found.refuse(str(path), f"expected a file of {home.parent.name}, found a name of {benchmark}")
                continue
            yield _File(
                path=path,
                benchmark=benchmark,
                task_id=f"{prefix}/{int(named['number'])}",
                model=coder["model"],
                temperature=float(coder["temperature"]),
            )


def _wanted(file: _File, selection: Selection) -> bool:
    return selection.wants(file.benchmark, file.model, file.temperature)


def _once(files: list[_File], found: _Findings) -> list[_File]:
    """Set aside a second file for the same task and coder: which of the two holds the samples is unknown."""
    first: dict[tuple[str, str, float], _File] = {}
    for file in files:
        kept = first.setdefault((file.task_id, file.model, file.temperature), file)
        if kept is not file:
            found.refuse(str(file.path), f"expected one file for this task and coder, {kept.path} is another")
    return list(first.values())


def _take(file: _File, m: int | None, found: _Findings) -> None:
    try:
        codes = read_codes(file.path)
    except Refused as e:
        found.refuse(str(file.path), str(e))
        return
    except OSError as e:
        found.refuse(str(file.path), f"expected a readable file, found: {e.strerror}")
        return
    for index, code in enumerate(codes[:m]):
        flaw = "expected a Function with its code, found something else" if code is None else flaw_of(code)
        if code is None or flaw:
            found.refuse(f"{file.path}, candidate {index}", flaw)
        else:
            found.rows.append((file.benchmark, file.task_id, file.model, file.temperature, index, code))
