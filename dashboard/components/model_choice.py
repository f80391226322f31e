"""The choice of a model to ask: simulated ones, those with a key in the environment, any that is typed."""

import os

import streamlit as st

from dashboard import state, text
from difftrust.demo.simulated import SIMULATED
from difftrust_core.generation.prices import models_with_key

OTHER = "another model …"


def choose_model(*, recorded: tuple[str, ...] = ()) -> tuple[str, str]:
    """Return a model as litellm names it, empty while none is typed, and its server's address, empty for the default.

    A typed name or address is not in the URL: a link from somebody else must not send a key anywhere.
    """
    options = [*SIMULATED, *models_with_key(os.environ), OTHER]
    default = next((model for model in recorded if model in options), options[0])
    model = state.choose_one(
        "Model to ask", options, name="ask", default=default, format_func=text.model_name,
        help="Simulated models, and models whose key is in the environment. For any other, type its litellm name.",
    )  # fmt: skip
    if model != OTHER:
        return model, ""
    typed = st.text_input("Model name for litellm", key="ask:typed", max_chars=200, placeholder="openai/my-model")
    base = st.text_input(
        "Server address, for your own server", key="ask:base", max_chars=200, placeholder="http://127.0.0.1:…"
    )
    return (typed or "").strip(), (base or "").strip()


def choose_temperature(usual: float) -> float:
    """Return the temperature at which a model is to be asked."""
    return state.choose_one(
        "Sampling temperature", sorted({*(i / 10 for i in range(21)), usual}), name="ask_t", default=usual,
        format_func=state.spell, show=st.select_slider,
    )  # fmt: skip
