"""What the tools of the server return; every text is cut, for an agent reads all of it."""

from typing import Literal

from pydantic import BaseModel, Field


class IntervalOf(BaseModel):
    """An interval and what it covers."""

    low: float
    high: float
    level: float = Field(description="Confidence, such as 0.95.")
    covers: str = Field(description="Which choice by chance it is over.")


class OutcomeOf(BaseModel):
    """Who did what."""

    who: str = Field(description="Names of candidates, or old and new.")
    outcome: str


class Witness(BaseModel):
    """An input on which programs differ."""

    call: str
    outcomes: list[OutcomeOf]


class ClusterOf(BaseModel):
    """Candidates that did the same on every input."""

    number: int
    candidates: list[str]
    works: bool = Field(description="Returned a value on some input.")
    contradicts_example: bool
    code: str = Field(description="The smallest of its programs.")


class CheckResult(BaseModel):
    """What a check of one function found."""

    check_id: str = Field(description="Give it to ask_next and pin.")
    verdict: Literal["coherent", "incoherent", "undecided"]
    found_by: Literal["inputs", "witnesses", "examples", "nothing"] = Field(
        description="What shows an error: random inputs, inputs that seek a disagreement, examples that say what is "
        "right; or nothing."
    )
    statement: str = Field(description="What is certain, and at which level. Coherent proves no program right.")
    incoherence: float | None = Field(description="How often two programs disagree; null if fewer than two load.")
    interval: IntervalOf | None
    n_inputs: int
    clusters: list[ClusterOf]
    witnesses: list[Witness] = Field(description="The smallest inputs that show a disagreement or a contradiction.")
    consensus: str | None = Field(description="The program of the largest cluster that works.")
    undecided: list[str] = Field(description="Why nothing was decided.")
    next_step: str
    sandbox: str = Field(description="What kept the programs in.")
    notes: list[str]
    left_out: str = Field(default="", description="What was cut from this answer.")


class ChangeOf(BaseModel):
    """An input on which two versions differ."""

    call: str
    old: str
    new: str
    expected: bool = Field(description="It is what an expectation says.")


class DiffResult(BaseModel):
    """What a comparison of two versions found."""

    verdict: Literal["unchanged", "changed", "undecided"]
    statement: str
    changes: list[ChangeOf] = Field(description="The smallest input of each kind of change.")
    failed_expectations: list[str]
    n_inputs: int
    n_differing: int
    undecided: list[str]
    next_step: str
    sandbox: str
    notes: list[str]
    left_out: str = ""


class OptionOf(BaseModel):
    """One outcome on the input that is asked about."""

    answer: str = Field(description='What to answer if it is right; "" if no answer says so.')
    outcome: str
    n_candidates: int


class QuestionOf(BaseModel):
    """What is right on this input? Ask who knows what the function is for; do not guess."""

    call: str
    options: list[OptionOf]
    may_not_be_allowed: bool = Field(description="The docstring does not say whether the input is allowed.")


class AskResult(BaseModel):
    """Where the questions stand."""

    check_id: str
    question: QuestionOf | None = Field(description="Null where nothing is left to ask.")
    n_answers: int
    n_left: int = Field(description="Candidates that contradict no answer.")
    survivors: list[str]
    program: str | None = Field(description="The program of most survivors; null if none is left.")
    examples: list[str] = Field(description="The answers, as check takes them in examples.")
    assume: list[str] = Field(description="The answers, as check takes them in assume.")
    left_out: str = ""


class PinResult(BaseModel):
    """Examples that were written into a docstring."""

    written: list[str]
    there_already: list[str]
    source: str | None = Field(description="The file's new text, where no path was given.")
