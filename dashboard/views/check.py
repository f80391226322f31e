"""Your own function: where several programs for it disagree, without a reference.

Text that a user pasted is parsed here, never executed; what a check found is shown as plain text.
"""

import ast
import json
import re
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import streamlit as st

from dashboard import frame, permissions, state, text
from dashboard.background import JOBS, Job, Step
from dashboard.components import job_status, model_choice
from dashboard.frame import COMPARISONS, FILTERS
from difftrust_core.base.task import Task
from difftrust_core.checks.spelling import spelled_method
from difftrust_core.exceptions import BadStub, DifftrustError
from difftrust_core.generation.simulated import sample_simulated
from difftrust_core.metrics.equality import Equality
from difftrust_core.report.check_text import (
    Report,
    closing,
    contradictions_of,
    difference_of,
    effects_alone,
    excluded_of,
    facts,
    outcomes_of,
    outcomes_shown,
    pins_of,
    shown_disagreements,
    validation_of,
)

TITLE = "Check"
_ABOUT = (
    "Paste a function with a signature and a docstring, and programs for it. They run on fuzzed inputs in a sandbox on "
    "this machine. Where two of them disagree on an input that the function allows, at least one is wrong; the "
    "smallest such input is shown."
)
_EXAMPLE = (
    "def middle(numbers: list[int]) -> float:\n"
    '    """Return the middle of the numbers.\n\n    >>> middle([3, 1, 2])\n    2\n    """\n'
)
_SOURCES = {"pasted": "pasted", "files": "uploaded files", "sampled": "sampled from a model"}
_STUB, _BOXES, _BOX = "check:stub", "check:boxes", "check:box:{}"
_LONGEST = 100_000
_MOST_BOXES = 40
_LIMITS = (30, 60, 120, 300, 600)
_UNDECIDED = 3
_STORE = Path("difftrust-check")
_COMPARISONS: dict[str, str] = {Equality.VALUE: "by value (floats within 1e-9)", **COMPARISONS}
_TITLES = {
    "incoherent": ":material/error: The programs disagree",
    "disagreement found": ":material/error: The programs disagree on an input that seeks a disagreement",
    "coherent": ":material/check: The programs agree",
    "undecided": ":material/help: Undecided",
}


def draw() -> None:
    """Draw the page."""
    frame.open_page_without_store(TITLE, _ABOUT)
    if not permissions.may_execute():
        st.info(permissions.READ_ONLY)
        return
    name = state.read_text("check")
    job = JOBS.find(f"check:{name}") if name else None
    if job is not None:
        _remember(job.about)
    options = _choose_options()
    stub = st.text_area(
        "The function",
        key=_STUB,
        placeholder=_EXAMPLE,
        height=190,
        max_chars=_LONGEST,
        help="The last function of the text, or the last method of its last class. It is parsed, never imported here.",
    )
    source = state.choose_one(
        "Programs", tuple(_SOURCES), name="programs", show=st.radio, horizontal=True, format_func=_SOURCES.__getitem__
    )
    files, words = _programs(source, stub, options)
    is_busy = job is not None and job.is_running
    if st.button("Check", type="primary", disabled=is_busy):
        _start(stub, files, words, options)
    if name and job is None:
        st.markdown("The result of this check is no longer kept; run it again.")
    if job is not None:
        _show(job, name)


def _choose_options() -> dict[str, Any]:
    with st.sidebar:
        chosen: dict[str, Any] = {
            "n": state.choose_one("Inputs", (10, 100, 1_000, 5_000), name="check_n", default=1_000),
            "seed": state.choose_one("Random seed of the inputs", range(100), name="seed", default=0),
            "equality": state.choose_one(
                "Outcome comparison",
                tuple(_COMPARISONS),
                name="check_equality",
                show=st.radio,
                format_func=_COMPARISONS.__getitem__,
            ),
            "validity": state.choose_one(
                "Input filter", ("quorum", "all"), name="validity", show=st.radio, format_func=FILTERS.__getitem__
            ),
            "limit": state.choose_one("Time limit (seconds)", _LIMITS, name="limit", default=120),
        }
    text.show_small(
        f"No store is read · n = {chosen['n']:,} inputs · seed {chosen['seed']} · "
        f"outcome comparison: {_COMPARISONS[chosen['equality']]} · input filter: {FILTERS[chosen['validity']]} · "
        f"time limit {chosen['limit']} s"
    )
    return chosen


