"""Inputs and outcomes as people read them: a database a line a row, a text as it is, an exception in words."""

from difftrust_core.base.literals import BadText, read_literal, write_literal


def spelled_database(arguments: str) -> str:
    """Return an input of a text-to-SQL task, ``({'book': [(1, 'Joe')]},)``, a line a row; else what it is."""
    try:
        (database,) = read_literal(arguments)
        return "\n".join(
            line
            for name, rows in database.items()
            for line in (
                f"{name}: {len(rows)} {'row' if len(rows) == 1 else 'rows'}",
                *(f"    {write_literal(row)}" for row in rows),
            )
        )
    except (BadText, AttributeError, TypeError, ValueError):  # cut, or of another task
        return arguments


def spelled_text(literal: str) -> str:
    """Return the text that a script reads (a tuple of one literal) or writes (a literal); else what is there."""
    try:
        value = read_literal(literal)
    except BadText:  # cut
        return literal
    (found,) = value if isinstance(value, tuple) and len(value) == 1 else (value,)
    return found or "(empty)" if isinstance(found, str) else literal


def answer_in_words(kind: str, what: str, *, language: str) -> str:
    """Return an outcome in one line."""
    shown = spelled_text(what) if language == "stdin" and kind == "value" else what
    return shown if kind == "value" else f"{kind.replace('_', ' ')}: {shown}" if shown else kind.replace("_", " ")
