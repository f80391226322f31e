"""What documents say of the paper's smaller claims, and of numbers that a reader counted again by other code."""

import textwrap
from collections.abc import Iterable

import polars as pl

import difftrust as dt
from difftrust.research.coders import strength_of
from difftrust.shipped import find_results
from difftrust.tables.names import display_name
from difftrust.tables.readings import KINDS, READINGS, undetected_pairs
from difftrust.tables.request import TableRequest
from difftrust_core.base.files import find_shipped
from tests.support.markdown import table

BY_MODEL = ("gemini_2_5_pro", "deepseek_r1", "gpt_o4_mini", "gemini_2_5_flash", "claude_sonnet_4", "claude_opus_4")
AUDITS = "today no such task is unread, nearly all were judged by two readers; then one reader had judged some"
WITNESS = "undetected, no drawn input of the domain shows the error; a recorded one is outside, inside, none"
MOVED = "a recorded input moved 40 pairs inside"
UNKNOWN = "not found: no meaning of err that was tried gives both"
TIES = "of equally large behaviours the answer is here the one sampled first"


def beside_the_paper() -> str:
    """Return what Figure 1 and Table 3 come to here: p-values and words, expenses, where more inputs find less."""
    study = dt.open(find_results())
    ranked = study.table("rankings", published=True).frame.filter(detection="as-published").drop_nulls("published")
    rhos = "; ".join(
        f"{row['benchmark']} {row['rho_found']:.3f} [{row['rho_found_low']:.3f}, {row['rho_found_high']:.3f}], "
        f"p = {row['rho_found_p']:.0e}, {row['rho_found_strength']} (published logs: {row['published']:.3f}), and with "
        f"1 - pass@1 {row['rho_pass_at_1']:.3f}, {strength_of(row['rho_pass_at_1'])}"
        for row in ranked.to_dicts()
    )
    whole = study.table(3, published=True)
    fold = next(note for note in whole.notes if note.startswith("expenses of m = 50"))
    rates = whole.frame.filter(varied="test_inputs_n").sort("value")
    spans = {name: rates[f"{name}_over_subsets"] for name in ("humaneval", "mbpp")}
    tasks = study.ablation("gpt_4o", n=[100, 10_000], benchmark="HumanEval", by_task=True).frame
    wrong = tasks.filter(pl.col("error") > 0).group_by("n").agg(pl.len(), pl.sum("detected")).sort("n").rows()
    more, less = spans["humaneval"], spans["mbpp"]
    return _bullets(
        "Figure 1, Spearman's rho over 16 models, its 95 % interval over tasks, its p-value (Student's t) and the word "
        "for it (Evans 1996: very strong from .8, strong from .6, moderate from .4, weak from .2): "
        f"{rhos}. The paper calls its 0.94 and 0.92 a very strong agreement with pass@1; with pass@1 of Eq. 11 it is "
        "weaker. (`difftrust table rankings`, `difftrust figure 1`)",
        f"Table 3, {fold}. All but the prompt is paid for each program. (`difftrust table 3 --published`)",
        "Table 3, more inputs: GPT-4o's detection rate by all pairs, over every choice of ten programs, falls on "
        f"HumanEval from {more[0]:.3f} at n = 100 to {more[-1]:.3f} at n = 10,000; on MBPP it rises from {less[0]:.3f} "
        f"to {less[-1]:.3f}. More inputs make more tasks wrong, and not all of these disagree: of HumanEval's tasks "
        f"{wrong[0][1]} are wrong at n = 100 and {wrong[1][1]} at n = 10,000, and the first ten programs disagree on "
        f"{wrong[0][2]} and {wrong[1][2]} of them. (`difftrust table 3c`, "
        '`study.ablation("gpt_4o", n=[100, 10000], by_task=True)`)',
    )


