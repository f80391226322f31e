"""Tables in Markdown, and the parts of documents that are computed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True)
class Part:
    """What of a document is computed: the text from ``begin`` (included) to ``end`` (not), below ``heading``."""

    document: str
    begin: str
    end: str
    make: Callable[[], str]
    heading: str = ""

    def found(self) -> str:
        """Return the part as it stands there."""
        text = (ROOT / self.document).read_text()
        return text[slice(*self._place(text))]

    def write(self) -> None:
        """Write the part anew."""
        text = (ROOT / self.document).read_text()
        begin, end = self._place(text)
        (ROOT / self.document).write_text(text[:begin] + self.make() + text[end:])

    def _place(self, text: str) -> tuple[int, int]:
        begin = text.index(self.begin, text.index(self.heading))
        return begin, text.index(self.end, begin) if self.end else len(text)


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int | Sequence[bool] = 1, tight: bool = False
) -> str:
    """Return a table; ``texts``: how many columns, or which, are not numbers; ``tight``: no space where no text is."""
    kinds = [i < texts for i in range(len(head))] if isinstance(texts, int) else texts
    rule = ["---" if is_text else "---:" for is_text in kinds]
    first, *lines = [
        "|" + "".join(" |" if tight and not cell else f" {cell} |" for cell in line) for line in (head, *rows)
    ]
    between = "|".join(rule) if tight else f" {' | '.join(rule)} "
    return "\n".join([first, f"|{between}|", *lines, ""])


def percent(share: float | None) -> str:
    """Return a share in percent, nothing where there is none."""
    return "" if share is None else f"{share:.1%}"
