"""`difftrust check` in processes that need not import everything again: for what a check says, not how long it takes.

Each check is a process and a session of its own with the real command line, forked from one that did nothing but
import. That takes 1.0 s of processor time instead of 1.6 s.
"""

import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench.commands import LIMIT, Checked, checked
from tests.bench.processes import Took

_IMPORTED = (
    "difftrust.check.check",
    "difftrust.cli.check_many",
    "difftrust.cli.judgement",
    "difftrust_core.languages.python.adapter",
    "difftrust_core.languages.python.simpler",
    "difftrust.search.search",
    "difftrust.task_intervals",
    "difftrust.outputs.report_text",
    "difftrust_core.sandbox.host",
)
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__, *_IMPORTED])


def run_warm_check(where: str, programs: Path, options: Sequence[str], cwd: Path) -> Checked:
    """Check these candidates, as ``run_check`` does; processor time is that of the check's own processes."""
    words = ["check", where, "--candidates", str(programs), "--format=json", *options]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("1", "2", "end"):
            (Path(folder) / name).touch()
        process = _CONTEXT.Process(target=_be_the_command, args=(words, str(cwd), folder))
        began = time.perf_counter()
        process.start()
        process.join(LIMIT)
        if process.is_alive() and process.pid is not None:
            os.killpg(process.pid, signal.SIGKILL)
            process.join()
        seconds = time.perf_counter() - began
        process.close()
        stdout, stderr, end = ((Path(folder) / name).read_text(errors="replace") for name in ("1", "2", "end"))
    status, cpu = end.split() or (-signal.SIGKILL, "nan")
    return checked(Took(status=int(status), stdout=stdout, stderr=stderr, wall=seconds, cpu=float(cpu)))


def _be_the_command(words: list[str], cwd: str, folder: str) -> None:
    """Write what is printed into files; the status and the processor time too, since threads share what waits."""
    from difftrust.cli import main

    os.setsid()
    os.chdir(cwd)
    for stream in (1, 2):
        os.dup2(os.open(Path(folder) / str(stream), os.O_WRONLY), stream)
    status = 1
    try:
        main(words)
    except SystemExit as e:
        status = int(e.code or 0)
    finally:
        cpu = sum(os.times()[:4])
        (Path(folder) / "end").write_text(f"{status} {cpu}")
