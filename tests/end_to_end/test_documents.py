"""What the documents quote of the shipped results and of docs/calibration.md is what the code says today."""

import pytest

import difftrust as dt
from tests.bench.figures import read_figures
from tests.bench.performance import DOCUMENT, FIGURES, document
from tests.support import agreement, options
from tests.support.documents import PARTS, Part


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{part.document} {part.begin[:20]}")
def test_a_part_is_what_make_docs_would_write(part: Part) -> None:
    assert part.found() == part.make(), f"{part.document} is stale; run make docs"


def test_docs_performance_is_of_the_figures_that_were_measured() -> None:
    assert document(*read_figures(FIGURES)) == DOCUMENT.read_text(), "docs/performance.md is stale; run make docs"


def test_docs_options_is_of_the_command_line() -> None:
    assert options.document() == options.TARGET.read_text(), "docs/options.md is stale; run make docs"


@pytest.mark.slow
@pytest.mark.parametrize("part", agreement.SIMULATIONS, ids=lambda part: part.begin[:20])
def test_docs_agreement_is_of_the_simulation(part: Part) -> None:
    assert part.found() == part.make(), "docs/agreement.md is stale; run make docs"


@pytest.mark.slow
@pytest.mark.parametrize("inputs", ["reference", "domain", "tests"])
def test_docs_agreement_is_of_the_shipped_results(inputs: str) -> None:
    """One table of each section whole, of the one that takes minutes two rows."""
    study = dt.open(inputs=inputs)
    section = agreement.TARGET.read_text().partition(f"## Recorded tasks: inputs `{inputs}`")[2].partition("\n## ")[0]
    assert agreement.agreement_table(study) in section, "docs/agreement.md is stale; run make docs"
    found = study.table("guarantee", signal="incoherence", alpha=0.3, delta=agreement.DELTA).frame
    for row in agreement.guarantee_rows(found, "incoherence", 0.3):
        assert f"| {' | '.join(row)} |\n" in section
