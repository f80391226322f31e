"""Functions and methods given as objects: `dt.check(f, g)`, and what is no function."""

from functools import partial

import pytest

import difftrust as dt
from difftrust_core.exceptions import BadStub, WrongUsage


class Shelf:
    """A shelf of so many places."""

    def __init__(self, places: int) -> None:
        self.places = places

    def fits(self, n: int) -> bool:
        """Tell whether n more fit.

        >>> Shelf(3).fits(2)
        True
        """
        return n <= self.places

    @property
    def area(self) -> int:
        """Return the places, squared."""
        return self.places**2


class Other:
    """Another shelf, which keeps a place free."""

    def __init__(self, places: int) -> None:
        self.places = places

    def fits(self, n: int) -> bool:
        return n < self.places

    @property
    def area(self) -> int:
        return self.places * self.places


def test_methods_and_properties_are_compared_on_objects_of_their_classes() -> None:
    found = dt.check(Shelf.fits, Other.fits, n=100)
    assert found.verdict == "incoherent"
    assert found.report.task.entry_point == "Shelf.fits"
    assert {name for cluster in found.report.clusters for name in cluster.candidates} == {"Shelf.fits", "Other.fits"}
    (row,) = found.frame.rows(named=True)
    assert row["arguments"].count(",") == 1
    assert {row["first_outcome"], row["second_outcome"]} == {"True", "False"}
    assert dt.check(Shelf.fits, Shelf.fits, n=50).verdict != "incoherent"
    assert dt.check(Shelf.area, Other.area, n=200).verdict == "coherent"


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(WrongUsage, match=r"two functions or more to compare, got Shelf\.fits only"):
        dt.check(Shelf.fits)
    with pytest.raises(BadStub, match=r"expected a function written with def, got functools\.partial"):
        dt.check(partial(max, 1), Shelf.fits)
    with pytest.raises(WrongUsage, match=r"expected functions alone, or one module\.py::function"):
        dt.check(Shelf.fits, "module.py::f")
    with pytest.raises(WrongUsage, match=r"expected check\(f, g, ...\)"):
        dt.check()
