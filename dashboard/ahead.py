"""What is made ready while nobody waits: the other benchmarks, and a heap that is quick to sweep; and nothing else."""

import atexit
import contextlib
import gc
import threading
from pathlib import Path

import streamlit as st

from dashboard import data
from difftrust_core.exceptions import DifftrustError
from difftrust_core.results import EQUALITIES, load_pool, pool_names
from difftrust_core.store import Store

_MOST = 4
"""Benchmarks that are loaded before they are asked for."""


def make_ready() -> None:
    """Load what pages may be asked for next, in the background; once a process and store."""
    with contextlib.suppress(DifftrustError):  # a page that needs the store says so
        _started(str(data.store_path()))


@st.cache_resource(show_spinner=False, max_entries=1)
def _started(root: str) -> threading.Thread:
    thread = threading.Thread(target=_load, args=(Path(root),), name="ahead", daemon=True)
    thread.start()
    return thread


def _load(root: Path) -> None:
    _set_aside()
    with contextlib.suppress(DifftrustError, OSError):
        store = Store.open(root)
        for benchmark in pool_names(store)[:_MOST]:
            for equality in EQUALITIES:
                _ = load_pool(store, benchmark, equality=equality).flat
    _set_aside()


def _set_aside() -> None:
    """Take what is there out of the sweeps for garbage: one follows each run, and would look at all libraries anew."""
    gc.collect()
    gc.freeze()


atexit.register(gc.unfreeze)  # else libraries find leaks when the process ends
