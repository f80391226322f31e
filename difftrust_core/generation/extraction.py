"""From the text of a reply to a program, by a fixed rule; a reply that was cut off holds none."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt

from difftrust_core.base.task import Task
from difftrust_core.languages.language import Language
from difftrust_core.languages.registry import language_of
from difftrust_core.store.replies import Record

ENTRY_POINT_BLOCK = "block with the entry point"
FIRST_BLOCK = "first block that parses"
WHOLE_REPLY = "whole reply"
NO_PROGRAM = "no program"
CUT_OFF = "cut off"

_FENCE = re.compile(r"\s*(?:[-*+>]\s+|\d+[.)]\s+)*(`{3,}|~{3,})(.*)")
_TAG = r"(?:think(?:ing)?|thoughts?|reasoning)>"
_THOUGHT = re.compile(rf"\s*<{_TAG}", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(rf".*?</{_TAG}", re.IGNORECASE)
_NEVER_BEGUN = re.compile(rf"\s*</{_TAG}|.*</{_TAG}(?=\s*\Z)", re.IGNORECASE)
_LONGEST = 1 << 20
"""Longer replies are not looked through."""


@dataclass(frozen=True, kw_only=True)
class Extracted:
    """The program in a reply and the rule that found it."""

    code: str
    """Empty if there is none."""
    how: str
    """One of the five labels of this module."""
    is_whole: bool = False
    """It defines what was asked for."""
    is_open: bool = False
    """Its block was never closed, so that more may have been meant to follow."""


def program_in(reply: Record, task: Task) -> Extracted:
    """Return the program in a reply to ``task``. A reply that was cut off is none, whatever it holds.

    Cut off is what the provider says it cut (``length``), and a program without an end (in a block that was never
    closed, or without a block) unless the provider says that the model stopped with room to spare.
    """
    found = program_of(reply.text, task.entry_point, language_of(task))
    is_full = reply.completion_tokens is not None and reply.completion_tokens >= reply.max_tokens
    has_room = reply.completion_tokens is not None and not is_full and reply.finish_reason == "stop"
    is_cut = (
        reply.finish_reason == "length"
        or (found.is_open and not has_room)
        or (found.how in (WHOLE_REPLY, NO_PROGRAM) and is_full)
    )
    return Extracted(code="", how=CUT_OFF) if is_cut else found


def program_of(reply: str, entry_point: str, language: Language) -> Extracted:
    """Return the fenced block that defines ``entry_point``, else the first that is a program, else the whole reply.

    If nothing is a program of ``language``, the code is empty. What a model says to itself is left out. Blocks are
    those of CommonMark, so one that is never closed ends with the reply.
    """
    said = _without_thoughts(reply) if len(reply) <= _LONGEST else ""
    blocks = list(_blocks(said))
    programs = [(block, is_open) for block, is_open in blocks if language.is_program(block)]
    has_names = _has_names(language)
    for block, is_open in programs:
        if language.defines(block, entry_point):
            return Extracted(code=block, how=ENTRY_POINT_BLOCK, is_whole=True, is_open=is_open)
    if programs:
        block, is_open = programs[0]
        return Extracted(code=block, how=FIRST_BLOCK, is_whole=not has_names, is_open=is_open)
    if language.is_program(said):
        is_whole = not has_names or language.defines(said, entry_point)
        return Extracted(code=said, how=WHOLE_REPLY, is_whole=is_whole)
    return Extracted(code="", how=NO_PROGRAM, is_open=any(is_open for _, is_open in blocks))


def is_whole(code: str, task: Task) -> bool:
    """Tell whether a text defines what ``task`` asks for; any program does where programs have no names."""
    language = language_of(task)
    return language.defines(code, task.entry_point) if _has_names(language) else language.is_program(code)


def fenced_blocks(reply: str) -> list[str]:
    """Return the fenced blocks of a reply, without what a model says to itself; the whole reply if it has none."""
    said = _without_thoughts(reply) if len(reply) <= _LONGEST else ""
    return [block for block, _ in _blocks(said)] or [said]


def _has_names(language: Language) -> bool:
    return "$entry_point" in language.prompt


def _without_thoughts(reply: str) -> str:
    """Return a reply without what some local models say to themselves, which may hold drafts of programs.

    Thoughts that never end are the rest of the reply; thoughts that never began were its beginning.
    """
    kept: list[str] = []
    fence, thinks = "", False
    for line in re.split(r"(?<=\n)", reply):
        rest = line
        if not fence:
            thinks, rest = _after_thoughts(line, thinks, kept)
        if not thinks:
            fence = _fence_after(rest, fence)
            kept.append(rest)
    return "".join(kept)


def _after_thoughts(line: str, thinks: bool, kept: list[str]) -> tuple[bool, str]:
    """Return whether thoughts go on after a line, and what of it is said; ``kept`` is emptied if all was a thought."""
    rest = line
    while True:
        if thinks:
            end = _THOUGHT_ENDS.match(rest)
            if end is None:
                return True, ""
            thinks, rest = False, rest[end.end() :]
        elif begins := _THOUGHT.match(rest):
            thinks, rest = True, rest[begins.end() :]
        elif ends := _NEVER_BEGUN.match(rest):
            kept.clear()
            rest = rest[ends.end() :]
        else:
            return False, rest


def _fence_after(line: str, fence: str) -> str:
    """Return the fence that is open after a line, empty if none is."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    mark, info = found.groups()
    if not fence:
        return "" if mark[0] == "`" and "`" in info else mark
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and not info.strip()
    return "" if closes else fence


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Iterate over the fenced blocks, and whether each was never closed."""
    # Only the rules that decide where a block begins and ends; lists and quotes may hold some.
    reader = MarkdownIt("zero").enable(["fence", "list", "blockquote"])
    lines = re.sub("\r\n?", "\n", text).split("\n")
    for token in reader.parse(text):
        if token.type == "fence" and token.map is not None:
            first, end = token.map
            last = lines[end - 1] if end - first > 1 else ""
            yield token.content, not re.fullmatch(rf"[\s>]*{re.escape(token.markup)}{token.markup[0]}*\s*", last)
