"""Load a tree-sitter grammar by its name."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from difftrust_core.base.extras import require
from difftrust_core.exceptions import WrongUsage

if TYPE_CHECKING:
    from tree_sitter import Tree

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

    def dropped(self, *, comments: bool, anonymous: bool) -> frozenset[int]:
        """Return the kinds to leave out, with all below them."""
        return (self.comments if comments else frozenset()) | (self.anonymous if anonymous else frozenset())


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
