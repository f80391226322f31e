"""Which language models may be asked here: simulated ones, those with a key, any that is typed; and nothing else."""

import os

import streamlit as st

from dashboard import state, text
from difftrust_core.coders.prices import models_with_key
from difftrust_core.coders.simulated import SIMULATED

OTHER = "another model …"


def choose_model(*, name: str, with_simulated: bool = True, recorded: tuple[str, ...] = ()) -> tuple[str, str]:
    """Return a model as litellm names it, empty while none is typed, and the address of its server, empty for its own.

    A name or an address that is typed is not in the URL: a link of somebody else's must not send a key anywhere.
    """
    options = [*(SIMULATED if with_simulated else ()), *models_with_key(os.environ), OTHER]
    default = next((model for model in recorded if model in options), options[0])
    model = state.choose_one(
        "Model to ask", options, name=name, default=default, format_func=text.one_line,
        help="Models whose key is in the environment, by their list; any other as litellm names it.",
    )  # fmt: skip
    if model != OTHER:
        return model, ""
    typed = st.text_input("Its name for litellm", key=f"{name}:typed", max_chars=200, placeholder="openai/my-model")
    base = st.text_input(
        "Address of its server, if it is your own", key=f"{name}:base", max_chars=200, placeholder="http://127.0.0.1:…"
    )
    return (typed or "").strip(), (base or "").strip()
