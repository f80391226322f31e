"""Text of others on the page: code, outputs, names. Always as text, never as Markdown, HTML or LaTeX.

Whatever a candidate wrote passes through here. What could reorder, hide or break a line is made visible; what is longer
than anybody reads is cut, saying by how much.
"""

import html
from collections.abc import Iterable, Sequence

import streamlit as st

from difftrust.tables.names import display_name
from difftrust.tables.sentences import Headline
from difftrust.text import Marked, cut, marked_program, visible

LINE = 400
"""Characters of a line that are shown."""
LINES = 400
"""Lines that are shown."""


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


def escaped(text: str, *, line: int = LINE) -> str:
    """Return ``text`` as HTML that shows exactly it."""
    return html.escape(plain(text, line=line))


def show_code(text: str, *, language: str | None = "python") -> None:
    """Write code or output in a box of its own; ``language`` colours it."""
    st.code(plain(text) or " ", language=language, wrap_lines=True)


def show_programs(programs: Sequence[tuple[str, str]]) -> None:
    """Write two programs beside one another where they fit, (title, code), what the other one lacks marked."""
    codes = [plain(code) for _, code in programs]
    marked = (marked_program(*codes), marked_program(*reversed(codes)))
    spelled = "".join(
        f'<section><h4>{html.escape(one_line(title))}</h4><pre tabindex="0">{_spelled(pieces)}</pre></section>'
        for (title, _), pieces in zip(programs, marked, strict=True)
    )
    st.html(f'<div class="difftrust-sides" dir="ltr">{spelled}</div>')


def _spelled(pieces: Marked) -> str:
    spelled = ((html.escape(piece), is_marked) for piece, is_marked in pieces if piece)
    return "".join(f"<mark>{piece}</mark>" if is_marked else piece for piece, is_marked in spelled)


def show_numbers(numbers: Iterable[Headline]) -> None:
    """Write numbers that are read first, beside one another where they fit."""
    spelled = "".join(
        '<div style="min-width:0;padding:0.55rem 0.9rem;border:1px solid #80808059;border-radius:0.5rem">'
        f'<div style="font-size:1.35rem;font-weight:650">{escaped(number.value)}</div>'
        f"<div>{escaped(number.words)}</div>"
        f'<div style="font-size:0.85rem;opacity:0.8;overflow-wrap:anywhere">{escaped(number.detail)}</div></div>'
        for number in numbers
    )
    st.html(
        '<div dir="ltr" style="display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr));'
        f'gap:0.8rem">{spelled}</div>'
    )


def show_small(text: str) -> None:
    """Write a line in small letters."""
    _show_paragraph(html.escape(one_line(text, most=LINE)), style="font-size:0.85rem;opacity:0.75;")


def show_sentence(text: str) -> None:
    """Write a sentence that may hold names of others."""
    _show_paragraph(escaped(text, line=2_000))


def _show_paragraph(spelled: str, *, style: str = "") -> None:
    st.html(f'<p dir="ltr" style="margin:0;{style}overflow-wrap:anywhere">{spelled}</p>')
