"""Candidates, calls and conditions for a check from language models, through a store that keeps their replies."""

import ast
import asyncio
import inspect
import json
import os
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl

from difftrust.check.options import CheckOptions
from difftrust.source.scopes import bound_names, tree_of
from difftrust.text import incomplete_lines
from difftrust.types.argument_types import Parameter
from difftrust.types.own import parameters_in
from difftrust.verify.verification import SUGGESTIONS
from difftrust_core.base.files import write_whole
from difftrust_core.base.literals import BadText, read_literal
from difftrust_core.base.records import Candidate
from difftrust_core.base.task import Task
from difftrust_core.exceptions import BadStore, TooFewCandidates, WrongUsage
from difftrust_core.generation.extraction import CUT_OFF, fenced_blocks, is_whole
from difftrust_core.generation.generate import generate, store_at
from difftrust_core.generation.missing import GenerationOptions, Incomplete
from difftrust_core.generation.prices import price_of
from difftrust_core.generation.prompt import filled, method_header
from difftrust_core.generation.providers import Ask, NoReply, Reply, check_model, close_connections, sample_reply
from difftrust_core.generation.sampling import run_in_thread
from difftrust_core.languages.python.syntax import parsed
from difftrust_core.store.store import Store

MOST = 10
"""Calls, and conditions."""
_LONGEST = 2_000
"""Characters of one call or condition."""
_TEMPLATE = resources.files(__package__ or "").joinpath("suggestion_prompt.txt")
_OWN_OBJECT = ("self", "cls")
_PURE = frozenset(
    {"abs", "all", "any", "bool", "bytearray", "bytes", "callable", "chr", "complex", "dict", "divmod", "enumerate"}
    | {"filter", "float", "frozenset", "hasattr", "int", "isinstance", "issubclass", "len", "list", "map", "max"}
    | {"min", "ord", "pow", "range", "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip"}
)
"""Builtins that a condition may use."""
_NO_CONDITION = ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr
_KINDS = {
    (False, False): inspect.Parameter.POSITIONAL_OR_KEYWORD,
    (False, True): inspect.Parameter.KEYWORD_ONLY,
    (True, False): inspect.Parameter.VAR_POSITIONAL,
    (True, True): inspect.Parameter.VAR_KEYWORD,
}
"""By whether a parameter stands for several, and is given by name."""
_UNREADABLE = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)


@dataclass(frozen=True, kw_only=True)
class Suggested:
    """Calls to start from and conditions that every input keeps, and the file that holds them."""

    calls: tuple[str, ...] = ()
    """As ``--example`` takes them: ``clamp(2, low=1)``."""
    conditions: tuple[str, ...] = ()
    """As ``--assume`` takes them: ``low <= high``."""
    path: Path
    """It need not exist: then nothing was suggested."""
    is_new: bool = False
    """The model was asked just now; otherwise the file was there."""
    usd: float | None = 0.0
    """What was paid just now; None is unknown."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What was understood of a reply."""

    calls: tuple[str, ...]
    conditions: tuple[str, ...]
    left_out: tuple[str, ...]
    """Statements that are neither, or too many."""


def question_about(task: Task) -> str:
    """Return the prompt that asks for realistic calls and preconditions of a function."""
    owner, _, name = task.entry_point.rpartition(".")
    parameters = [parameter for parameter in _parameter_names(task.signature) if parameter not in _OWN_OBJECT]
    values = {
        "entry_point": task.entry_point,
        "header": method_header(task) if owner else f"def {name}{task.signature}",
        "description": task.description.strip() or "(Its name and signature are all that is known.)",
        "preamble": task.preamble.strip("\n"),
        "example": f"{owner}(...).{name}(...)" if owner else f"{name}(...)",
        "parameters": ", ".join(f"`{parameter}`" for parameter in parameters) or "its arguments",
    }
    return filled(_TEMPLATE.read_text(encoding="utf-8"), values)


def read_reply(text: str, task: Task) -> Reading:
    """Return the calls and conditions in a reply; what is neither is left out, and named."""
    calls: dict[str, None] = {}
    conditions: dict[str, None] = {}
    left_out: list[str] = []
    for statement in _statements(fenced_blocks(text)):
        call, condition = call_in(statement, task), condition_in(statement, task)
        if call is not None and (len(calls) < MOST or call in calls):
            calls[call] = None
        elif condition is not None and (len(conditions) < MOST or condition in conditions):
            conditions[condition] = None
        else:
            left_out.append(statement if isinstance(statement, str) else _shown(statement))
    return Reading(calls=tuple(calls), conditions=tuple(conditions), left_out=tuple(left_out))


