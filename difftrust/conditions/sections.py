"""A docstring in its parts: what it says of each parameter, of exceptions, under "Requires", and in prose."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from textwrap import dedent
from typing import Final

from docstring_parser import (
    Docstring,
    DocstringParam,
    DocstringRaises,
    DocstringReturns,
    ParseError,
    google,
    numpydoc,
    rest,
)

from difftrust.conditions.tokens import is_expression

_TITLES: Final = "Requires|Require|Assumes|Assumptions|Assumption|Preconditions|Precondition|Pre"
_REQUIRES: Final = _TITLES.split("|")
_IN_LINE = re.compile(rf"^([ \t]*)({_TITLES}):[ \t]+(\S.*)$", re.MULTILINE)
_EXAMPLE = re.compile(
    r"^[ \t]*>>> .*(?:\n(?!\s*$).*)*|^Examples?(?: \d+)?:[ \t]*\n(?:(?:[ \t]+\S.*)?(?:\n|\Z))+", re.MULTILINE
)
_HEADING = re.compile(r"^\s*(?:[A-Z][\w ]{2,25}:\s*$|:\w+|[-=~]{3,}|\S.*\n\s*[-=~]{3,}\s*$)", re.MULTILINE)
_SECTION = re.compile(r"^([A-Z][\w ]{2,25}):[ \t]*\n((?:(?:(?:[ \t]|[-*•+] )+\S.*)?\n)+)", re.MULTILINE)
_TITLED: Final = [each.title for each in google.DEFAULT_SECTIONS]
_KNOWN: Final = {*_REQUIRES, *_TITLED, "Return", "Raise", "See Also", "References"}
"""Titles of sections that are no prose; what stands under another, such as "Constraints", is."""
_BULLET = re.compile(r"^\s*(?:[-*•+]|\d+[.)])\s+", re.MULTILINE)
CHOICES = re.compile(
    r":[ \t]*\n\s*\n?((?:[ \t]*(?:[-*•+]|\d+[.)])[ \t]+(?:.+(?:\n(?![ \t]*(?:[-*•+]|\d+[.)])[ \t]).+)*)\n*)+)"
)
"""A colon, and what is listed below it."""
_LITERAL = re.compile(
    r"^\s*(?:[-*•+]|\d+[.)])\s+`*(['\"][\w. /-]*['\"]|(?<=`)[a-z]\w*(?=`)|None|-?\d+(?![\w.]))", re.MULTILINE
)
_RAISED = re.compile(r"\b(\w+(?:Error|Exception))`*\s+(?:is raised |will be raised )?((?:if|when|in case)\b[^.;]+)")
_IN_SENTENCE = r"(?:[^.;:\n]|\n(?!\s*\n))"
_RAISES = re.compile(
    rf"\b(If {_IN_SENTENCE}+?)(?:,| then){_IN_SENTENCE}*?(?:\braises?\b{_IN_SENTENCE}*?\b(\w+(?:Error|Exception))\b"
    r"|\b(\w+(?:Error|Exception))`*\s+(?:is|will be)\s+raised)"
)
_DEFINITION = re.compile(
    r"^([ \t]*)['`*\"]{0,2}(\w+)['`*\"]{0,2}(?:[ \t]+--?|[ \t]*:)[ \t]+(\S.*(?:\n\1[ \t]+\S.*)*)", re.MULTILINE
)
"""A parameter and what it is, as the standard library has it."""
_END = re.compile(
    r"(?<=[.!?])(?!(?<=\.\.)\s+[^A-Z\s])(?!\)\s+[a-z])(?!(?<=['\"][.!?])['\"])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!cf\.)(?<!vs\.)(?<!incl\.)(?<!max\.)(?<!min\.)(?<!no\.)[\"')\]]?\s+(?=\S)|\n\s*\n"
    r"|\n(?=\s*(?:[-*•+]|\d+[.)])\s)"
)


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A piece of text in which conditions may stand."""

    text: str
    origin: str = "prose"
    """``prose``, ``field``, ``type``, ``requires`` or ``raises``."""
    subject: str = ""
    """The parameter that a field is about, the exception that is raised."""
    group: tuple[str, ...] = ()
    """All parameters that a field is about."""

    @property
    def sentences(self) -> list[str]:
        """Its sentences, each in one line."""
        if self.origin in ("type",):
            return [self.text.strip()]
        text = CHOICES.sub(_listed_choices, self.text)
        parts = [re.sub(r"\s+", " ", _BULLET.sub("", part)).strip() for part in _END.split(text)]
        return [part for part in parts if re.search(r"\w", part)]


def _listed_choices(match: re.Match[str]) -> str:
    """Return a list of literals as one sentence; another list as it is."""
    items = len(re.findall(r"^[ \t]*(?:[-*•+]|\d+[.)])[ \t]", match[1], re.MULTILINE))
    found = [repr(text) if text.isidentifier() and text != "None" else text for text in _LITERAL.findall(match[1])]
    return f": {', '.join(found)}.\n\n" if len(found) == items > 1 else match[0]


