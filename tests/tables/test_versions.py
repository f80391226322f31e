"""How often diff is right on recorded programs: the strata of pairs by hand, and the table against its pairs."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

import difftrust as dt
from difftrust.tables.versions import SHIPPED, Judgement, Stratum
from difftrust_core.base.files import find_shipped
from difftrust_core.base.records import Kind
from difftrust_core.estimates.pool import compress
from difftrust_core.metrics.intervals import clopper_pearson
from tests.bench.versions import Recorded, recorded, stratum_of

NOTHING = Recorded(n=200, differing=0, values=0, is_equal=True)


def of_outcomes(*rows: str) -> Recorded:
    """Return what two behaviours do, a letter an input: a and A are equal but for the tolerance, ! raises, ~ hangs."""
    ends = {"!": Kind.EXCEPTION, "~": Kind.TIMEOUT}
    happened = np.array([[ends.get(letter, Kind.VALUE) for letter in row] for row in rows], dtype=np.uint8)
    strict, paper = (
        np.array([[*map(ord, row)] for row in made], dtype=np.uint16) for made in (rows, [row.lower() for row in rows])
    )
    task = compress("t", {"paper": paper, "strict": strict}, happened, reach=np.full(2, len(rows[0])), reference=None)
    return recorded(task, (0, 1))


def test_what_two_behaviours_do_is_counted_where_both_end_by_themselves() -> None:
    assert of_outcomes("abab", "abab") == Recorded(n=4, differing=0, values=0, is_equal=True)
    assert of_outcomes("abab", "aBab") == Recorded(n=4, differing=0, values=0, is_equal=False)
    assert of_outcomes("abab", "cb!b") == Recorded(n=4, differing=2, values=1, is_equal=False)
    assert of_outcomes("abab", "a~~b") == Recorded(n=4, differing=0, values=0, is_equal=False)


@pytest.mark.parametrize(
    ("published", "domain", "stratum"),
    [
        (NOTHING, NOTHING, Stratum.EQUAL),
        (of_outcomes("ab", "ac"), NOTHING, Stratum.OUTSIDE),
        (NOTHING, Recorded(n=200, differing=2, values=2, is_equal=False), Stratum.FEW),
        (NOTHING, Recorded(n=200, differing=3, values=0, is_equal=False), Stratum.MANY),
        (of_outcomes("ab", "aB"), NOTHING, None),
        (NOTHING, of_outcomes("ab", "a~"), None),
    ],
)
def test_the_stratum_is_what_both_readings_show(published: Recorded, domain: Recorded, stratum: Stratum | None) -> None:
    assert stratum_of(published, domain) == stratum


def test_the_table_counts_each_pair_once() -> None:
    pairs = pl.read_csv(find_shipped(SHIPPED))
    assert pairs.select("benchmark", "stratum", "task_id").is_unique().all()
    for row in dt.open().table("versions").frame.iter_rows(named=True):
        own = pairs.filter(stratum=row["stratum"])
        own = own if row["benchmark"] == "all" else own.filter(benchmark=row["benchmark"])
        counts = Counter(own["judgement"])
        assert {name: row[name.replace(" ", "_")] for name in Judgement} == {name: counts[name] for name in Judgement}
        assert row["pairs"] == own.height == sum(counts.values())
        n_right = own.height - row["false_difference"] - row["missed"] - row["undecided"]
        assert row["right_share"] == pytest.approx(n_right / own.height)
        ends = (row["right_share_low"], row["right_share_high"])
        assert ends == clopper_pearson(n_right, own.height, alpha=0.025)
