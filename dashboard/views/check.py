"""A function of one's own: where several programs for it disagree, without knowing what is right."""

import json
import re
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import asked, running, sharing, state, text
from dashboard.jobs import JOBS, Job, Step
from dashboard.parts.verdict import show_verdict
from dashboard.pasted import candidate_files, functions_of, simulated_files
from difftrust_core.exceptions import DifftrustError
from difftrust_core.results import EQUALITIES

TITLE = "Check"
_ABOUT = (
    "Paste a function with a signature and a docstring, and programs for it. They run on fuzzed inputs in a sandbox on "
    "this machine; where two of them disagree, at least one is wrong, and the smallest such input is shown."
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


def draw() -> None:
    """Draw the page."""
    st.title(TITLE, anchor=False)
    st.markdown(_ABOUT)
    if not sharing.may_execute():
        st.info(sharing.READ_ONLY)
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
        help="Nothing of it is imported.",
    )
    source = state.choose_one(
        "Programs", tuple(_SOURCES), name="programs", show=st.radio, horizontal=True, format_func=_SOURCES.__getitem__
    )
    files, words = _programs(source, stub, options)
    is_busy = job is not None and job.is_running
    if st.button("Check", type="primary", disabled=is_busy):
        _start(stub, files, words, options)
    if name and job is None:
        st.markdown("The check that this link names is no longer kept: run it again.")
    if job is not None:
        _show(job, name)


def _choose_options() -> dict[str, Any]:
    with st.sidebar:
        chosen: dict[str, Any] = {
            "n": state.choose_one("Inputs", (10, 100, 1_000, 5_000), name="check_n", default=1_000),
            "seed": state.choose_one("Seed of the inputs", range(100), name="seed", default=0),
            "equality": state.choose_one("Outcomes agree by the rule", EQUALITIES, name="equality", show=st.radio),
            "validity": state.choose_one("Inputs kept", ("quorum", "all"), name="validity", show=st.radio),
            "limit": state.choose_one("At most seconds", _LIMITS, name="limit", default=120),
        }
    text.show_small(
        f"No store is read · n = {chosen['n']:,} inputs · seed {chosen['seed']} · equality {chosen['equality']} · "
        f"inputs kept by {chosen['validity']} · ended after {chosen['limit']} s"
    )
    return chosen


def _remember(about: Mapping[str, Any]) -> None:
    """Fill the boxes with what the check was made of, once a session: the page was loaded anew."""
    st.session_state.setdefault(_STUB, about["stub"])
    boxes = about["boxes"]
    st.session_state.setdefault(_BOXES, max(2, len(boxes)))
    for number, code in enumerate(boxes):
        st.session_state.setdefault(_BOX.format(number), code)


def _programs(source: str, stub: str, options: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Return the programs by file name, or the words that sample them."""
    if source == "files":
        uploaded = st.file_uploader("Python files, a program each", type="py", accept_multiple_files=True)
        return candidate_files([(f.name, f.getvalue().decode("utf-8", "replace")) for f in uploaded or []]), []
    if source == "sampled":
        return _sampled(stub, options)
    n_boxes = min(st.session_state.setdefault(_BOXES, 2), _MOST_BOXES)
    columns = st.columns(2)
    codes = []
    for number in range(n_boxes):
        with columns[number % 2]:
            codes.append(st.text_area(f"Program {number + 1}", key=_BOX.format(number), height=150, max_chars=_LONGEST))
    if n_boxes < _MOST_BOXES and st.button("One more program"):
        st.session_state[_BOXES] = n_boxes + 1
        st.rerun()
    return candidate_files([("pasted", code) for code in codes if code.strip()]), []


def _sampled(stub: str, options: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
    left, middle, right = st.columns([2, 1, 1])
    with left:
        model, base = asked.choose_model(name="ask")
    with middle:
        m = state.choose_one("Programs", (2, 5, 10, 20, 50), name="ask_m", default=10)
    with right:
        t = state.choose_one(
            "At temperature", [i / 10 for i in range(21)], name="ask_t", default=0.6, format_func=state.spell
        )
    if model.startswith("simulated/"):
        st.markdown("A simulated coder breaks the function that you pasted, which so has to work: no model is asked.")
        return simulated_files(stub, model, m=m, temperature=t, seed=options["seed"]), []
    st.markdown(f"**{m} requests** to the model, at its price; replies are kept and never paid for twice.")
    words = [f"--model={model}", f"-m{m}", f"--temperature={t:g}", f"--store={_STORE.absolute()}"]
    agreed = st.checkbox("Ask it, at my cost", key="check:agreed")
    return {}, [*words, *([f"--api-base={base}"] if base else [])] if agreed and model else []


def _start(stub: str, files: Mapping[str, str], words: list[str], options: dict[str, Any]) -> None:
    """Write what is checked to a folder of its own, and start the check there."""
    try:
        function = functions_of(stub)[-1]
    except DifftrustError as e:
        st.error("The function cannot be checked.")
        text.show_code(str(e), language=None)
        return
    if len(files) < 2 and not words:
        st.error("A check needs at least two programs, or a model and your consent to ask it.")
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
        running.show_job(job, name="check")
        return
    show_verdict(report)
    file_name = f"check-{re.sub(r'[^A-Za-z0-9_]', '', report['task']['entry_point'])}.json"
    st.download_button("All of it as JSON", job.output, file_name, "application/json", on_click="ignore")


def _report(job: Job) -> dict[str, Any] | None:
    """Return what the check wrote, None where it wrote nothing whole."""
    try:
        found = json.loads(job.output)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "verdict" in found else None