def _statements(blocks: Sequence[str]) -> Iterator[ast.stmt | str]:
    """Iterate over the statements of the blocks; where a block cannot be parsed, its lines are tried one by one."""
    for block in blocks:
        if (whole := parsed(block)) is not None:
            yield from whole.body
            continue
        for line in filter(None, map(str.strip, block.splitlines())):
            one = parsed(line.removeprefix(">>>").strip())
            yield from one.body if one is not None else [line]


def _shown(node: ast.AST) -> str:
    try:
        return ast.unparse(node)
    except _UNREADABLE:
        return type(node).__name__


def call_in(statement: ast.stmt | str, task: Task) -> str | None:
    """Return the call of the function that a statement is, None if it is none with literal arguments."""
    if not isinstance(statement, ast.Expr):
        return None
    try:
        text = ast.unparse(statement.value)
        is_call = len(text) <= _LONGEST and "\n" not in text and _is_call(statement.value, task)
    except _UNREADABLE:
        return None
    return text if is_call else None


def _is_call(node: ast.expr, task: Task) -> bool:
    owner, _, name = task.entry_point.rpartition(".")
    call = node if isinstance(node, ast.Call) else None
    if not owner:
        return call is not None and ast.unparse(call.func) == name and _takes(task.signature, call)
    reached = call.func if call else node  # a property is not called
    if not (isinstance(reached, ast.Attribute) and reached.attr == name):
        return False
    made = reached.value
    if isinstance(made, ast.Call):
        is_object = ast.unparse(made.func).split(".")[0] == owner and _is_literal(made)
        return is_object and (call is None or _takes(task.signature, call, given=("self", "cls")))
    return ast.unparse(made) == owner and call is not None and _takes(task.signature, call, given=("cls",))


def _is_literal(node: ast.expr) -> bool:
    try:
        read_literal(ast.unparse(node))
    except (BadText, *_UNREADABLE):
        return False
    return True


def _takes(signature: str, call: ast.Call, given: Sequence[str] = ()) -> bool:
    """Tell whether literal arguments fit the parameters; ``given``: a first parameter that is given already."""
    arguments = (*call.args, *(k.value for k in call.keywords))
    found = _signature(signature)
    if found is None or any(k.arg is None for k in call.keywords) or not all(map(_is_literal, arguments)):
        return False
    parameters = list(found.parameters.values())
    if parameters and parameters[0].name in given:
        found = found.replace(parameters=parameters[1:])
    try:
        found.bind(*call.args, **{str(k.arg): k.value for k in call.keywords})
    except TypeError:
        return False
    return True


def _signature(text: str) -> inspect.Signature | None:
    """Return the parameters of a function, nothing evaluated: a default is its text. None for what is no signature."""
    match parsed(f"def f{text}: ..."):
        case ast.Module(body=[ast.FunctionDef(args=found)]):
            return inspect.Signature([_parameter(each, found) for each in parameters_in(found)])
    return None


def _parameter(parameter: Parameter, of: ast.arguments) -> inspect.Parameter:
    by_place = any(argument.arg == parameter.name for argument in of.posonlyargs)
    kind = inspect.Parameter.POSITIONAL_ONLY if by_place else _KINDS[parameter.variadic, parameter.keyword]
    return inspect.Parameter(parameter.name, kind, default=parameter.default or inspect.Parameter.empty)


def _parameter_names(signature: str) -> list[str]:
    found = _signature(signature)
    return list(found.parameters) if found else []


def condition_in(statement: ast.stmt | str, task: Task) -> str | None:
    """Return the condition that an ``assert`` states over the parameters, None if it is none."""
    return _condition(statement.test, task) if isinstance(statement, ast.Assert) else None


def _condition(node: ast.expr, task: Task) -> str | None:
    try:
        text = ast.unparse(node)
        inside = list(ast.walk(node))
    except _UNREADABLE:
        return None
    names = [n for n in inside if isinstance(n, ast.Name)]
    bound = {n.id for n in names if not isinstance(n.ctx, ast.Load)} | {n.arg for n in inside if isinstance(n, ast.arg)}
    used = {n.id for n in names} - bound
    parameters = set(_parameter_names(task.signature)) | ({"self"} if "." in task.entry_point else set())
    known = parameters | _PURE | bound_names(tree_of(task.preamble))
    is_one = used <= known and used & parameters and not any(isinstance(n, _NO_CONDITION) for n in inside)
    return text if is_one and len(text) <= _LONGEST and "\n" not in text else None


