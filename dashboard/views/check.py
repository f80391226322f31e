"""Your own function: where several programs for it disagree, without a reference.

Text that a user pasted is parsed here, never executed; what a check found is shown as plain text.
"""

import json
import re
import secrets
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import frame, permissions, state
from dashboard.background import JOBS, Job, Step
from dashboard.components import job_status
from dashboard.components.check_form import ASKED, Form, fill_example, remember, show_form
from dashboard.components.check_questions import ANSWERS, show_questions
from dashboard.components.check_result import show_result, show_verdict
from dashboard.components.pasted import functions_of, with_names
from dashboard.elements import in_row
from difftrust_core.exceptions import DifftrustError

TITLE = "Check"
_ABOUT = (
    "Paste a function with a signature and a docstring, and programs for it. They run on fuzzed inputs in a sandbox on "
    "this machine; no store is read. Where two of them disagree on an input that the function allows, at least one is "
    "wrong; the smallest such input is shown."
)
_UNDECIDED = 3


def draw() -> None:
    """Draw the page."""
    frame.open_page_without_store(TITLE, _ABOUT)
    if not permissions.may_execute():
        st.info(permissions.READ_ONLY)
        return
    name = state.read_text("check")
    job = JOBS.find(f"check:{name}") if name else None
    if job is not None:
        remember(job.about)
    is_busy = job is not None and job.is_running
    left, right = st.columns([5, 7], gap="medium")
    with left:
        with in_row():
            is_asked = st.button("Check", type="primary", disabled=is_busy)
            st.button(
                "Run the example", on_click=fill_example, disabled=is_busy,
                help="Fills in a function and two programs for it, and checks them.",
            )  # fmt: skip
        form = show_form()
    with right:
        if (st.session_state.pop(ASKED, False) or is_asked) and not is_busy:
            _start(form)
        _show(job, name)


def _start(form: Form) -> None:
    """Write the function and the programs to a temporary folder, and start the check there."""
    try:
        function = functions_of(form.stub)[-1]
    except DifftrustError as e:
        frame.show_error("The function cannot be checked.", e)
        return
    if len(form.files) < 2 and not form.words:
        st.error("A check needs at least two programs, or a model and your consent to send requests.")
        return
    folder = Path(tempfile.mkdtemp(prefix="difftrust-check-"))
    (folder / "stub.py").write_text(form.stub, encoding="utf-8", errors="surrogatepass")
    (folder / "candidates").mkdir()
    for name, code in form.files.items():
        (folder / "candidates" / name).write_text(code, encoding="utf-8", errors="surrogatepass")
    step = Step(label="Checking", words=_words(form, folder, function), good=(0, 1, _UNDECIDED))
    job = Job(
        steps=[step],
        limit=form.options["limit"],
        about={
            "stub": form.stub,
            "boxes": list(form.files.values()),
            "examples": list(form.examples),
            "assumptions": list(form.assumptions),
            "n": form.options["n"],
        },
        at_end=partial(shutil.rmtree, folder, ignore_errors=True),
    )
    name = secrets.token_urlsafe(9)
    if job_status.start_job(f"check:{name}", job):
        state.put("check", name)
        state.put(ANSWERS, None)
        st.rerun()


def _words(form: Form, folder: Path, function: str) -> tuple[str, ...]:
    """Return the command line; after = even a text with a dash is a value."""
    options = form.options
    return (
        "check",
        f"{folder / 'stub.py'}::{function}",
        *(form.words or [f"--candidates={folder / 'candidates'}"]),
        *(f"--example={example}" for example in form.examples),
        *(f"--assume={assumption}" for assumption in form.assumptions),
        "--format=json",
        "--ask",
        f"-n{options['n']}",
        f"--seed={options['seed']}",
        f"--equality={options['equality']}",
        f"--inputs={options['validity']}",
    )


def _show(job: Job | None, name: str) -> None:
    if job is None:
        if name:
            st.markdown("The result of this check is no longer kept; run it again.")
        else:
            st.info("The verdict is shown here, and the smallest input on which programs differ.")
        return
    report = None if job.is_running else _report(job)
    if report is None:
        job_status.show_job(job, name="check")
        return
    questions = report.pop("questions", None)
    named = with_names(report)
    show_verdict(named)
    show_questions(questions)
    show_result(named, job.about["n"])
    file_name = f"check-{re.sub(r'[^A-Za-z0-9_]', '', report['task']['entry_point'])}.json"
    st.download_button("Download the report as JSON", job.output, file_name, "application/json", on_click="ignore")


def _report(job: Job) -> dict[str, Any] | None:
    """Return the report of the check, None where it wrote none."""
    try:
        found = json.loads(job.output)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "verdict" in found else None
