"""What was said to be right, as tests."""

import sys
from pathlib import Path

sys.path.insert(0, str((Path(__file__).parent / '.').resolve()))


def test_middle_1() -> None:
    from pinned import middle

    assert middle([0, 1]) == 0


def test_middle_2() -> None:
    import pytest

    from pinned import middle

    with pytest.raises(IndexError):
        middle([])


def test_parity_1() -> None:
    from new import parity

    assert parity(True) == 'even'
