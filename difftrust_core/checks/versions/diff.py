"""Compare two versions of a function on inputs made for both, and find the smallest on which they differ."""

import hashlib
from dataclasses import replace

from difftrust_core.base.task import Task
from difftrust_core.base.text import unified_diff
from difftrust_core.checks.programs import Executor, runner_of
from difftrust_core.checks.versions.bundle import CALL, bundle_of
from difftrust_core.checks.versions.compare import Compare, raised_in
from difftrust_core.checks.versions.directed import changed_statements, functions_text
from difftrust_core.checks.versions.known import Pair, target_of
from difftrust_core.checks.versions.reach import unreached
from difftrust_core.checks.versions.records import DiffOptions, DiffReport
from difftrust_core.checks.versions.search import Found, Search
from difftrust_core.checks.versions.verdict import judged
from difftrust_core.checks.versions.version import Version, load_version
from difftrust_core.datasets.entries import signature_of
from difftrust_core.languages.language import language_of
from difftrust_core.sandbox.host import Sandbox

__all__ = ["DiffOptions", "DiffReport", "Version", "diff", "load_version"]
_MAX_WHOLE = 100_000
"""Characters of both programs up to which all statements of their modules are tried where those chosen do not load."""
_CALL, _REPEAT, _LOAD = 2.0, 0.5, 3.0
"""Seconds that somebody waits for a version that waits itself; computing is limited by CPU time."""


def diff(old: Version, new: Version, options: DiffOptions | None = None) -> DiffReport:
    """Run both versions on inputs that seek a difference and report the smallest on which their behaviour differs.

    Never raises for what the versions do. Raises WrongUsage for an ``expect`` that is no call of the function, and for
    a package of ``allow_imports`` that is not installed.
    """
    options = options or DiffOptions()
    options.phase("reading both versions")
    pair = _pair(old, new, options, whole=False)
    before, after = (functions_text(bundle.definitions) for bundle in pair.bundles)
    if before == after:
        return judged(pair, options, Found(), difference="")
    found = _searched(pair, options)
    if found.load_errors and sum(len(bundle.code) for bundle in pair.bundles) < _MAX_WHOLE:
        whole = _pair(old, new, options, whole=True)
        again = _searched(whole, options)
        found, pair = (again, whole) if not again.load_errors else (found, pair)
    return judged(pair, options, found, difference=_difference(pair))


def _pair(old: Version, new: Version, options: DiffOptions, *, whole: bool) -> Pair:
    """Return both versions as programs; both files are known to themselves by one name, that of the new one."""
    bundles = (
        bundle_of(old, allowed=options.allow_imports, name=new.module_name, whole=whole),
        bundle_of(new, allowed=options.allow_imports, name=new.module_name, whole=whole),
    )
    targets = (target_of(old, bundles[0]), target_of(new, bundles[1]))
    return Pair(old=old, new=new, bundles=bundles, targets=targets)


def _difference(pair: Pair) -> str:
    """Return the diff of the functions; where these are the same, of what they rest on."""
    texts = [pair.old.text, pair.new.text]
    if texts[0] == texts[1]:
        texts = [functions_text(bundle.definitions) for bundle in pair.bundles]
    return unified_diff(texts[0], texts[1], ("old", "new"))


def _searched(pair: Pair, options: DiffOptions) -> Found:
    """Return what running both versions shows."""
    codes = [bundle.code for bundle in pair.bundles]
    libraries = dict.fromkeys([*(p for b in pair.bundles for p in b.libraries), *options.allow_imports])
    target = pair.targets[1]
    task = Task(
        benchmark="diff",
        task_id=f"diff/{hashlib.blake2b('|'.join(codes).encode('utf-8', 'replace'), digest_size=6).hexdigest()}",
        entry_point=CALL,
        signature=signature_of(target.function),
        description=target.docstring,
        seed_inputs=(),
    )
    runner = runner_of(task, codes, tuple(libraries), messages=options.messages)
    limits = replace(language_of(task).limits, call_wall=_CALL, repeat_wall=_REPEAT, load_wall=_LOAD)
    texts = [functions_text(bundle.definitions) for bundle in pair.bundles]
    raised = raised_in([s for bundle in pair.bundles for s in bundle.definitions])
    compare = Compare(options.equality, tolerance=options.tolerance, raised=raised)
    with Sandbox(limits, runner=runner, allow_weak=options.allow_weak, wait=False) as sandbox:
        executor = Executor(task, sandbox)
        search = Search(pair, executor, compare, options, lines=changed_statements(*texts))
        found = search.run()
        if not found.changes and not found.load_errors:
            options.phase("looking whether the lines that differ were reached")
            found.unreached = unreached(pair, executor, found.rows)
        return found
