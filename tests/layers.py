"""The layers of difftrust_core, lowest first, and what imports may cross them: `python -m tests.layers` prints both."""

import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import difftrust_core

PACKAGE = Path(difftrust_core.__file__).parent
LAYERS = (
    "exceptions",
    "base",
    "sandbox",
    "metrics",
    "languages",
    "datasets",
    "store",
    "generation",
    "execution",
    "analysis",
    "checks",
    "report",
    "cli",
)
"""A layer imports only from layers above it in this list and from itself; `__init__` is the public API over all."""
LEVEL = {layer: level for level, layer in enumerate(LAYERS)}
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "child" not in path.parts)


def module_of(path: Path) -> str:
    """Return the dotted name of a file of the package."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def layer_of(path: Path) -> str:
    """Return the layer of a file of the package; "__init__" for the public API."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_by(path: Path, *, at_start: bool = False) -> set[str]:
    """Return all that a file imports, as dotted names; ``at_start``: without what functions import when called."""
    found: set[str] = set()
    for node in _nodes(ast.parse(path.read_text()), at_start):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "require":
            found |= {str(word.value) for word in node.args[:1] if isinstance(word, ast.Constant)}  # base.extras
    return found


def _nodes(tree: ast.AST, at_start: bool) -> Iterable[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        if at_start and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        yield child
        yield from _nodes(child, at_start)


def upward_imports() -> list[str]:
    """Return "a -> b" for each module a that imports from a layer over its own."""
    found = []
    for path in FILES:
        layer = layer_of(path)
        for name in imported_by(path) if layer in LEVEL else ():
            parts = name.split(".")
            if parts[0] == "difftrust_core" and len(parts) > 1 and LEVEL.get(parts[1], 0) > LEVEL[layer]:
                found.append(f"{module_of(path)} -> {name}")
    return sorted(found)


def private_imports() -> list[str]:
    """Return "a -> b" for each module a that imports a name or module with a leading underscore from elsewhere."""
    return sorted(
        f"{module_of(path)} -> {name}"
        for path in FILES
        for name in imported_by(path)
        if name.startswith("difftrust_core.") and any(re.match("_[^_]", part) for part in name.split("."))
    )


def circles() -> list[str]:
    """Return the groups of modules that import each other in a circle, functions' own imports included."""
    modules = {module_of(path): path for path in FILES}
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        targets = {n if n in modules else n.rpartition(".")[0] for n in imported_by(path)}
        graph[module] = {t for t in targets if t in modules and t != module and t != "difftrust_core"}
    remaining = dict(graph)
    while free := {m for m, targets in remaining.items() if not targets & set(remaining)}:
        for module in free:
            del remaining[module]
    while tops := set(remaining) - {t for targets in remaining.values() for t in targets}:
        for module in tops:
            del remaining[module]
    return [" <-> ".join(sorted(remaining))] if remaining else []


def main() -> int:
    """Print the layers and what breaks their order; 1 if anything does."""
    for layer in LAYERS:
        files = [path for path in FILES if layer_of(path) == layer]
        lines = sum(len(path.read_text().splitlines()) for path in files)
        print(f"{LEVEL[layer] + 1:>2}  {layer:<12} {len(files):>3} modules  {lines:>5} lines")
    print(f"entries in difftrust_core/: {len({layer_of(path) for path in FILES})}")
    status = 0
    for title, found in (
        ("upward imports", upward_imports()),
        ("private imports", private_imports()),
        ("circles", circles()),
    ):
        print(f"{title}: {len(found)}", *found, sep="\n  ")
        status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main())
