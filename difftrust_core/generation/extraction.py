"""From the text of a reply to a program, by a fixed rule."""

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt

from difftrust_core.languages.language import Language

ENTRY_POINT_BLOCK = "block with the entry point"
FIRST_BLOCK = "first block that parses"
WHOLE_REPLY = "whole reply"
NO_PROGRAM = "no program"

_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
"""What some local models say to themselves first; it may hold drafts."""
_LONGEST = 1 << 20
"""Longer replies are not looked through."""


@dataclass(frozen=True, kw_only=True)
class Extracted:
    """The program in a reply and the rule that found it."""

    code: str
    """Empty if there is none."""
    how: str
    """One of the four labels of this module."""


def program_of(reply: str, entry_point: str, language: Language) -> Extracted:
    """Return the fenced block that defines ``entry_point``, else the first that is a program, else the whole reply.

    If nothing is a program of ``language``, the code is empty. Blocks are those of CommonMark, so one that is never
    closed ends with the reply.
    """
    said = _THOUGHTS.sub("", reply, count=1)
    if len(said) > _LONGEST:
        return Extracted(code="", how=NO_PROGRAM)
    programs = [block for block in _blocks(said) if language.is_program(block)]
    for block in programs:
        if language.defines(block, entry_point):
            return Extracted(code=block, how=ENTRY_POINT_BLOCK)
    if programs:
        return Extracted(code=programs[0], how=FIRST_BLOCK)
    if language.is_program(said):
        return Extracted(code=said, how=WHOLE_REPLY)
    return Extracted(code="", how=NO_PROGRAM)


def _blocks(text: str) -> list[str]:
    # Only the rules that decide where a block begins and ends; lists and quotes may hold some.
    reader = MarkdownIt("zero").enable(["fence", "list", "blockquote"])
    return [token.content for token in reader.parse(text) if token.type == "fence"]
