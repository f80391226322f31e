"""Text of others on the page: code, outputs, names. Always as text, never as Markdown, HTML or LaTeX.

Whatever a candidate wrote passes through here. What could reorder, hide or break a line is made visible; what is longer
than anybody reads is cut, saying by how much.
"""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import streamlit as st

from difftrust.tables.names import display_name
from difftrust.text import cut as cut_text
from difftrust.text import visible as visible

LINE = 400
"""Characters of a line that are shown."""
LINES = 400
"""Lines that are shown."""


def cut(text: str, *, line: int = LINE, lines: int = LINES) -> str:
    """Return ``text`` with long lines and what follows the last shown line cut, saying by how much."""
    return cut_text(text, line=line, lines=lines)


def plain(text: str, *, line: int = LINE, lines: int = LINES) -> str:
    """Return ``text`` as it may be handed to a table cell, a chart, ``st.code`` or ``st.text``."""
    return visible(cut(text, line=line, lines=lines))


def one_line(text: str, *, most: int = 120) -> str:
    """Return ``text`` as one short line, for a table cell, an option or the axis of a chart."""
    shown = visible(text[: most + 1].replace("\n", "⏎").replace("\t", " "))
    return shown if len(text) <= most else f"{shown[: most - 1]}…"


def model_name(model: str) -> str:
    """Return what to call a model, as one short line."""
    return one_line(display_name(model))


def escaped(text: str, *, line: int = LINE, lines: int = LINES) -> str:
    """Return ``text`` as HTML that shows exactly it."""
    return html.escape(plain(text, line=line, lines=lines))


def show_line(text: str) -> None:
    """Write a line of text."""
    _show_paragraph(html.escape(one_line(text, most=LINE)))


def show_code(text: str, *, language: str | None = "python") -> None:
    """Write code or output in a box of its own; ``language`` colours it."""
    st.code(plain(text) or " ", language=language, wrap_lines=True)


@dataclass(frozen=True, kw_only=True)
class Card:
    """A text in a frame."""

    title: str
    about: str
    """What follows the title, in its line."""
    pieces: Sequence[tuple[str, bool]]
    """The text: (piece, is marked)."""
    note: str = ""
    """A line below it."""


def _spelled_card(card: Card) -> str:
    spelled = (
        f"<mark>{html.escape(visible(piece))}</mark>" if is_marked else html.escape(visible(piece))
        for piece, is_marked in card.pieces
    )
    note = f'<p style="margin:0.5rem 0 0">{escaped(card.note)}</p>' if card.note else ""
    return (
        '<section dir="ltr" style="min-width:0;padding:0.8rem 1rem;border:1px solid #80808059;border-radius:0.5rem">'
        f'<p style="margin:0 0 0.5rem"><b>{escaped(card.title)}</b>{escaped(card.about)}</p>'
        '<pre style="margin:0;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate">'
        f"{''.join(spelled)}</pre>{note}</section>"
    )


def show_numbers(numbers: Iterable[tuple[str, str, str]]) -> None:
    """Write numbers that are read first, beside one another where they fit: (number, what it is, whose)."""
    spelled = "".join(
        '<div style="min-width:0;padding:0.55rem 0.9rem;border:1px solid #80808059;border-radius:0.5rem">'
        f'<div style="font-size:1.35rem;font-weight:650">{escaped(number)}</div><div>{escaped(words)}</div>'
        f'<div style="font-size:0.85rem;opacity:0.8;overflow-wrap:anywhere">{escaped(detail)}</div></div>'
        for number, words, detail in numbers
    )
    st.html(
        '<div dir="ltr" style="display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr));'
        f'gap:0.8rem">{spelled}</div>'
    )


def show_metric(label: str, value: str, below: str, about: str | None = None) -> None:
    """Write a number in a card, and a line below it."""
    st.metric(label, value, below, delta_color="off", delta_arrow="off", help=about)


def show_small(text: str) -> None:
    """Write a line in small letters."""
    _show_paragraph(html.escape(one_line(text, most=LINE)), style="font-size:0.85rem;opacity:0.75;")


def show_sentence(text: str) -> None:
    """Write a sentence that may hold names of others."""
    _show_paragraph(escaped(text, line=2_000))


def _show_paragraph(spelled: str, *, style: str = "") -> None:
    st.html(f'<p dir="ltr" style="margin:0;{style}overflow-wrap:anywhere">{spelled}</p>')