def recount() -> str:
    """Return each recounted number: what, by which command, here, there, and why they differ; HumanEval, then MBPP."""
    published, domain = dt.open(find_results(), inputs="reference"), dt.open(find_results(), inputs="domain")
    alarms = published.table("alarms", published=True).frame
    first = alarms.filter(model="all", reading="as published").to_dicts()
    inside = alarms.filter(model="all", reading="in the domain").to_dicts()
    own = alarms.filter(benchmark="HumanEval", reading="as published")
    by_model = [own.filter(model=model)["no_error_share"].item() for model in BY_MODEL]
    missed = published.table("undetected", published=True).frame.filter(model="all").to_dicts()
    removed = published.table("readings", published=True).frame.filter(model="mean")
    vain, both, real = (
        _of(first, "no_error", "alarms"),
        _of(inside, "admits_both", "alarms"),
        _of(missed, KINDS[3], "undetected"),
    )
    dissent, err = _by_others(domain, "dissent"), _by_others(domain, "difficulty")
    pairs = domain.table("correlated").frame.filter(model="all", other="all").to_dicts()
    alike, names = [pair["wrong_alike"] for pair in pairs], ", ".join(map(display_name, BY_MODEL))
    found = published.table("suspects", published=True).frame.group_by("benchmark").len().sort("benchmark")
    audited = [
        ("outside the domain", KINDS[0], "49 to 75; 22 to 34 %", MOVED),
        ("fault of the reference or description", KINDS[2], "11 to 37; 41 to 56 %", AUDITS),
        ("error of the programs", KINDS[3], "7 to 21; 17 to 27 %", AUDITS),
    ]
    shares = [
        (f"their share, interval: {what}", "undetected", _intervals(missed, kind), there, why)
        for what, kind, there, why in audited
    ]
    gone, gone_too = (_percents(removed.filter(reading=name)["error_removed"]) for name in tuple(READINGS)[1:])
    correlation = ", ".join(f"{pair['error_r']:.2f}" for pair in pairs)
    suspects = ", ".join(map(str, found["len"]))
    rows = [
        ("alarms with no error in the domain", "alarms", vain, "330 of 880; 815 of 3,234", ""),
        (f"the same, HumanEval: {names}", "alarms", _percents(by_model), "73, 72, 71, 57, 56, 53 %", ""),
        ("alarms in the domain where both answers are admitted", "alarms", both, "4 of 541; 202 of 2,224", AUDITS),
        ("share of the mean error outside the domain, mean of 16 models", "readings", gone, "40, 18 %", ""),
        ("and with what the audits leave out", "readings", gone_too, "44, 38 %", AUDITS),
        ("undetected errors of the programs", "undetected", real, "27 of 343; 145 to 163 of 1,322", AUDITS),
        *shares,
        (
            WITNESS,
            "undetected",
            _witnesses(),
            "182, 4, 28; 308, 24, 31",
            "here the recorded inputs were searched for one inside",
        ),
        (
            "wrong where all agree and no other model dissents",
            "dissent --inputs domain",
            _percents(dissent[0], 1),
            "1.4, 17.7 %",
            TIES,
        ),
        ("and where half or more dissent", "dissent --inputs domain", _percents(dissent[1]), "65, 74 %", ""),
        (
            "wrong where all agree and half or more others err",
            "difficulty --inputs domain",
            _percents(err[1]),
            "48, 79 %",
            UNKNOWN,
        ),
        ("both wrong, of two models: wrong alike", "correlated --inputs domain", _percents(alike), "51, 56 %", ""),
        ("correlation of two models' errors", "correlated --inputs domain", correlation, "0.64, 0.80", ""),
        ("12 of 16 models share an answer unlike the reference", "suspects", suspects, "18, 60", ""),
    ]
    cells = [[what, f"`table {command}`", here, there, why] for what, command, here, there, why in rows]
    return table(["what", "command", "here", "recount", "why they differ"], cells, texts=5)


def _bullets(*texts: str) -> str:
    wrapped = (
        textwrap.fill(f"- {text}", width=122, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for text in texts
    )
    return "\n".join(wrapped) + "\n"


def _percents(shares: Iterable[float], digits: int = 0) -> str:
    return ", ".join(f"{100 * share:.{digits}f}" for share in shares) + " %"


def _of(rows: list[dict[str, int]], part: str, whole: str) -> str:
    return "; ".join(f"{row[part]:,} of {row[whole]:,}" for row in rows)


def _intervals(rows: list[dict[str, float]], kind: str) -> str:
    ends = [[100 * row[f"share {kind}_{end}"] for end in ("low", "high")] for row in rows]
    return "; ".join(f"{low:.0f} to {high:.0f}" for low, high in ends) + " %"


def _by_others(study: dt.Study, name: str) -> list[list[float]]:
    """Return the shares wrong where all programs agree, where none and where half or more of the others do so."""
    frame = study.table(name).frame.filter(model="all", own="all agree")
    return [frame.filter(others=others)["risk"].to_list() for others in ("none", "half or more")]


def _witnesses() -> str:
    """Return of the pairs with E = 0 on the inputs drawn in the domain where the recorded input lies."""
    _, pairs = undetected_pairs(TableRequest(store=find_results(), temperature=0.6, m=10, n=1000))
    places = pl.read_csv(find_shipped("data/audits/undetected.csv"), infer_schema=False)
    key = ["benchmark", "task_id", "model"]
    known = pairs.filter(pl.col("error") == 0).join(places.select(*key, "place"), on=key, validate="1:1")
    counts = known.group_by("benchmark").agg(
        outside=pl.col("place").is_in(["outside", "types"]).sum(),
        inside=(pl.col("place") == "domain").sum(),
        unknown=pl.col("place").is_null().sum(),
    )
    return "; ".join(", ".join(map(str, row[1:])) for row in counts.sort("benchmark").iter_rows())
