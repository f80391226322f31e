"""Parse a program into a flat syntax tree, by which grammar and options; a cursor reads it, however deep it nests."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from difftrust_core.base.plugins import require
from difftrust_core.exceptions import WrongUsage

if TYPE_CHECKING:
    from tree_sitter import Tree

BASES = ("2", "e")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Where the published description leaves a choice, it is one of these; docs/structure.md says why."""

    language: str = "python"
    """``python``, ``sql``, or an importable tree-sitter grammar: ``tree_sitter_java``."""
    epsilon: float = 1e-10
    """What a symbol that a program lacks counts as in the structural cross-entropy."""
    base: str = "2"
    """Of the logarithm in JSD: ``2``, or ``e`` as in the published code, where the similarity ends at 0.307, not 0."""
    subtree_depth: int = 1
    """Depth of the subtree in a symbol."""
    max_depth: int | None = None
    """Only nodes at most this far from the root; None: all."""
    drop_comments: bool = False
    named_only: bool = False
    """Leave out keywords and punctuation."""
    value_gaps: bool = True
    """With values: keep text that lies in no leaf, such as that of a string beside its escapes."""
    skip_parse_errors: bool = False
    """Leave out programs that do not parse whole, rather than count them."""

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < 1:
            raise WrongUsage(
                f"smoothing (epsilon) lies between 0 and 1, got {self.epsilon}; the published value is 1e-10"
            )
        if self.base not in BASES:
            raise WrongUsage(f"the base is one of {', '.join(BASES)}, got {self.base!r}")
        if self.subtree_depth < 1:
            raise WrongUsage(f"a subtree has depth >= 1, got {self.subtree_depth}")
        if self.max_depth is not None and self.max_depth < 0:
            raise WrongUsage(f"max_depth is at least 0, got {self.max_depth}; leave it out to take every node")

    @property
    def label(self) -> str:
        """Return the choices that are not the default as one text: ``default``, or ``base=e,max_depth=3``."""
        chosen = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return ",".join(f"{name}={str(value).lower()}" for name, value in chosen) or "default"


DEFAULT = Options()


EXTRA = "structure"
PURPOSE = "a structural comparison"
"""What needs the optional packages, and the extra that installs them."""
_MODULES = {"python": "tree_sitter_python", "sql": "tree_sitter_sql"}
_COMMENTS = frozenset({"comment", "line_comment", "block_comment", "doc_comment", "multiline_comment", "marginalia"})


@dataclass(frozen=True, kw_only=True, eq=False)
class Grammar:
    """A parser and what is known of its kinds of nodes. A kind is a number; two kinds never share one."""

    parse: Callable[[bytes], "Tree"]
    comments: frozenset[int]
    anonymous: frozenset[int]
    """Keywords and punctuation."""


_added: dict[str, Grammar] = {}


def add_grammar(name: str, grammar: Grammar) -> None:
    """Make a grammar known in this process, that of a language without one for tree-sitter."""
    _added[name] = grammar


@lru_cache(maxsize=16)
def load_grammar(name: str) -> Grammar:
    """Return the grammar ``name``: python, sql, one that was added, or an installed module with ``language``.

    Raises WrongUsage if there is none, MissingPackage without the extra "structure".
    """
    if name in _added:
        return _added[name]
    tree_sitter = require("tree_sitter", extra=EXTRA, purpose=PURPOSE)
    module = _MODULES.get(name, name)
    if name in _MODULES:
        _ = require(module, extra=EXTRA, purpose=PURPOSE)
    try:
        language = tree_sitter.Language(_language_of(module)())
    except (ImportError, AttributeError, TypeError, ValueError) as e:
        raise WrongUsage(
            f"expected python, sql or an installed tree-sitter grammar such as tree_sitter_java, got {name!r} ({e}); "
            f"install it with pip"
        ) from None
    kinds = range(language.node_kind_count)
    return Grammar(
        parse=tree_sitter.Parser(language).parse,
        comments=frozenset(k for k in kinds if language.node_kind_for_id(k) in _COMMENTS),
        anonymous=frozenset(k for k in kinds if not language.node_kind_is_named(k)),
    )


def _language_of(module: str) -> Callable[[], Any]:
    """Return the function that gives a grammar; ``module:function`` where a module holds several."""
    name, _, function = module.partition(":")
    if not name.startswith("tree_sitter_"):
        raise ImportError(f"{name} is not called tree_sitter_...")
    found: Callable[[], Any] = getattr(importlib.import_module(name), function or "language")
    return found


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


def parse_program(text: str, options: Options) -> Syntax | None:
    """Return the syntax tree of ``text`` without the kinds that ``options`` leave out; None if it is too long.

    Any text has a tree; one that is no program has an error in it. Nothing of the text is executed or compiled.
    """
    source = text.encode("utf-8", "surrogatepass")
    if len(source) > MAX_BYTES:
        return None
    grammar = load_grammar(options.language)
    dropped = grammar.comments if options.drop_comments else frozenset()
    dropped |= grammar.anonymous if options.named_only else frozenset()
    found = _flatten(grammar.parse(source), source, dropped)
    return found if options.value_gaps else replace(found, gaps=[])


def _flatten(tree: "Tree", source: bytes, dropped: frozenset[int]) -> Syntax:
    """Return the tree, its gaps in the order in which nodes end."""
    kinds: list[int] = []
    parents: list[int] = []
    texts: dict[int, bytes] = {}
    gaps: list[tuple[int, bytes]] = []
    open_nodes: list[tuple[int, int]] = []
    cursor, at = tree.walk(), 0  # ``at``: where the text that is not yet accounted for begins

    def keep_gap(end: int) -> None:
        if open_nodes and source[at:end].strip():
            gaps.append((open_nodes[-1][0], source[at:end]))

    while True:
        node: Any = cursor.node
        if node.kind_id not in dropped:
            number = len(kinds)
            kinds.append(node.kind_id)
            parents.append(open_nodes[-1][0] if open_nodes else -1)
            keep_gap(node.start_byte)
            if cursor.goto_first_child():
                at = node.start_byte
                open_nodes.append((number, node.end_byte))
                continue
            texts[number] = node.text
        at = node.end_byte
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return Syntax(kinds=kinds, parents=parents, texts=texts, gaps=gaps, has_error=tree.root_node.has_error)
            keep_gap(open_nodes[-1][1])
            at = open_nodes.pop()[1]