def suggestion_path(root: Path, task: Task) -> Path:
    """Return where the suggestions for a task are kept in the store at ``root``."""
    return root / SUGGESTIONS / f"{task.task_id.replace('/', '.')}.toml"


def write_suggestions(path: Path, task: Task, reading: Reading, *, model: str, usd: float | None, reply: str) -> None:
    """Write what was understood of a reply, and the reply itself, whole or not at all. Raises BadStore."""
    cost = "" if usd is None else f"cost_usd = {usd!r}\n"
    text = (
        f"# Suggested for {task.entry_point} by the model named below. Edit it: while it is there, nothing is asked.\n"
        "# The check starts from these calls as well:\n"
        f"calls = {_array(reading.calls)}\n"
        "# The check leaves inputs out on which one of these does not hold:\n"
        f"conditions = {_array(reading.conditions)}\n\n"
        f"[asked]\nmodel = {_string(model)}\n{cost}"
        "# Of the reply, neither a call with literal arguments nor a condition:\n"
        f"left_out = {_array(reading.left_out)}\n"
        f"reply = {_long_string(reply)}\n"
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise BadStore(f"{path} cannot be written: {e.strerror}; make room and run the command again") from None
    write_whole(path, text)


def read_suggestions(path: Path, task: Task) -> Reading:
    """Return what the file holds. Raises WrongUsage if it is not what it should be, and names the entry."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise WrongUsage(f"{path} cannot be read: {e.strerror or e}") from None
    except (ValueError, RecursionError) as e:
        raise WrongUsage(f"expected TOML in {path}, found none ({e}); correct it, or delete it to ask anew") from None
    calls = [
        _checked(text, call_in, path, "a call with literal arguments", task) for text in _texts(found, "calls", path)
    ]
    conditions = [
        _checked(f"assert {text}", condition_in, path, "an expression over the parameters", task)
        for text in _texts(found, "conditions", path)
    ]
    return Reading(calls=tuple(calls), conditions=tuple(conditions), left_out=())


def _texts(found: dict[str, Any], key: str, path: Path) -> list[str]:
    texts = found.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise WrongUsage(f"expected a list of texts for {key} in {path}; correct it, or delete the file to ask anew")
    if len(texts) > MOST:
        raise WrongUsage(f"expected at most {MOST} {key} in {path}, got {len(texts)}; take some out")
    return texts


def _checked(text: str, read: Any, path: Path, wanted: str, task: Task) -> str:
    tree = parsed(text)
    one = read(tree.body[0], task) if tree is not None and len(tree.body) == 1 else None
    if one is None:
        shown = text.removeprefix("assert ")[:200]
        raise WrongUsage(f"expected {wanted} of {task.entry_point} in {path}, got {shown!r}; correct it or take it out")
    return str(one)


def _array(texts: Sequence[str]) -> str:
    return "[\n" + "".join(f"    {_string(text)},\n" for text in texts) + "]" if texts else "[]"


def _string(text: str) -> str:
    plain = text.encode("utf-8", "replace").decode()  # a lone surrogate cannot be written
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")


def _long_string(text: str) -> str:
    lines = "\n".join(_string(line)[1:-1] for line in text.split("\n"))
    return f'"""\n{lines}"""'


_TEMPERATURE = 0.6
MAX_TOKENS = 2048
_MORE_ROOM = 4
"""Times as many tokens where the reply was cut off."""
_ATTEMPTS = 3
_TIMEOUT = 120.0
_LONGEST_WAIT = 30.0
_OVERHEAD = 64
"""Tokens that a provider may put around a prompt."""
_SHOWN = 400
"""Characters of the calls that are shown; the file holds all."""


def sample_candidates(
    task: Task, options: CheckOptions, *, note: Callable[[str], None] = lambda line: None
) -> list[Candidate]:
    """Return the candidates of the task, sampling those that the store lacks; each is paid for once.

    Replies that were cut off or hold no complete function are no candidates: ``options.say`` and ``note`` are told
    which. Raises WrongUsage where nothing can be asked before something is mended (the store stays as it was, or
    unmade), TooFewCandidates if fewer than two came; what did come is in the store.
    """
    say = options.say
    with store_at(options.store) as store:
        sampling = _Sampling(store, task, options)
        found = [candidate for model, share in options.shares().items() for candidate in sampling.of(model, share)]
        lines = incomplete_lines(sampling.incomplete)
        for line in lines:
            say(line)
            note(line)
        if len(found) < 2 and sampling.refusals:
            raise WrongUsage(next(iter(sampling.refusals.values())))
        if len(found) < 2:
            why = f" ({'; '.join(lines)})" if lines else ""
            remedy = "try another model, or another store" if lines else "run it again"
            raise TooFewCandidates(f"a check needs m >= 2 candidates, got {len(found)} of {options.m}{why}; {remedy}")
    for model, reason in sampling.refusals.items():
        say(f"{model}: {reason}")
    n_missing = options.m - len(found) - len(sampling.incomplete)
    if n_missing:
        say(f"{n_missing} of {options.m} programs are missing; the check goes on without them")
    return found


class _Sampling:
    """The models of one request, asked one after the other within one budget."""

    def __init__(self, store: Store, task: Task, options: CheckOptions):
        self._store, self._task, self._options, self._say = store, task, options, options.say
        self._left = options.max_usd
        self.incomplete: list[Incomplete] = []
        self.refusals: dict[str, str] = {}
        """What has to be mended before a model can be asked."""

    def of(self, model: str, share: int) -> Iterator[Candidate]:
        """Yield the candidates of one model."""
        self._say(f"{share} programs from {model} (replies are kept in {self._store.root})")
        if self._left is None or self._left > 0:
            self._ask(model, share)
        temperature = self._options.temperature
        samples = stored_samples(self._store, self._task, model, temperature).head(share)
        if self._left is not None and "cost_usd" in samples.columns:
            self._left -= float(samples["cost_usd"].sum())
        for row in samples.iter_rows(named=True):
            if row.get("extraction") is not None and not self._is_program(row):
                self.incomplete.append(_incomplete(row, self._task, model))
                continue
            yield Candidate(
                benchmark=self._task.benchmark,
                task_id=self._task.task_id,
                model=model,
                temperature=temperature,
                sample_index=row["sample_index"],
                code=row["code"],
            )

    def _is_program(self, row: dict[str, Any]) -> bool:
        return row.get("finish_reason") != "length" and is_whole(row["code"], self._task)

    def _ask(self, model: str, share: int) -> None:
        wanted = GenerationOptions(api_base=self._options.api_base, max_usd=self._left)
        done = generate(
            self._store,
            [self._task],
            models=[model],
            temperature=self._options.temperature,
            m=share,
            options=wanted,
            say=self._say,
        )
        if done.refusal:
            self.refusals[model] = done.refusal
        by_reason: dict[str, list[str]] = {}
        for failure in done.failures:
            by_reason.setdefault(failure.reason, []).append(str(failure.sample_index))
        for reason, indices in by_reason.items():
            if reason != done.refusal:
                self._say(f"failed: sample{'s' if len(indices) > 1 else ''} {', '.join(indices)} of {model}: {reason}")


def _incomplete(row: dict[str, Any], task: Task, model: str) -> Incomplete:
    return Incomplete(
        benchmark=task.benchmark,
        model=model,
        task_id=task.task_id,
        sample_index=row["sample_index"],
        extraction=CUT_OFF if row.get("finish_reason") == "length" else row["extraction"],
    )


def ask_about(task: Task, options: CheckOptions) -> Suggested:
    """Return realistic calls of a function and the preconditions of its callers, as the first model sees them.

    One request, whose answer is kept in the store in a TOML file that may be edited; it is read again
    where it is there. ``options.say`` is told what was taken and where it is. Nothing of it is executed here.

    Raises WrongUsage for a file that was edited into something else, and for what has to be mended before the model
    can be asked.
    """
    path, model, say = suggestion_path(options.store, task), options.models[0], options.say
    usd: float | None = 0.0
    is_new = not path.exists()
    if not is_new:
        reading = read_suggestions(path, task)
        say(f"suggestions taken from {path}: {_counted(reading)}; edit it to change them, delete it to ask anew")
    else:
        try:
            with store_at(options.store):
                text, usd = _ask_once(question_about(task), task, options)
                reading = read_reply(text, task)
                write_suggestions(path, task, reading, model=model, usd=usd, reply=text)
        except _NotAnswered as e:
            say(f"{model} was not asked for calls and preconditions: {e}; the check goes on without them")
            return Suggested(path=path)
        say(f"suggestions by {model}, kept in {path}: {_counted(reading)}; edit it to change them")
    _say_reading(reading, say)
    return Suggested(calls=reading.calls, conditions=reading.conditions, path=path, is_new=is_new, usd=usd)


class _NotAnswered(Exception):
    """The question brought no reply; the message says why, in one line without keys."""


def _ask_once(prompt: str, task: Task, options: CheckOptions) -> tuple[str, float | None]:
    """Return the reply and what it cost, None if unknown; asked once more with more room if it was cut off.

    Raises _NotAnswered if no reply came or it might cost too much, WrongUsage for what has to be mended first: the key,
    the name, the address.
    """
    model, budget = options.models[0], options.max_usd
    check_model(model, api_base=options.api_base, tasks=[task])
    price = price_of(model, api_base=options.api_base, environment=os.environ)
    if budget is not None and price is None:
        raise WrongUsage(f"--max-usd needs a price, and that of {model} is not known; leave --max-usd out")
    replies: list[Reply] = []
    n_bytes = len(prompt.encode("utf-8", "replace")) + _OVERHEAD

    def costs() -> list[float | None]:
        return [price.of(reply.prompt_tokens, reply.completion_tokens) if price else None for reply in replies]

    def may_cost(room: int) -> float:
        bound = price.of(n_bytes, room) if price else None
        return (bound or 0.0) + sum(cost if cost is not None else bound or 0.0 for cost in costs())

    async def run() -> None:
        try:
            for room in (MAX_TOKENS, _MORE_ROOM * MAX_TOKENS):
                is_whole_reply = bool(replies) and replies[-1].finish_reason != "length"
                if not is_whole_reply and (budget is None or may_cost(room) <= budget):
                    replies.append(await _with_patience(_request(prompt, task, options, room)))
        finally:
            await close_connections()

    try:
        run_in_thread(
            run, stop=lambda: None, on_interrupt=lambda: options.say("stopping: waiting for the reply under way")
        )
    except NoReply as e:
        if not replies:
            error = WrongUsage if e.is_lasting or e.is_unreachable else _NotAnswered
            raise error(e.reason) from None
    if not replies:
        raise _NotAnswered(f"it might cost more than --max-usd {budget:g}")
    known = [cost for cost in costs() if cost is not None]
    return replies[-1].text, sum(known) if len(known) == len(replies) else None


def _request(prompt: str, task: Task, options: CheckOptions, room: int) -> Ask:
    return Ask(
        model=options.models[0],
        prompt=prompt,
        temperature=_TEMPERATURE,
        max_tokens=room,
        timeout=_TIMEOUT,
        api_base=options.api_base,
        task=task,
        sample_index=0,
        m=1,
        seed=0,
    )


async def _with_patience(ask: Ask) -> Reply:
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return await sample_reply(ask)
        except NoReply as e:
            wait = max(float(2 ** (attempt - 1)), e.retry_after or 0.0)
            if attempt == _ATTEMPTS or not e.can_be_retried or e.is_unreachable or wait > _LONGEST_WAIT:
                raise
        await asyncio.sleep(wait)
    raise AssertionError("the last attempt returns or raises")


def _counted(reading: Reading) -> str:
    n, k = len(reading.calls), len(reading.conditions)
    return f"{n} call{'' if n == 1 else 's'}, {k} condition{'' if k == 1 else 's'}"


def _say_reading(reading: Reading, say: Callable[[str], None]) -> None:
    for what, texts in (("calls", reading.calls), ("conditions", reading.conditions)):
        shown = "; ".join(texts)
        if shown:
            say(f"  {what}: {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '...'}")
    if reading.left_out:
        n = len(reading.left_out)
        say(f"  {n} line{'s' if n > 1 else ''} of the reply left out: no call with literal arguments, no condition")


def spent_on(task: Task, options: CheckOptions) -> float:
    """Return what the candidates of the task in the store cost, in dollars; unknown prices count as 0."""
    with store_at(options.store) as store:
        found = [
            stored_samples(store, task, model, options.temperature).head(share)
            for model, share in options.shares().items()
        ]
    return sum(float(samples["cost_usd"].sum()) for samples in found if "cost_usd" in samples.columns)


def stored_samples(store: Store, task: Task, model: str, temperature: float) -> pl.DataFrame:
    """Return a model's samples for the task as the store holds them, with their code, by sample index."""
    where: dict[str, object] = {"benchmark": task.benchmark}
    samples = store.read("candidates", where).filter(
        (pl.col("task_id") == task.task_id) & (pl.col("model") == model) & (pl.col("temperature") == temperature)
    )
    texts = store.read("programs", where).select("task_id", "program_id", "code").unique(["task_id", "program_id"])
    return samples.join(texts, on=["task_id", "program_id"]).sort("sample_index")
