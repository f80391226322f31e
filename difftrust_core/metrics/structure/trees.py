"""Parse a program into a flat syntax tree; a cursor reads it, so deep nesting is no problem."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from difftrust_core.metrics.structure.grammars import load_grammar
from difftrust_core.metrics.structure.options import DEFAULT, Options

if TYPE_CHECKING:
    from tree_sitter import Tree

MAX_BYTES = 1 << 20
"""Longer texts are not parsed."""


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Syntax:
    """A syntax tree in preorder: a node's number is its place; ``parents[0]`` is -1."""

    kinds: list[int]
    parents: list[int]
    texts: dict[int, bytes]
    """Leaf -> its source text. A leaf has no children in the tree as parsed."""
    gaps: list[tuple[int, bytes]]
    """(node, text) that lies within an inner node and in none of its children, blank text aside."""
    has_error: bool

    def depths(self) -> list[int]:
        """Return each node's distance from the root."""
        found = [0] * len(self.kinds)
        for node, parent in enumerate(self.parents[1:], 1):
            found[node] = found[parent] + 1
        return found


def parse_program(text: str, options: Options = DEFAULT) -> Syntax | None:
    """Return the syntax tree of ``text`` without the kinds that ``options`` leave out; None if it is too long.

    Any text has a tree; one that is no program has an error in it. Nothing of the text is executed or compiled.
    """
    source = text.encode("utf-8", "surrogatepass")
    if len(source) > MAX_BYTES:
        return None
    grammar = load_grammar(options.language)
    tree = grammar.parse(source)
    dropped = grammar.dropped(comments=options.drop_comments, anonymous=options.named_only)
    found = _flatten(tree, dropped)
    if options.value_gaps and _nonblank(b"".join(found.texts.values())) < _nonblank(source):
        found.gaps.extend(_gaps(tree, source, dropped))
    return found


def _flatten(tree: "Tree", dropped: frozenset[int]) -> Syntax:
    kinds: list[int] = []
    parents: list[int] = []
    texts: dict[int, bytes] = {}
    cursor, parent, open_nodes = tree.walk(), -1, []
    while True:
        node: Any = cursor.node
        kind = node.kind_id
        if kind not in dropped:
            number = len(kinds)
            kinds.append(kind)
            parents.append(parent)
            if cursor.goto_first_child():
                open_nodes.append(parent)
                parent = number
                continue
            texts[number] = node.text
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return Syntax(kinds=kinds, parents=parents, texts=texts, gaps=[], has_error=tree.root_node.has_error)
            parent = open_nodes.pop()


def _nonblank(text: bytes) -> int:
    return len(text.translate(None, b" \t\r\n\f\v"))


def _gaps(tree: "Tree", source: bytes, dropped: frozenset[int]) -> list[tuple[int, bytes]]:
    """Return the gaps in the order in which nodes end; the same walk as ``_flatten``, with places."""
    found: list[tuple[int, bytes]] = []
    cursor, number = tree.walk(), -1
    open_nodes: list[tuple[int, int]] = []
    at = 0  # where the text that is not yet accounted for begins
    while True:
        node: Any = cursor.node
        if node.kind_id not in dropped:
            number += 1
            _keep(found, open_nodes, source[at : node.start_byte])
            if cursor.goto_first_child():
                at = node.start_byte
                open_nodes.append((number, node.end_byte))
                continue
        at = node.end_byte
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found
            _keep(found, open_nodes, source[at : open_nodes[-1][1]])
            at = open_nodes.pop()[1]


def _keep(found: list[tuple[int, bytes]], open_nodes: list[tuple[int, int]], text: bytes) -> None:
    if open_nodes and text.strip():
        found.append((open_nodes[-1][0], text))
