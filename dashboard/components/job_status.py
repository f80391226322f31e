"""A job of the server on the page: its progress, its messages, a button to cancel it."""

import streamlit as st

from dashboard import text
from dashboard.background import JOBS, Job, State
from difftrust_core.exceptions import DifftrustError

_EVERY = 1.0
_SHOWN = 12
_WORDS = {
    State.DONE: "Done.",
    State.FAILED: "Failed; its messages are below.",
    State.CANCELLED: "Cancelled. Finished work is kept.",
    State.LATE: "Stopped at the time limit.",
}


def start_job(name: str, job: Job) -> bool:
    """Start a job, or write why it cannot be; tell whether it runs."""
    try:
        JOBS.start(name, job)
    except DifftrustError as e:
        st.error(str(e))
        return False
    return True


def show_job(job: Job, *, name: str) -> None:
    """Write a job's progress, each second while it runs; when it ends the whole page is drawn again."""
    if job.is_running:
        st.fragment(_show_running, run_every=_EVERY)(job, name)
    else:
        show_end(job)


def _show_running(job: Job, name: str) -> None:
    if not job.is_running:
        st.rerun()
    step = job.steps[min(job.step, len(job.steps) - 1)]
    counted = f": {job.done:,} of {job.total:,}" if job.total else " …"
    st.progress(job.share, text=f"{step.label}{counted}")
    if job.detail or job.lines:
        text.show_small(job.detail or job.lines[-1])
    if job.is_stopping:
        st.markdown("Stopping; work under way is finished and kept.")
    if st.button("Stop now" if job.is_stopping else "Cancel", key=f"cancel:{name}"):
        job.cancel()


def show_end(job: Job) -> None:
    """Write how a job ended, and its last messages."""
    show = {State.DONE: st.success, State.FAILED: st.error}.get(job.state, st.warning)
    show(f"{_WORDS[job.state]} ({job.seconds:.0f} s)")
    said = [*list(job.lines)[-_SHOWN:], *(job.output.splitlines()[-_SHOWN:] if job.state is not State.DONE else [])]
    if said and job.state is not State.DONE:
        text.show_code("\n".join(said), language=None)