def _remember(about: Mapping[str, Any]) -> None:
    """Fill the boxes with the inputs of the check, once per session: the page was loaded anew."""
    st.session_state.setdefault(_STUB, about["stub"])
    boxes = about["boxes"]
    st.session_state.setdefault(_BOXES, max(2, len(boxes)))
    for number, code in enumerate(boxes):
        st.session_state.setdefault(_BOX.format(number), code)


def _programs(source: str, stub: str, options: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Return the programs by file name, or the words that sample them."""
    if source == "files":
        uploaded = st.file_uploader("Python files, one program each", type="py", accept_multiple_files=True)
        return candidate_files([(f.name, f.getvalue().decode("utf-8", "replace")) for f in uploaded or []]), []
    if source == "sampled":
        return _sampled(stub, options)
    n_boxes = min(st.session_state.setdefault(_BOXES, 2), _MOST_BOXES)
    columns = st.columns(2)
    codes = []
    for number in range(n_boxes):
        with columns[number % 2]:
            codes.append(st.text_area(f"Program {number + 1}", key=_BOX.format(number), height=150, max_chars=_LONGEST))
    if n_boxes < _MOST_BOXES and st.button("Add a program"):
        st.session_state[_BOXES] = n_boxes + 1
        st.rerun()
    return candidate_files([("pasted", code) for code in codes if code.strip()]), []


def _sampled(stub: str, options: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
    left, middle, right = st.columns([2, 1, 1])
    with left:
        model, base = model_choice.choose_model(name="ask")
    with middle:
        m = state.choose_one("Programs", (2, 5, 10, 20, 50), name="ask_m", default=10)
    with right:
        t = state.choose_one(
            "Sampling temperature", [i / 10 for i in range(21)], name="ask_t", default=0.6, format_func=state.spell
        )
    if model.startswith("simulated/"):
        st.markdown("A simulated coder makes faulty copies of the pasted function, which must work. No model is asked.")
        return simulated_files(stub, model, m=m, temperature=t, seed=options["seed"]), []
    st.markdown(f"**{m} requests** to the model, at its price; replies are stored and never paid for twice.")
    words = [f"--model={model}", f"-m{m}", f"--temperature={t:g}", f"--store={_STORE.absolute()}"]
    agreed = st.checkbox("Send the requests at my cost", key="check:agreed")
    return {}, [*words, *([f"--api-base={base}"] if base else [])] if agreed and model else []


def functions_of(source: str) -> list[str]:
    """Return the functions at the top of a text and the methods of its classes, ``Class.method``, as they stand.

    Raises BadStub if there is none, or it is no Python.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what the text contains, e.g. an invalid escape
            body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        raise BadStub(f"expected Python, found {type(e).__name__}: {e}; correct the text") from None
    found = []
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(statement.name)
        elif isinstance(statement, ast.ClassDef):
            methods = [s.name for s in statement.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]
            found += [f"{statement.name}.{name}" for name in methods if not name.startswith("__")]
    if not found:
        raise BadStub("expected a function or method with a signature and a docstring, found none; paste one")
    return found


def candidate_files(programs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return file name -> program, in order; of names only plain letters are kept."""
    width = len(str(len(programs)))
    return {
        f"{number:0{width}d}-{re.sub(r'[^A-Za-z0-9_-]', '', name.removesuffix('.py'))[:40]}.py": code
        for number, (name, code) in enumerate(programs, 1)
    }


def simulated_files(stub: str, model: str, *, m: int, temperature: float, seed: int) -> dict[str, str]:
    """Return the programs of a simulated coder for a function that works; none where the text cannot be broken."""
    try:
        name = functions_of(stub)[-1]
        task = Task(
            benchmark="check",
            task_id=f"pasted/{re.sub(r'[^A-Za-z0-9_]', '_', name)}",
            entry_point=name,
            signature="",
            description="",
            seed_inputs=(),
            reference=stub,
        )
        made = sample_simulated(task, model, temperature=temperature, m=m, seed=seed)
    except DifftrustError:
        return {}
    return candidate_files([(model.replace("/", "-"), candidate.code) for candidate in made])


def _start(stub: str, files: Mapping[str, str], words: list[str], options: dict[str, Any]) -> None:
    """Write the function and the programs to a temporary folder, and start the check there."""
    try:
        function = functions_of(stub)[-1]
    except DifftrustError as e:
        st.error("The function cannot be checked.")
        text.show_code(str(e), language=None)
        return
    if len(files) < 2 and not words:
        st.error("A check needs at least two programs, or a model and your consent to send requests.")
        return
    folder = Path(tempfile.mkdtemp(prefix="difftrust-check-"))
    (folder / "stub.py").write_text(stub, encoding="utf-8", errors="surrogatepass")
    (folder / "candidates").mkdir()
    for name, code in files.items():
        (folder / "candidates" / name).write_text(code, encoding="utf-8", errors="surrogatepass")
    given = words or [f"--candidates={folder / 'candidates'}"]
    command = ["check", f"{folder / 'stub.py'}::{function}", *given, "--json", f"-n{options['n']}"]
    command += [f"--seed={options['seed']}", f"--equality={options['equality']}", f"--validity={options['validity']}"]
    step = Step(label="Checking", words=tuple(command), good=(0, 1, _UNDECIDED))
    job = Job(
        steps=[step],
        limit=options["limit"],
        about={"stub": stub, "boxes": list(files.values())},
        at_end=partial(shutil.rmtree, folder, ignore_errors=True),
    )
    name = secrets.token_urlsafe(9)
    try:
        JOBS.start(f"check:{name}", job)
    except DifftrustError as e:
        st.error(str(e))
        return
    state.put("check", name)
    st.rerun()


def _show(job: Job, name: str) -> None:
    report = None if job.is_running else _report(job)
    if report is None:
        job_status.show_job(job, name="check")
        return
    _show_verdict(report)
    file_name = f"check-{re.sub(r'[^A-Za-z0-9_]', '', report['task']['entry_point'])}.json"
    st.download_button("Download the report as JSON", job.output, file_name, "application/json", on_click="ignore")


def _report(job: Job) -> dict[str, Any] | None:
    """Return the report of the check, None where it wrote none."""
    try:
        found = json.loads(job.output)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "verdict" in found else None


def _show_verdict(report: Report) -> None:
    """Write the verdict, the certified statement, the behaviours, and the smallest disagreeing inputs."""
    st.subheader(_TITLES[report["verdict"]], anchor=False)
    text.show_sentence(report["statement"])
    for line in facts(report):
        text.show_small(line)
    for call, want, who in contradictions_of(report):
        st.markdown("**An example says what is right**, and candidates contradict it")
        text.show_code("\n".join([call, f"expected: {want}", *who]), language=None)
    _show_clusters(report)
    for number, found in enumerate(shown_disagreements(report)):
        _show_disagreement(report, found, number)
    for call, doing in validation_of(report):
        st.markdown("**Validation differs** on an input that was left out: the docstring may not allow it")
        text.show_code("\n".join([call, *doing]), language=None)
    if excluded := excluded_of(report):
        st.markdown("**Left out by conditions that the model suggests**")
        text.show_code("\n".join(excluded), language=None)
    if report["consensus"] is not None:
        first = report["clusters"][0]
        with st.expander(f"Consensus program: {len(first['candidates'])} of {report['m']} candidates behave like it"):
            text.show_code(report["consensus"])
    next_step, *notes = closing(report)
    text.show_sentence(next_step)
    for note in notes:
        text.show_small(note)


def _show_clusters(report: Report) -> None:
    st.markdown("**Behaviours**: candidates with the same outcome on every input.")
    rows = [
        {
            "behaviour": cluster["number"],
            "candidates": len(cluster["candidates"]),
            "files": text.one_line(", ".join(cluster["candidates"]), most=300),
            "outcomes": outcomes_of(cluster),
        }
        for cluster in report["clusters"]
    ]
    st.dataframe(pl.DataFrame(rows), hide_index=True)
    with st.expander("Smallest program of each behaviour"):
        for cluster in report["clusters"]:
            st.markdown(f"Behaviour {cluster['number']}")
            text.show_code(cluster["code"])


def _show_disagreement(report: Report, found: Mapping[str, Any], number: int) -> None:
    with st.container(border=True, key=f"disagreement-{number}"):
        st.markdown(f"**Behaviours {difference_of(found, report)}**")
        text.show_code(spelled_method(report["task"]["entry_point"], found["arguments"]))
        if effects := effects_alone(found, report):
            text.show_small(effects)
        sides = zip(
            st.columns(2),
            (found["first"], found["second"]),
            outcomes_shown(found, report),
            pins_of(found, report),
            strict=True,
        )
        for side, behaviour, outcome, pin in sides:
            with side:
                st.markdown(f"Behaviour {behaviour}")
                text.show_code(outcome, language=None)
                if pin is not None:
                    text.show_small(f"If this outcome is right, add to the command line: --pin {pin}")
        with st.expander("Difference between the two programs"):
            text.show_code(found["difference"], language="diff")
