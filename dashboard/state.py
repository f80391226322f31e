"""The whole state of a page is its URL, which is read, checked and written here.

A widget is bound to one query parameter: each run shows what the URL says (its default where the URL says nothing, or
nothing that makes sense), and a change writes the URL before the page is drawn again. Defaults are left out of the URL.
Names and values in a URL come from anybody: only what a widget could have written itself is believed.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

SHARED = (
    *("store", "benchmark", "inputs", "audited", "t", "m", "n", "equality", "blind", "model"),
    *("task", "with", "with_t", "with_m", "with_store", "scale", "only", "args", "search"),
)
"""Parameters that every page understands, so links carry them."""
LONGEST = 200
"""Characters of a parameter that is free text."""
T = TypeVar("T")


def spell(value: object) -> str:
    """Return a value as the URL spells it: 0.6, 10, gpt_4o, yes."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def show_in_url() -> None:
    """Write the parameters into the address bar again: a link to the page that is open changes only what is read."""
    st.query_params.from_dict(everything())


def everything() -> dict[str, list[str]]:
    """Return all parameters of the URL."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def shared(**changes: Any) -> dict[str, Any]:
    """Return the parameters of a link: those of SHARED that the URL has, and ``changes``; None leaves one out."""
    kept = {name: st.query_params.get_all(name) for name in st.query_params if name in SHARED}
    return {name: _spelled(value) for name, value in {**kept, **changes}.items() if value is not None}


def put(name: str, value: Any, default: Any = None) -> None:
    """Write one parameter; what is None or the default is left out."""
    if value is None or value == default:
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = _spelled(value)


def read_one(name: str, options: Sequence[T], default: T) -> T:
    """Return the option that the URL names, else the default."""
    by_spelling = {spell(option): option for option in options}
    return by_spelling.get(st.query_params.get(name, ""), default)


def read_text(name: str) -> str:
    """Return free text; cut, for a URL may hold anything. Show it with ``text`` only."""
    return st.query_params.get(name, "")[:LONGEST]


def choose_one(
    label: str,
    options: Sequence[T],
    *,
    name: str,
    default: T | None = None,
    show: Callable[..., Any] = st.selectbox,
    **drawn: Any,
) -> T:
    """Return one of the options, shown by ``show``: st.selectbox, st.select_slider, or st.radio and the like.

    A radio's options are Markdown to Streamlit: give it words of our own only. ``default``: the first unless named. A
    slider with one stop is not drawn.
    """
    fallback = options[0] if default is None else default
    chosen = read_one(name, options, fallback)
    if show is st.select_slider and len(options) < 2:
        return chosen
    return show(label, options, key=_bind(name, chosen), on_change=_write, args=(name, fallback), **drawn)  # type: ignore[no-any-return]


def choose_several(label: str, options: Sequence[T], *, name: str, default: Sequence[T] = (), **drawn: Any) -> list[T]:
    """Return some of the options, those that the URL names, else the defaults; in the URL as a repeated parameter."""
    named = set(st.query_params.get_all(name))
    key = _bind(name, [option for option in options if spell(option) in named] or list(default))
    found = st.multiselect(label, options, key=key, on_change=_write, args=(name, list(default)), wrap=True, **drawn)
    return list(found)


def choose_switch(label: str, *, name: str, **drawn: Any) -> bool:
    """Return whether a switch is on; it is off unless the URL says otherwise."""
    chosen = read_one(name, (False, True), False)
    return st.toggle(label, key=_bind(name, chosen), on_change=_write, args=(name, False), **drawn)


def _bind(name: str, value: object) -> str:
    """Make the widget of a parameter show ``value``; return the widget's key."""
    key = f"url:{name}"
    st.session_state[key] = value
    return key


def _write(name: str, default: Any) -> None:
    put(name, st.session_state[f"url:{name}"], default)


def _spelled(value: Any) -> str | list[str]:
    return [spell(each) for each in value] if isinstance(value, list | tuple) else spell(value)
