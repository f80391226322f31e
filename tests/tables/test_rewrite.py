"""Values of frames spelled by Python: None stays, and threads that make pandas frames meanwhile are not stopped."""

import subprocess
import sys

import polars as pl
import pytest

from difftrust.tables.names import rewrite

MEANWHILE = """
import threading, time
import polars as pl
import pytest
from difftrust.tables.names import rewrite

frame = pl.concat([pl.DataFrame({name: [str(i) for i in range(200)] for name in "abcdefg"})] * 5, rechunk=False)
end = time.monotonic() + 2

def make():
    while time.monotonic() < end:
        frame.to_pandas()

def spell():
    while time.monotonic() < end:
        rewrite(frame, ["a", "b", "c"], str.upper)

threads = [threading.Thread(target=each, daemon=True) for each in [make, spell] * 4]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("ended")
"""


def test_values_are_spelled_and_none_stays() -> None:
    frame = pl.DataFrame({"name": ["a", None], "list": [[1, 2], []], "n": [1, 2]})
    found = rewrite(frame, ["name", "list"], lambda value: f"<{value}>")
    assert found.to_dict(as_series=False) == {"name": ["<a>", None], "list": ["<[1, 2]>", "<[]>"], "n": [1, 2]}
    assert found.schema == {"name": pl.String, "list": pl.String, "n": pl.Int64}
    assert rewrite(frame.clear(), ["name"], str).schema == frame.schema


@pytest.mark.slow
def test_frames_of_pandas_may_be_made_meanwhile() -> None:
    ended = subprocess.run([sys.executable, "-c", MEANWHILE], capture_output=True, text=True, timeout=120)
    assert ended.stdout == "ended\n", ended.stderr
