"""Text of others on the page: code, outputs, names. Always as text, never as Markdown, HTML or LaTeX.

Whatever a candidate wrote passes through here. What could reorder, hide or break a line is made visible; what is longer
than anybody reads is cut, saying by how much.
"""

import html
import unicodedata
from collections.abc import Iterable

import streamlit as st

LINE = 400
"""Characters of a line that are shown."""
LINES = 400
"""Lines that are shown."""
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Control, format (right-to-left marks, zero-width), surrogate, private, unassigned; line and paragraph separators."""
_KEPT = "\n\t"


def visible(text: str) -> str:
    """Return ``text`` with every control or invisible character spelled as ⟨U+202E⟩, lines and tabs kept."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"⟨U+{ord(c):04X}⟩" if unicodedata.category(c) in _HIDDEN and c not in _KEPT else c for c in text)


def cut(text: str, *, line: int = LINE, lines: int = LINES) -> str:
    """Return ``text`` with long lines and what follows the last shown line cut, saying by how much."""
    kept = text.replace("\r\n", "\n").split("\n", lines)
    rest = kept.pop().count("\n") + 1 if len(kept) > lines else 0
    shown = [each if len(each) <= line else f"{each[:line]}… ({len(each) - line:,} more characters)" for each in kept]
    return "\n".join([*shown, *([f"… ({rest:,} more lines)"] if rest else [])])


def plain(text: str, *, line: int = LINE, lines: int = LINES) -> str:
    """Return ``text`` as it may be handed to a table cell, a chart, ``st.code`` or ``st.text``."""
    return visible(cut(text, line=line, lines=lines))


def one_line(text: str, *, most: int = 120) -> str:
    """Return ``text`` as one short line, for a table cell, an option or the axis of a chart."""
    shown = visible(text[: most + 1].replace("\n", "⏎").replace("\t", " "))
    return shown if len(text) <= most else f"{shown[: most - 1]}…"


def escaped(text: str, *, line: int = LINE, lines: int = LINES) -> str:
    """Return ``text`` as HTML that shows exactly it."""
    return html.escape(plain(text, line=line, lines=lines))


def show_line(text: str) -> None:
    """Write a line of text."""
    st.html(f'<p dir="ltr" style="margin:0;overflow-wrap:anywhere">{html.escape(one_line(text, most=LINE))}</p>')


def show_code(text: str, *, language: str | None = "python") -> None:
    """Write code or output in a box of its own; ``language`` colours it."""
    st.code(plain(text) or " ", language=language, wrap_lines=True)


def show_marked(pieces: Iterable[tuple[str, bool]]) -> None:
    """Write text of which some pieces are marked: (text, is marked)."""
    spelled = (f"<mark>{html.escape(visible(t))}</mark>" if marked else html.escape(visible(t)) for t, marked in pieces)
    st.html(
        '<pre dir="ltr" style="margin:0;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate">'
        f"{''.join(spelled)}</pre>"
    )


def show_small(text: str) -> None:
    """Write a line in small letters."""
    shown = html.escape(one_line(text, most=LINE))
    st.html(f'<p dir="ltr" style="margin:0;font-size:0.85rem;opacity:0.75;overflow-wrap:anywhere">{shown}</p>')


def show_sentence(text: str) -> None:
    """Write a sentence that may hold names of others."""
    st.html(f'<p dir="ltr" style="margin:0;overflow-wrap:anywhere">{escaped(text, line=2_000)}</p>')
