"""The functions that differ between two git revisions, or a revision and the working tree: parsed, never executed."""

import ast
import functools
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from difftrust.diff.revisions import MAX_FILE, Blob, commit_of, list_blobs, list_worktree, read_blobs, top_of
from difftrust.source.closure import Definitions
from difftrust.source.scopes import IMPORTS, bound_by, free_names
from difftrust.source.target import (
    DEFINED,
    Target,
    is_test,
    nested_targets,
    targets_in,
    without_docstring,
    without_texts,
)
from difftrust.types.own import Function
from difftrust_core.exceptions import WrongUsage
from difftrust_core.languages.python.syntax import parsed

Kind = Literal["changed", "added", "removed"]
_ALIKE = 0.5
"""A new file that has this share of the functions of one that is gone is the same file, moved."""


@dataclass(frozen=True, kw_only=True)
class ChangedFunction:
    """A function or method that is not what it was."""

    path: str
    """From the top of the repository; of a removed one where it was."""
    entry_point: str
    kind: Kind
    old_path: str
    """Where it was: another path where its file was moved; empty for an added one."""


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What changed, in the order of the files."""

    functions: tuple[ChangedFunction, ...]
    unreadable: tuple[str, ...]
    """Files, from the top, that changed and that Python cannot parse, or that are nested too deeply, on either side."""
    unused: Mapping[str, tuple[str, ...]]
    """Files, from the top, of which values or classes changed that none of these functions uses, and their names."""
    state: str
    """A digest of all Python files of both sides, tests included."""


def changed_functions(old: str, new: str | None, paths: Sequence[str] = (), *, folder: Path | None = None) -> Changes:
    """Return the functions whose code, or that of what they use of their file, differs between two revisions.

    ``new``: a revision, None for the working tree. ``paths``: files or folders from ``folder``, the current one by
    default; none: all. Docstrings, comments and layout do not count, and tests are left out. A helper in another file
    is not followed. Raises WrongUsage for what is no revision and for a path that neither side has.
    """
    folder = folder or Path.cwd()
    top = top_of(folder).resolve()
    chosen = [_from_top(path, folder, top) for path in paths]
    before, after = _Side(folder, old, chosen), _Side(folder, new, chosen)
    for path, text in zip(chosen, paths, strict=True):
        is_there = new is None and (top / path).is_dir()
        if not is_there and not any(_is_below(name, path) for name in [*before.every, *after.every]):
            raise WrongUsage(f"expected Python files at {text}, neither side has any; name them from this folder")
    names = [name for name in {**before.ids, **after.ids} if before.ids.get(name) != after.ids.get(name)]
    one, other = before.files(names), after.files(names)
    moved = _moved(one, other)
    found: list[ChangedFunction] = []
    unused: dict[str, tuple[str, ...]] = {}
    unreadable = [name for name in names for side in (one, other) if name in side and side[name].tree is None]
    for path in sorted({*one, *other} - set(moved.values())):
        was = moved.get(path, path)
        try:
            new_ones = [*_compared(path, was, one.get(was), other.get(path))]
            found += new_ones
            if was in one and path in other and (left := _unused(one[was], other[path], new_ones)):
                unused[path] = left
        except RecursionError:
            unreadable.append(path)
    return Changes(
        functions=tuple(found),
        unreadable=tuple(sorted(set(unreadable))),
        unused=unused,
        state=f"{before.state}-{after.state}",
    )


def _from_top(path: str, folder: Path, top: Path) -> str:
    if path.startswith("-"):
        raise WrongUsage(f"expected a path, got {path!r}; write ./{path} for a file of that name")
    full = (folder / path).absolute()
    try:
        found = (full.resolve() if full.is_dir() else full.parent.resolve() / full.name).relative_to(top)
    except ValueError:
        raise WrongUsage(f"expected a path in the repository {top}, got {path}; name one inside") from None
    return found.as_posix()


def _is_below(name: str, path: str) -> bool:
    return path == "." or name == path or name.startswith(f"{path}/")


class _Side:
    """The Python files of one revision, or of the working tree, that are asked for."""

    def __init__(self, folder: Path, revision: str | None, chosen: Sequence[str]):
        self._folder = folder
        self._blobs: dict[str, Blob] = {}
        self._contents: dict[str, bytes] = {}
        if revision is not None:
            blobs = list_blobs(folder, commit_of(folder, revision))
            self._blobs = {blob.path: blob for blob in blobs if blob.size <= MAX_FILE and blob.path.endswith(".py")}
            ids = {path: blob.object_id for path, blob in self._blobs.items()}
        else:
            top = top_of(folder)
            plain = [path for path in list_worktree(folder) if _is_plain(top / path)]
            self._contents = {path: (top / path).read_bytes() for path in plain}
            ids = {path: _object_id(content) for path, content in self._contents.items()}
        self.every = tuple(sorted(ids))
        whole = "".join(f"{path}\0{ids[path]}\0" for path in self.every)
        self.state = hashlib.blake2b(whole.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
        asked = [p for p in self.every if not is_test(p) and any(_is_below(p, each) for each in chosen or ["."])]
        self.ids = {path: ids[path] for path in asked}
        """Path -> git's id of the content."""

    def files(self, names: Sequence[str]) -> dict[str, "_File"]:
        """Return those of the files that this side has, parsed."""
        asked = [name for name in names if name in self.ids]
        contents = {name: self._contents[name] for name in asked if name in self._contents}
        blobs = [self._blobs[name] for name in asked if name in self._blobs]
        contents |= {blob.path: content for blob, content in read_blobs(self._folder, blobs)}
        return {name: _File(Path(name), content) for name, content in contents.items()}


