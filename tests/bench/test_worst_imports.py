"""The worst files under 1 MB are imported, or refused in one line, within 500 MB and ten seconds of processors."""

from pathlib import Path

import pytest

from tests.bench.worst_imports import MEGABYTES, SECONDS, SOURCES, TASKS, import_worst

TEN = (
    *("packed candidates", "packed blank lines", "f-strings", "functions", "Parquet text", "Parquet rows"),
    *("pickle keys", "LiveCodeBench", "EvalPlus", "own tasks"),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", TEN)
def test_the_worst_files_are_bounded(name: str, tmp_path: Path) -> None:
    assert name in SOURCES | TASKS
    _, took = import_worst(name, tmp_path)
    assert took.status in (0, 1)
    assert "Traceback" not in took.said
    assert took.together_mb < MEGABYTES
    assert took.cpu < 2 * SECONDS  # on two processors, which other tests share
