"""One function judged: its candidates found or sampled, and checked."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from difftrust_core.cli.checking.request import CheckRequest
from difftrust_core.exceptions import BadSource, NoStore, WrongUsage

if TYPE_CHECKING:
    from difftrust_core.base.records import Candidate
    from difftrust_core.checks.options import CheckOptions
    from difftrust_core.checks.questions.board import Board
    from difftrust_core.checks.report import CheckReport, Suggestion
    from difftrust_core.checks.source.function import Stub

Say = Callable[[str], None]


class CannotAsk(WrongUsage):
    """Something has to be mended before a model can be asked at all, for any function."""


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """All that a check of one function rests on."""

    stub: "Stub"
    candidates: "list[Candidate]"
    options: "CheckOptions"
    notes: tuple[str, ...] = ()
    usd: float = 0.0
    """What its candidates cost, those sampled earlier included; counted where a budget is set."""


def prepare(where: str, request: CheckRequest, *, say: Say, phase: Say) -> Prepared:
    """Return the function and its candidates, sampled where models are named; nothing is executed.

    Raises WrongUsage where a folder or store cannot be used, BadStub where the function cannot be checked,
    TooFewCandidates where too few were sampled.
    """
    from difftrust_core.checks.source.own_body import own_candidate

    own = own_candidate(where) if request.with_body else None
    suggestion, notes, usd = None, list[str](), 0.0
    if request.candidates is not None:
        stub, found = _from_folder(where, request, own.code if own else "")
    else:
        phase(f"asking {', '.join(request.models)}")
        stub, found, suggestion, notes, usd = _sampled(where, request, say, own.code if own else "")
    if own is not None:
        found.append(own.candidate_for(stub.task))
    from difftrust_core.checks.options import CheckOptions  # late, so that a refusal comes soon

    options = CheckOptions.of(
        stub,
        subject=f"these {len(found)} programs" if request.candidates or own else "",
        n=request.n,
        seed=request.seed,
        witnesses=request.witnesses,
        equality=request.equality,
        tolerance=request.tolerance,
        messages=request.messages,
        validity=request.validity,
        suggestion=suggestion,
        allow_weak=request.allow_weak,
        own=own.name if own else "",
        say=say,
        phase=phase,
    )
    return Prepared(stub=stub, candidates=found, options=options, notes=tuple(notes), usd=usd)


def judge(prepared: Prepared) -> "CheckReport":
    """Run the candidates and return the report, with what was noted on the way."""
    from difftrust_core.checks.check import check

    report = check(prepared.stub.task, prepared.candidates, prepared.options)
    return replace(report, notes=(*prepared.stub.notes, *prepared.notes, *report.notes))


def judge_to_ask(prepared: Prepared) -> "tuple[CheckReport, Board]":
    """Run the candidates and return the report, and what may be asked about."""
    from difftrust_core.checks.check import check_to_ask

    report, board = check_to_ask(prepared.stub.task, prepared.candidates, prepared.options)
    return replace(report, notes=(*prepared.stub.notes, *prepared.notes, *report.notes)), board


def _from_folder(where: str, request: CheckRequest, body: str) -> "tuple[Stub, list[Candidate]]":
    from difftrust_core.checks.source.function import load_stub
    from difftrust_core.datasets.recorded.folder import candidates_of

    assert request.candidates is not None
    codes = _codes(request.candidates)
    texts = (*codes.values(), *([body] if body else []))
    stub = load_stub(where, candidates=texts, needs_docstring=False, **request.known)
    return stub, candidates_of(codes, stub.task)


def _codes(folder: Path) -> dict[str, str]:
    from difftrust_core.datasets.recorded.folder import read_folder

    try:
        return read_folder(folder)
    except BadSource as e:
        raise WrongUsage(str(e)) from None


def _sampled(
    where: str, request: CheckRequest, say: Say, body: str
) -> "tuple[Stub, list[Candidate], Suggestion | None, list[str], float]":
    """Ask the models for programs, and the first one for calls and conditions; return what has to be said, too.

    Raises WrongUsage where the store cannot be written.
    """
    from difftrust_core.checks.report import Suggestion
    from difftrust_core.checks.sampling import SamplingRequest, ask_about, sample_candidates, spent_on  # loads polars
    from difftrust_core.checks.source.function import load_stub, refused_examples

    wanted = SamplingRequest(
        models=request.models,
        m=request.m,
        temperature=request.temperature,
        api_base=request.api_base,
        max_usd=request.max_usd,
    )
    store, known = request.store, request.known
    stub, notes = load_stub(where, **known), list[str]()
    try:
        try:
            found = sample_candidates(store, stub.task, wanted, say=say, note=notes.append)
        except WrongUsage as e:
            raise CannotAsk(str(e)) from None
        usd = spent_on(store, stub.task, wanted) if request.max_usd is not None else 0.0
        left = None if request.max_usd is None else max(request.max_usd - usd, 0.0)
        suggested = ask_about(store, stub.task, request.models[0], api_base=request.api_base, max_usd=left, say=say)
    except (OSError, NoStore) as e:
        raise CannotAsk(f"expected a folder for replies, {store} cannot be written: {e}; change --store") from None
    refused = refused_examples(where, suggested.calls)
    notes += [f"a call in {suggested.path} is not used: {why}" for why in refused.values()]
    calls = [text for text in suggested.calls if text not in refused]
    codes = (*(candidate.code for candidate in found), *([body] if body else []))
    stub = load_stub(where, **(known | {"examples": [*known["examples"], *calls], "candidates": codes}))
    own = stub.task.domain.requires if stub.task.domain is not None else ""
    conditions = tuple(text for text in suggested.conditions if f"({text})" not in own)
    by = Suggestion(by=request.models[0], where=str(suggested.path), conditions=conditions)
    return stub, found, by if conditions else None, notes, usd + (suggested.usd or 0.0)
