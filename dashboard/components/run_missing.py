"""Part of the page Ablation: run a setting that is not recorded, after an estimate of requests and cost."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from dashboard import data, frame, permissions, state, text
from dashboard.background import JOBS, Job, Step
from dashboard.components import job_status, model_choice
from dashboard.data import Choice
from dashboard.elements import heading
from difftrust.pipeline import not_executable
from difftrust_core.exceptions import DifftrustError
from difftrust_core.generation.generate import Estimate, estimate_generation
from difftrust_core.generation.missing import GenerationOptions
from difftrust_core.store.imports import tasks_of

_GRACE = 150.0
"""Seconds in which replies under way, which are paid, may still arrive after a cancel."""
_ASKED = "missing:asked"
_SOME_MISSING = 1


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What to sample and execute."""

    benchmark: str
    model: str
    temperature: float
    m: int
    n: int
    api_base: str = ""

    def generate(self, root: str, *, max_usd: float | None = None) -> tuple[str, ...]:
        """Return the words of the command that samples it; after = even a value with a dash is a value."""
        words = ["generate", f"--benchmark={self.benchmark}", f"--model={self.model}", f"-m{self.m}"]
        words += [f"--temperature={self.temperature:g}", f"--store={root}"]
        words += [f"--api-base={self.api_base}"] if self.api_base else []
        return (*words, *([f"--max-usd={max_usd:g}"] if max_usd else []))

    def execute(self, root: str) -> tuple[str, ...]:
        """Return the words of the command that executes it."""
        words = ["execute", f"--store={root}", f"-n{self.n}", f"--benchmark={self.benchmark}"]
        return (*words, f"--model={self.model}", f"--temperature={self.temperature:g}")


def show_missing(chosen: Choice, models: Sequence[str]) -> None:
    """Write the choice of a setting, its estimated requests and cost, and a button that runs it."""
    heading("Run new settings")
    if not permissions.may_execute():
        st.info(permissions.READ_ONLY)
        return
    name = _job_name(chosen)
    job = JOBS.find(name)
    if job is not None:
        text.show_small(str(job.about["what"]))
        job_status.show_job(job, name="missing")
        if job.is_running:
            return
    setting = _choose(chosen, models)
    if not setting.model:
        return
    if not _can_write(chosen):
        _say_how(setting)
        return
    if st.button("Estimate requests and cost"):
        st.session_state[_ASKED] = setting
    if st.session_state.get(_ASKED) == setting:
        _offer(chosen, setting)


def _job_name(chosen: Choice) -> str:
    return f"run:{chosen.store.root.resolve()}"


def _choose(chosen: Choice, models: Sequence[str]) -> Setting:
    left, middle, right, last = st.columns([2, 1, 1, 1])
    with left:
        model, base = model_choice.choose_model(recorded=tuple(models))
    with middle:
        temperature = model_choice.choose_temperature(chosen.temperature)
    with right:
        m = state.choose_one(
            "Programs per task", sorted({chosen.m, 1, 2, 5, 10, 20, 50, 100}), name="ask_m", default=chosen.m
        )
    with last:
        ns = sorted({chosen.n, 10, 100, 1_000, 2_000, 5_000, 10_000})
        n = state.choose_one("Inputs per task", ns, name="ask_n", default=chosen.n, format_func="{:,}".format)
    return Setting(benchmark=chosen.benchmark, model=model, temperature=temperature, m=m, n=n, api_base=base)


def _can_write(chosen: Choice) -> bool:
    """Tell whether this is a store to run into: the user's own, with programs, in a folder that may be written."""
    if any(chosen.store.root.resolve() == folder.resolve() for folder in data.shipped_stores().values()):
        return False
    return chosen.store.holds("programs") and os.access(chosen.store.root, os.W_OK)


def _say_how(setting: Setting) -> None:
    st.markdown(
        "Nothing can be added to this store: it comes with difftrust, holds results only, or its folder is read-only. "
        "Use one of your own:"
    )
    commands = [setting.generate("DIR"), setting.execute("DIR"), ("dashboard", "--store=DIR")]
    text.show_code("\n".join(shlex.join(["difftrust", *words]) for words in commands), language="bash")


def _offer(chosen: Choice, setting: Setting) -> None:
    """Write the estimate, and the button that starts the run."""
    try:
        tasks = tasks_of(chosen.store, setting.benchmark)
        options = GenerationOptions(api_base=setting.api_base or None)
        (estimate,) = estimate_generation(
            chosen.store, tasks, models=[setting.model], temperature=setting.temperature, m=setting.m, options=options
        )
    except DifftrustError as e:
        frame.show_error("This cannot be run here.", e)
        return
    for line in not_executable(tasks):
        text.show_sentence(line)
    st.markdown(_spelled(estimate, setting, len(tasks)))
    limit = None
    if estimate.n_requests and estimate.most_usd:  # of free ones and of unknown prices nothing can be limited
        most = min(round(estimate.most_usd + 0.005, 2), 10_000.0)
        limit = float(st.number_input("Spend at most (US dollars)", 0.01, 10_000.0, most, key="max_usd"))
    if st.button("Run", type="primary"):
        _start(chosen, setting, limit)


def _spelled(estimate: Estimate, setting: Setting, n_tasks: int) -> str:
    if estimate.usd is None or estimate.most_usd is None:
        price = "the price is **unknown**"
    else:
        typical = "300 tokens per reply" + (", reasoning left out" if estimate.reasoning else "")
        price = f"about **\\${estimate.usd:.2f}** at {typical}, at most **\\${estimate.most_usd:.2f}**"
    sampling = (
        f"**{estimate.n_requests:,} requests** for {n_tasks:,} tasks "
        f"({estimate.n_at_hand:,} programs are in the store): {price}."
        if estimate.n_requests
        else f"All {estimate.n_at_hand:,} programs are in the store; no request is needed."
    )
    return f"{sampling} Then each new program runs on {setting.n:,} inputs in the sandbox of this machine."


def _start(chosen: Choice, setting: Setting, limit: float | None) -> None:
    root = str(chosen.store.root)
    steps = [
        Step(
            label="Sampling programs",
            words=setting.generate(root, max_usd=limit),
            goes_on=(0, _SOME_MISSING),
        ),
        Step(label="Executing programs", words=setting.execute(root)),
    ]
    what = (
        f"{text.model_name(setting.model)} on {setting.benchmark}, temperature {setting.temperature:g}, "
        f"m = {setting.m}, n = {setting.n:,}"
    )
    st.session_state.pop(_ASKED, None)
    if job_status.start_job(_job_name(chosen), Job(steps=steps, grace=_GRACE, about={"what": what})):
        st.rerun()
