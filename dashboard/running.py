"""A job of the server on the page: how far it is, what it says, a button to cancel it; and nothing else."""

import streamlit as st

from dashboard import text
from dashboard.jobs import Job, State

_EVERY = 1.0
_SHOWN = 12
_WORDS = {
    State.DONE: "Done.",
    State.FAILED: "It did not work; what it said is below.",
    State.CANCELLED: "Cancelled. What was finished is kept.",
    State.LATE: "Ended, for its time was over.",
}


def show_job(job: Job, *, name: str) -> None:
    """Write how far a job is, anew each second while it runs; when it ends the whole page is drawn again."""
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
        st.markdown("Stopping; what is under way is kept.")
    if st.button("Leave at once" if job.is_stopping else "Cancel", key=f"cancel:{name}"):
        job.cancel()


def show_end(job: Job) -> None:
    """Write how a job ended, and what it said."""
    show = {State.DONE: st.success, State.FAILED: st.error}.get(job.state, st.warning)
    show(f"{_WORDS[job.state]} ({job.seconds:.0f} s)")
    said = [*list(job.lines)[-_SHOWN:], *(job.output.splitlines()[-_SHOWN:] if job.state is not State.DONE else [])]
    if said and job.state is not State.DONE:
        text.show_code("\n".join(said), language=None)
