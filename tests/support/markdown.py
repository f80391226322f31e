"""Tables in Markdown, as the documents show them."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int | Sequence[bool] = 1) -> str:
    """Return a table; ``texts``: how many columns, or which, are not numbers."""
    kinds = [i < texts for i in range(len(head))] if isinstance(texts, int) else texts
    lines = [head, ["---" if is_text else "---:" for is_text in kinds], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def percent(share: float | None) -> str:
    """Return a share in percent, nothing where there is none."""
    return "" if share is None else f"{share:.1%}"
