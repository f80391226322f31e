"""Two programs side by side, lines aligned, what differs marked; below one another where the screen is narrow."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from dashboard import text
from difftrust.text import Marked, aligned_lines

_STYLE = """
<style>
.difftrust-sides { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); column-gap: 0.8rem;
  max-height: 22rem; overflow-y: auto; border: 1px solid #80808059; border-radius: 0.5rem; padding: 0.4rem 0.6rem; }
.difftrust-side { display: grid; grid-template-rows: subgrid; min-width: 0; font-size: 0.8rem; line-height: 1.45; }
.difftrust-side h4 { font-size: 0.85rem !important; font-weight: 650; margin: 0 0 0.2rem; padding: 0; }
.difftrust-side pre { margin: 0; padding: 0 0 0 0.4rem; white-space: pre-wrap; overflow-wrap: anywhere;
  unicode-bidi: isolate; border-left: 3px solid transparent; background: none; }
.difftrust-side pre.differs { border-left-color: #D08700; background: #F0E44224; }
.difftrust-side pre.absent { background: #80808014; }
@media (max-width: 720px) {
  .difftrust-sides { display: block; max-height: none; }
  .difftrust-side { display: block; margin-bottom: 0.6rem; }
  .difftrust-side pre.absent { display: none; }
}
</style>
"""


@dataclass(frozen=True, kw_only=True)
class Side:
    """A program, and what it is called."""

    title: str
    code: str


def show_side_by_side(left: Side, right: Side) -> None:
    """Write two programs in one box, in letters of one width; whatever they hold is shown as text."""
    rows = aligned_lines(text.plain(left.code), text.plain(right.code))
    sides = (
        _spelled(left.title, [(row.left, row.is_equal) for row in rows]),
        _spelled(right.title, [(row.right, row.is_equal) for row in rows]),
    )
    st.html(f'{_STYLE}<div class="difftrust-sides" dir="ltr" tabindex="0">{"".join(sides)}</div>')


def _spelled(title: str, lines: Sequence[tuple[Marked | None, bool]]) -> str:
    spelled = "".join(_spelled_line(pieces, is_equal=is_equal) for pieces, is_equal in lines)
    return (
        f'<section class="difftrust-side" style="grid-row: span {len(lines) + 1}">'
        f"<h4>{html.escape(text.one_line(title))}</h4>{spelled}</section>"
    )


def _spelled_line(pieces: Marked | None, *, is_equal: bool) -> str:
    if pieces is None:
        return '<pre class="absent"> </pre>'
    spelled = "".join(
        f"<mark>{html.escape(piece)}</mark>" if is_marked and piece.strip() else html.escape(piece)
        for piece, is_marked in pieces
    )
    kind = "" if is_equal else ' class="differs"'
    return f"<pre{kind}>{spelled or ' '}</pre>"
