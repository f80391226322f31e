"""The layers of both packages and the dashboard, and what breaks them: `python -m tests.layers` prints both.

An import counts wherever it stands: in a function, under TYPE_CHECKING, as a string that names a module, and by
``import_module`` with a text that begins with one.
"""

import ast
import re
import sys
from collections.abc import Iterable
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import difftrust_core

ROOT = Path(difftrust_core.__file__).parents[1]
PACKAGES = ("difftrust_core", "difftrust", "dashboard")
CORE = (
    ("exceptions",),
    ("base",),
    ("sandbox",),
    ("metrics",),
    ("languages",),
    ("datasets",),
    ("store",),
    ("generation",),
    ("execution",),
    ("estimates",),
)
TOOL = (
    ("shipped", "text"),
    ("doctor", "download", "export", "findings_in_store", "task_intervals", "sql", "structure", "verify"),
    ("conditions",),
    ("types", "search", "source", "contests", "layouts", "demo"),
    ("check", "questions"),
    ("diff",),
    ("outputs",),
    ("research",),
    ("results", "tables", "figures", "tasks"),
    ("verdicts", "page", "explorer", "study", "pipeline", "reproduce", "audit_package", "audit_evidence"),
    ("agents", "cli"),
)
"""A room imports from rooms before it and from those of its own tuple; modules never in a circle."""
LEVEL = {
    f"{package}.{room}": (number, level)
    for number, (package, layers) in enumerate((("difftrust_core", CORE), ("difftrust", TOOL)))
    for level, rooms in enumerate(layers)
    for room in rooms
}
FILES = sorted(
    path
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if "child" not in path.parts and "share" not in path.parts
)


def module_of(path: Path) -> str:
    """Return the dotted name of a file of the packages."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in FILES}


def room_of(module: str) -> str:
    """Return the room of a dotted name: its package and what stands below it; "dashboard" for all of the dashboard."""
    return "dashboard" if module.split(".")[0] == "dashboard" else ".".join(module.split(".")[:2])


@cache
def tree_of(path: Path) -> ast.Module:
    """Return a file, parsed."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported_by(path: Path) -> frozenset[str]:
    """Return all that a file imports, as dotted names."""
    found: set[str] = set()
    for node in _nodes(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "require":
            found |= {str(word.value) for word in node.args[:1] if isinstance(word, ast.Constant)}  # base.extras
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= _modules_named(node.value)
    return frozenset(found)


def _modules_named(text: str) -> set[str]:
    """Return the modules that a text names, or whose beginning it is: "dashboard.views." stands for each of these."""
    if text in MODULES:
        return {text}
    if not any(package in text for package in PACKAGES):
        return set()
    is_beginning = re.fullmatch(r"(difftrust|difftrust_core|dashboard)\.\w[\w.]*\.", text)
    named = re.findall(r"\b(?:from|import) ((?:difftrust|difftrust_core|dashboard)[\w.]*)", text)  # code as a text
    below = {module for module in MODULES if module.startswith(text)} if is_beginning else set()
    return below | {module for module in named if module in MODULES}


def _nodes(tree: ast.AST) -> Iterable[ast.AST]:
    """Yield all nodes but docstrings."""
    pending = [tree]
    while pending:
        for child in ast.iter_child_nodes(pending.pop()):
            if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
                yield child
                pending.append(child)


@cache
def targets_of(module: str) -> frozenset[str]:
    """Return the modules of the packages that a module imports."""
    names = {name if name in MODULES else name.rpartition(".")[0] for name in imported_by(MODULES[module])}
    return frozenset(name for name in names if name in MODULES and name != module)


def upward_imports() -> list[str]:
    """Return "a -> b" for each module a that imports from a room over its own."""
    highest = (len(PACKAGES), 0)
    return sorted(
        f"{module} -> {target}"
        for module in MODULES
        for target in targets_of(module)
        if "." in module and room_of(target) != room_of(module)
        if ("." in target or target == "dashboard")
        and LEVEL.get(room_of(target), highest) > LEVEL.get(room_of(module), highest)
    )


def words_of_the_tool() -> list[str]:
    """Return "a: text" for each text of the core that names a room of the tool, or the dashboard's folder."""
    rooms = "|".join(room for rooms in TOOL for room in rooms)
    named = re.compile(rf"\bdifftrust[./]({rooms})\b|\bdashboard[./]\w")
    found = []
    for module, path in MODULES.items():
        if module.startswith("difftrust_core"):
            texts = [n.value for n in _nodes(tree_of(path)) if isinstance(n, ast.Constant)]
            found += [f"{module}: {text[:60]}" for text in texts if isinstance(text, str) and named.search(text)]
    return sorted(found)


def private_imports() -> list[str]:
    """Return "a -> b" for each module a that imports a name or module with a leading underscore from elsewhere."""
    return sorted(
        f"{module} -> {name}"
        for module, path in MODULES.items()
        for name in imported_by(path)
        if name.split(".")[0] in PACKAGES and any(re.match("_[^_]", part) for part in name.split("."))
    )


def circles() -> list[str]:
    """Return one circle of modules that import each other, functions' own imports included, where there is any."""
    names = set(PACKAGES)  # their names are loaded when they are first used
    sorter = TopologicalSorter({module: targets_of(module) - names for module in MODULES if module not in names})
    try:
        sorter.prepare()
    except CycleError as e:
        return [" -> ".join(reversed(e.args[1]))]
    return []


def unplaced() -> list[str]:
    """Return the rooms that no layer names, and the layers that no file stands in."""
    rooms = {room_of(module) for module in MODULES if "." in module} - {"dashboard"}
    return sorted(rooms ^ set(LEVEL))


def main() -> int:
    """Print the layers and what breaks their order; 1 if anything does."""
    for room, (_, level) in LEVEL.items():
        files = [path for module, path in MODULES.items() if room_of(module) == room]
        lines = sum(len(path.read_text().splitlines()) for path in files)
        print(f"{level + 1:>2}  {room:<28} {len(files):>3} modules  {lines:>5} lines")
    status = 0
    for title, found in (
        ("upward imports", upward_imports()),
        ("words of the tool in the core", words_of_the_tool()),
        ("private imports", private_imports()),
        ("circles", circles()),
        ("rooms without a layer, layers without a room", unplaced()),
    ):
        print(f"{title}: {len(found)}", *found, sep="\n  ")
        status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main())