def _is_plain(path: Path) -> bool:
    return path.suffix == ".py" and not path.is_symlink() and path.is_file() and path.stat().st_size <= MAX_FILE


def _object_id(content: bytes) -> str:
    """Return git's id of a file's content, so that what did not change need not be read."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


class _File:
    """One file's functions, each with a digest of its code and of what it uses of the file."""

    def __init__(self, path: Path, content: bytes):
        self.tree = parsed(content)
        self._definitions = Definitions(self.tree.body if self.tree else [])
        self.targets: dict[str, Target] = {}
        if self.tree is not None:
            self.targets |= {t.entry_point: t for t in targets_in(path, self.tree, makers=True)}
            self.targets |= nested_targets(path, self.tree)
        self._dump = functools.cache(lambda part: ast.dump(without_texts(part)))

    def values(self) -> dict[str, ast.stmt]:
        """Return the statements of the top level that are neither functions nor imports, by what tells them apart."""
        body = without_docstring(self.tree.body) if self.tree else []
        return {self._dump(s): s for s in body if not isinstance(s, Function | IMPORTS)}

    def digest(self, entry_point: str) -> tuple[frozenset[str], tuple[str, ...]]:
        """Return what tells the function, with all that it uses of the file, from another.

        The order counts of what is not a function, class or import: ``A = auto(); B = auto()``.
        """
        target = self.targets[entry_point]
        parts: list[ast.AST] = list(_own_parts(target))
        names = {name for part in parts for name in free_names(part)}
        names.add((target.owner or target.function).name)  # what stands below it may change it
        passing = self._definitions.passing(target.owner or target.function)
        passing |= {target.owner.name} if target.owner else set()
        parts += self._definitions.needed(
            names,
            passing=passing,
            reads=free_names,
            may=lambda s: s not in (target.function, target.owner) and not self._is_other(s, entry_point),
        )
        ordered = [part for part in parts if not isinstance(part, DEFINED | IMPORTS)]
        return frozenset(map(self._dump, parts)), tuple(map(self._dump, ordered))

    def _is_other(self, statement: ast.stmt, name: str) -> bool:
        """Tell whether a function happens to have the name too, as ``_`` below ``@show.register`` has."""
        return isinstance(statement, Function) and statement.name == name and statement in self._definitions.hooks


def _own_parts(target: Target) -> Iterator[ast.AST]:
    """Iterate over a function; of a method also over what of its class it rests on: head, fields, methods it names."""
    if target.owner is None:
        yield target.function
        return
    owner = target.owner
    yield from [*owner.bases, *owner.keywords, *owner.decorator_list]
    yield from (s for s in without_docstring(owner.body) if not isinstance(s, Function))
    methods = Definitions([s for s in owner.body if isinstance(s, Function)])
    special = [name for name in methods.binders if name.startswith("__")]
    yield from methods.needed([target.function.name, *special], reads=_attributes_in)


def _attributes_in(method: ast.stmt) -> set[str]:
    return {node.attr for node in ast.walk(method) if isinstance(node, ast.Attribute)}


def _moved(one: Mapping[str, _File], other: Mapping[str, _File]) -> dict[str, str]:
    """Return for new files that are old ones under another name what that was."""
    found: dict[str, str] = {}
    for path in (path for path in other if path not in one):
        gone = [was for was in one if was not in other and was not in found.values()]
        share, was = max(((_alike(one[was], other[path]), was) for was in gone), default=(0.0, ""))
        if share >= _ALIKE:
            found[path] = was
    return found


def _alike(one: _File, other: _File) -> float:
    return len(one.targets.keys() & other.targets.keys()) / max(len(one.targets), len(other.targets), 1)


def _compared(path: str, was: str, one: _File | None, other: _File | None) -> Iterator[ChangedFunction]:
    if (one and one.tree is None) or (other and other.tree is None):
        return
    before, after = one.targets if one else {}, other.targets if other else {}
    for name in after | before:
        if name not in before:
            yield ChangedFunction(path=path, entry_point=name, kind="added", old_path="")
        elif name not in after:
            yield ChangedFunction(path=was, entry_point=name, kind="removed", old_path=was)
        elif one and other and one.digest(name) != other.digest(name):
            yield ChangedFunction(path=path, entry_point=name, kind="changed", old_path=was)


def _unused(one: _File, other: _File, changed: Sequence[ChangedFunction]) -> tuple[str, ...]:
    """Return the names of values and classes that differ and that no function which changed uses or is in."""
    if one.tree is None or other.tree is None:
        return ()
    names = [change.entry_point for change in changed]
    owners = {name.partition(".")[0] for name in names}
    used = {part for file in (one, other) for name in names if name in file.targets for part in file.digest(name)[0]}
    before, after = one.values(), other.values()
    left = [(after | before)[key] for key in (after | before) if (key in before) != (key in after) and key not in used]
    left = [s for s in left if not (isinstance(s, ast.ClassDef) and s.name in owners)]
    said = (sorted(bound_by(s, changed=True)) or ast.unparse(s).splitlines()[:1] for s in left)
    return tuple(dict.fromkeys(name for each in said for name in each))
