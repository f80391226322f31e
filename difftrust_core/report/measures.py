"""What the columns of tables are called on a page, how their numbers are written, and what each measure means."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One column: its heading, what it means in a line (empty: the heading says it), and whether it is a share."""

    heading: str
    meaning: str = ""
    is_share: bool = True


_ERROR = Measure(heading="error", meaning="how often a program differs from the reference, over all inputs")
_INCOHERENCE = Measure(
    heading="incoherence", meaning="how often two programs differ from each other, which needs no reference"
)
_DETECTED = Measure(heading="detected", meaning="of the erroneous tasks, the share on which programs disagree")
MEASURES: Final[dict[str, Measure]] = {
    "mean_error": _ERROR,
    "error": _ERROR,
    "mean_incoherence": _INCOHERENCE,
    "incoherence": _INCOHERENCE,
    "detection_rate": _DETECTED,
    "mbpp_detection_rate": Measure(heading="MBPP: detected", meaning=_DETECTED.meaning),
    "humaneval_detection_rate": Measure(heading="HumanEval: detected", meaning=_DETECTED.meaning),
    "mbpp_expenses_usd": Measure(heading="MBPP: $", is_share=False),
    "humaneval_expenses_usd": Measure(heading="HumanEval: $", is_share=False),
    "mbpp_over_subsets": Measure(
        heading="MBPP: over subsets", meaning="detected, expected over every choice of m of the recorded programs"
    ),
    "humaneval_over_subsets": Measure(
        heading="HumanEval: over subsets", meaning="detected, expected over every choice of m of the recorded programs"
    ),
    "undetected_mean_error": Measure(
        heading="error of undetected", meaning="mean error of the tasks on which no two programs disagree"
    ),
    "spearman": Measure(
        heading="Spearman's rho",
        meaning="how well incoherence orders the tasks by their error: 1 is the same order, 0 none",
        is_share=False,
    ),
    "pass_at_1": Measure(heading="pass@1", meaning="the share of programs that are right on every input"),
    "pass_at_5": Measure(heading="pass@5", meaning="the chance that one of five programs is right on every input"),
    "failure": Measure(heading="1 - pass@1", meaning="the share of programs that are wrong on some input"),
    "found": Measure(heading="flagged", meaning="the share of tasks on which programs disagree"),
    "erroneous": Measure(heading="erroneous", meaning="the share of tasks on which a program is wrong"),
    "wrong_although_agreeing": Measure(
        heading="wrong although agreeing", meaning="of the tasks on which all programs agree, the share that is wrong"
    ),
    "p_erroneous": Measure(
        heading="wrong although agreeing", meaning="of the tasks on which all programs agree, the share that is wrong"
    ),
    "agree_risk": Measure(heading="wrong where all agree", meaning="of the tasks on which all agree, the share wrong"),
    "agree_coverage": Measure(heading="all agree", meaning="the share of tasks on which all programs agree"),
    "agree_risk_by_tests": Measure(
        heading="wrong by tests where all agree", meaning="the same, where the benchmark's tests say what is wrong"
    ),
    "held_out_coverage": Measure(heading="held out: answered", meaning="answered tasks of the other half"),
    "held_out_risk": Measure(heading="held out: wrong", meaning="wrong answers among those of the other half"),
    "transfer_coverage": Measure(heading="elsewhere: answered", meaning="answered tasks of the other benchmark"),
    "transfer_risk": Measure(heading="elsewhere: wrong", meaning="wrong answers among those of the other benchmark"),
    "detection": Measure(heading="detection", meaning="of the wrong programs, the share with an alarm"),
    "false_alarms": Measure(heading="false alarms", meaning="of the right programs, the share with an alarm"),
    "check_detection": Measure(
        heading="detected for the model checked",
        meaning="of the tasks on which the model checked errs, the share found",
    ),
    "check_alarms": Measure(
        heading="alarms in vain", meaning="of the tasks that the model checked solves, the share with a disagreement"
    ),
    "prototype": Measure(heading="prototype", meaning="an earlier measurement of the share detected"),
    "random": Measure(heading="random", meaning="pass@1 of one program taken at random"),
    "consensus": Measure(heading="consensus", meaning="pass@1 of the largest cluster"),
    "after_1": Measure(
        heading="after 1 answer", meaning="pass@1 of the largest cluster that contradicts no answer of the user"
    ),
    **{f"after_{k}": Measure(heading=f"after {k} answers") for k in range(2, 6)},
    "some_right": Measure(heading="some right", meaning="the share of tasks with a program that is right"),
    "none_left": Measure(
        heading="none left", meaning="the share of tasks on which every program contradicts an answer"
    ),
    "questions": Measure(heading="questions", meaning="asked per task, at most five", is_share=False),
    "gain_1": Measure(heading="gain of 1 answer", meaning="over the consensus"),
    "gain_5": Measure(heading="gain of 5 answers", meaning="over the consensus"),
    "gain_1_over_random": Measure(heading="gain over a random input", meaning="of the best input, after one answer"),
    "filtered": Measure(heading="filtered", meaning="pass@1 of the largest cluster that passes the public examples"),
    "halves_with_a_threshold": Measure(heading="halves with a threshold"),
    "mean_coverage": Measure(heading="answered"),
    "largest_broken": Measure(heading="broken (largest)"),
    "broken_elsewhere": Measure(heading="broken elsewhere"),
    "bound": Measure(heading="bound"),
    "auroc": Measure(
        heading="AUROC",
        meaning="how often the signal is higher on an erroneous task than on a right one: 0.5 is chance, 1 perfect",
        is_share=False,
    ),
    "gain": Measure(heading="gain", meaning="what the added signal adds to the AUROC", is_share=False),
    "usd_per_1000": Measure(heading="$ per 1,000 tasks", is_share=False),
    "usd_per_task": Measure(heading="$ per task", is_share=False),
    "share outside the domain": Measure(heading="outside the domain"),
    "share detected in the domain": Measure(heading="detected in the domain"),
    "share reference or description at fault": Measure(heading="reference or description at fault"),
    "share error of the programs": Measure(heading="error of the programs"),
}
"""Column -> what it is called and means; what is not here keeps its name, and its number four digits."""
PUBLISHED: Final = "published_"
"""Before the name of a column: its published value."""


def measure_of(column: str) -> Measure | None:
    """Return what is known of a column, None of one without an entry."""
    return MEASURES.get(column)


def heading_of(column: str) -> str:
    """Return what to call a column at the head of a table."""
    known = measure_of(column)
    return column.replace("_", " ") if known is None else known.heading


def explained(columns: Iterable[str]) -> str:
    """Return the line that explains the measures among ``columns``, each once, in their order; empty without one."""
    known = [measure for name in columns if (measure := MEASURES.get(name)) is not None and measure.meaning]
    said = {measure.heading.split(": ")[-1]: measure.meaning for measure in known}
    return f"Measures: {'; '.join(f'**{name}**: {meaning}' for name, meaning in said.items())}." if said else ""