class Sections:
    """A docstring, without its margin, as docstring_parser reads it, in the style of Google, NumPy or Sphinx."""

    def __init__(self, docstring: str):
        text = docstring.expandtabs()
        self._in_line = [match[3] for match in _IN_LINE.finditer(text)]
        self._plain = _EXAMPLE.sub("", _IN_LINE.sub("", text))

    @cached_property
    def _parsed(self) -> Docstring:
        own = [google.Section("Raise", "raises", google.SectionType.MULTIPLE)]
        own += [google.Section(title, "requires", google.SectionType.SINGULAR) for title in _REQUIRES]
        more = [numpydoc.Section(title, "requires") for title in _REQUIRES]
        found = [Docstring()]
        for parser in (
            google.GoogleParser([*google.DEFAULT_SECTIONS, *own]).parse,
            numpydoc.NumpydocParser([*numpydoc.DEFAULT_SECTIONS, *more]).parse,  # type: ignore[arg-type]
            rest.parse,
        ):
            try:
                found.append(parser(f".\n\n{self._plain}"))
            except (ParseError, ValueError, IndexError, AttributeError, TypeError):
                continue
        return max(found, key=lambda each: len(each.meta))

    @cached_property
    def parameters(self) -> list[tuple[str, str, str, tuple[str, ...]]]:
        """Name, type as it is written, and text of each parameter, and all that share the text."""
        found = []
        for meta in self._parsed.meta:
            if isinstance(meta, DocstringParam) and meta.args[:1] != ["attribute"]:
                names = tuple(re.findall(r"\w+", meta.arg_name or ""))
                found += [(name, meta.type_name or "", meta.description or "", names) for name in names]
        if not found:
            found = [
                (match[2], "", match[3], (match[2],))
                for match in _DEFINITION.finditer(self._plain)
                if not is_expression(match[0])
            ]
        types = dict(re.findall(r"^\s*:type\s+(\w+)\s*:\s*(.+)$", self._plain, re.MULTILINE))
        return [(name, said or types.get(name, ""), text, names) for name, said, text, names in found]

    @cached_property
    def raises(self) -> list[tuple[str, str]]:
        """Each exception with what is said of it."""
        metas = [meta for meta in self._parsed.meta if isinstance(meta, DocstringRaises)]
        return [(meta.type_name or "", meta.description or "") for meta in metas]

    @cached_property
    def requires(self) -> list[str]:
        """The lines of the sections of conditions; one that goes on further in, or is open, is one."""
        found = list(self._in_line)
        for meta in self._parsed.meta:
            if meta.args[:1] and meta.args[0].title() in _REQUIRES:
                for line in filter(str.strip, (meta.description or "").splitlines()):
                    text = _BULLET.sub("", line).strip()
                    if found and (
                        found[-1].count("(") > found[-1].count(")") or found[-1].endswith((",", "\\", " and", " or"))
                    ):
                        found[-1] += f" {text}"
                    else:
                        found.append(text)
        return found

    @cached_property
    def prose(self) -> str:
        """What stands outside of sections."""
        if self._parsed.style is not None and "numpy" in str(self._parsed.style).lower():
            said = [self._parsed.short_description, self._parsed.long_description]
            said += [meta.description for meta in self._parsed.meta if meta.args[:1] == ["notes"]]
            return "\n\n".join(filter(None, said))
        text = _SECTION.sub(lambda m: m[0] if m[1] in _KNOWN else f"\n{dedent(m[2])}\n", f"{self._plain}\n")
        paragraphs = [p for p in re.split(r"\n(?:[ \t]*\n)+", text) if p.strip()]
        kept = [p for p in paragraphs if not p[:1].isspace() and not _HEADING.match(p)]
        return "\n\n".join(
            re.split(r"^\s*:\w+[^:\n]*:|^[A-Z][\w ]{2,25}:\s*$", p, maxsplit=1, flags=re.M)[0] for p in kept
        )

    def results(self) -> Iterator[Passage]:
        """Iterate over the texts that speak of results."""
        for meta in self._parsed.meta:
            if isinstance(meta, DocstringReturns):
                yield Passage(text=meta.description or "", origin="returns")
        yield Passage(text=self.prose)

    def passages(self) -> Iterator[Passage]:
        """Iterate over the texts in which conditions may stand."""
        for name, said, text, names in self.parameters:
            yield Passage(text=said, origin="type", subject=name)
            yield Passage(text=text, origin="field", subject=name, group=names)
        for name, text in self.raises:
            yield Passage(text=text, origin="raises", subject=name)
        for line in self.requires:
            yield Passage(text=line, origin="requires")
        for match in _RAISED.finditer(self.prose):
            yield Passage(text=match[2], origin="raises", subject=match[1])
        for match in _RAISES.finditer(self.prose):
            yield Passage(text=match[1], origin="raises", subject=match[2] or match[3])
        yield Passage(text=self.prose)
