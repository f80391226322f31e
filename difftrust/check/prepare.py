"""One function prepared for a check: its candidates found or sampled."""

import ast
import math
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from difftrust.check.options import CheckOptions, PreparedCheck, Suggestion
from difftrust.conditions.predicates import Predicate
from difftrust.conditions.reading import contradicted
from difftrust.source.scopes import bound_names, free_names, tree_of
from difftrust_core.base.records import Candidate
from difftrust_core.base.task import Task
from difftrust_core.exceptions import BadSource, NoStore, WrongUsage
from difftrust_core.languages.python.syntax import defines, is_docstring, parsed


class CannotAsk(WrongUsage):
    """Something has to be mended before a model can be asked at all, for any function."""


def prepare(where: str, options: CheckOptions) -> PreparedCheck:
    """Return the function and its candidates, sampled where models are named; nothing is executed.

    Raises WrongUsage where a folder or store cannot be used, BadStub where the function cannot be checked,
    TooFewCandidates where too few were sampled.
    """
    from difftrust.source.target import own_candidate

    own = own_candidate(where) if options.with_body else {}
    body = tuple(own.values())
    if options.candidates is not None:
        prepared = _from_folder(where, options, body)
    else:
        options.phase(f"asking {', '.join(options.models)}")
        prepared = _sampled(where, options, body)
    own = {name: _with_imports(code, prepared.function.left_out) for name, code in own.items()}
    found = [*prepared.candidates, *candidates_of(own, prepared.function.task)]
    subject = f"these {len(found)} programs" if options.candidates or own else ""
    return replace(prepared, candidates=found, subject=subject, own="".join(own))


def _with_imports(code: str, imports: Sequence[str]) -> str:
    """Return the user's own code with the imports of its file that it needs and that are not there, which says so."""
    named = free_names(tree_of(code))
    return "".join(f"{text}\n" for text in imports if bound_names(tree_of(text)) & named) + code


def program_text(data: bytes) -> str:
    """Return a program as Python would read its file: by its byte order mark or coding line, else as UTF-8."""
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError):
        return data.decode("utf-8", "replace")


def read_programs(folder: Path, entry_point: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the text of each file of ``folder`` that is a candidate, by its name, and notes on those that are none.

    These hold no code, or are an ``__init__.py`` without the function. Raises BadSource if no candidate is left.
    """
    found, notes = dict[str, str](), []
    for name, code in read_folder(folder).items():
        tree = parsed(code)
        body = [s for s in tree.body if not is_docstring(s)] if tree is not None else None
        own = [s for s in body or () if not isinstance(s, ast.Import | ast.ImportFrom)]
        if body == []:
            notes.append(f"{name} is no candidate, for it holds no code")
        elif name == "__init__.py" and not defines(own, entry_point):
            notes.append(f"{name} is no candidate, for it does not define {entry_point}")
        else:
            found[name] = code
    if not found:
        raise BadSource(f"expected *.py files in {folder} that hold code, one candidate each, found none")
    return found, tuple(notes)


def read_folder(folder: Path) -> dict[str, str]:
    """Return the text of each ``*.py`` file of ``folder`` by its name, in order. Raises BadSource if there is none."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".py" and path.is_file())
        codes = [program_text(path.read_bytes()) for path in paths]
    except OSError as e:
        raise BadSource(f"expected a folder of candidates, {folder} cannot be read: {e.strerror or e}") from None
    if not paths:
        raise BadSource(f"expected *.py files in {folder}, one candidate each, found none; give another folder")
    return {path.name: code for path, code in zip(paths, codes, strict=True)}


def candidates_of(codes: Mapping[str, str], task: Task) -> list[Candidate]:
    """Return texts by name as candidates for ``task``: the model of each is its name, its temperature NaN."""
    return [
        Candidate(
            benchmark=task.benchmark,
            task_id=task.task_id,
            model=name,
            temperature=math.nan,
            sample_index=0,
            code=code,
        )
        for name, code in codes.items()
    ]


def _from_folder(where: str, options: CheckOptions, body: tuple[str, ...]) -> PreparedCheck:
    from difftrust.source.function import load_stub

    assert options.candidates is not None
    try:
        codes, notes = read_programs(options.candidates, where.rpartition("::")[2])
    except BadSource as e:
        raise WrongUsage(str(e)) from None
    function = load_stub(where, candidates=(*codes.values(), *body), needs_docstring=False, **options.known)
    found = candidates_of(codes, function.task)
    return PreparedCheck(function=function, candidates=found, options=options, notes=notes)


def _sampled(where: str, options: CheckOptions, body: tuple[str, ...]) -> PreparedCheck:
    """Ask the models for programs, and the first one for calls and conditions.

    Raises WrongUsage where the store cannot be written.
    """
    from difftrust.check.ask_models import ask_about, sample_candidates, spent_on  # loads polars
    from difftrust.source.function import load_stub, refused_examples

    known = options.known
    function, notes = load_stub(where, **known), list[str]()
    try:
        try:
            found = sample_candidates(function.task, options, note=notes.append)
        except WrongUsage as e:
            raise CannotAsk(str(e)) from None
        usd = spent_on(function.task, options) if options.max_usd is not None else 0.0
        left = None if options.max_usd is None else max(options.max_usd - usd, 0.0)
        suggested = ask_about(function.task, replace(options, max_usd=left))
    except (OSError, NoStore) as e:
        why = f"expected a folder for replies, {options.store} cannot be written: {e}; change --store"
        raise CannotAsk(why) from None
    refused = refused_examples(where, suggested.calls)
    notes += [f"a call in {suggested.path} is not used: {why}" for why in refused.values()]
    calls = [text for text in suggested.calls if text not in refused]
    codes = (*(candidate.code for candidate in found), *body)
    function = load_stub(where, **(known | {"examples": [*options.examples, *calls], "candidates": codes}))
    own = function.task.domain.requires if function.task.domain is not None else ""
    proposed = [Predicate(text=text, origin="model") for text in suggested.conditions if f"({text})" not in own]
    broken = [each for each in proposed if contradicted(each, function.allowed_calls)]
    notes += [f"a condition that the model suggests is not used, for an example breaks it: {p.text}" for p in broken]
    conditions = tuple(each.text for each in proposed if each not in broken)
    by = Suggestion(by=options.models[0], where=str(suggested.path), conditions=conditions)
    return PreparedCheck(
        function=function,
        candidates=found,
        options=options,
        suggestion=by if conditions else None,
        notes=tuple(notes),
        usd=usd + (suggested.usd or 0.0),
    )
