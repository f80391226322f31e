"""What several test files need."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder with the recorded corpora: DIFFTRUST_DATA, else ../shared/data, else skip."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("DIFFTRUST_DATA", beside))
    if not (folder / "difftrust" / "candidates.parquet").exists():
        pytest.skip("the recorded corpora are not here; set DIFFTRUST_DATA to their folder")
    return folder
