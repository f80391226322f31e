"""The floor of `make bench-sandbox`: a bare loop over programs and inputs in one process.

It is given to the sandbox as if it were a candidate, since it calls real ones unconfined by anything of its own: it
loads each program once, and for each input copies the arguments, calls, and writes the canonical text of the result,
with the harness's own functions, as the executor does. No fork, no watchdog, no record of the outcomes.
"""

import sys
import time


def _harness():
    frame = sys._getframe()
    while frame.f_globals.get("__name__") != "program":
        frame = frame.f_back
    return frame.f_globals


def floor(preamble, inputs, entry_point, sources):
    """Return for each source the CPU seconds of loading it, and of calling it on all inputs."""
    harness = _harness()
    canonical, exception_name, clock = harness["canonical"], harness["exception_name"], time.process_time
    batch = harness["Inputs"](list(inputs))
    fresh, n, spent = batch.fresh, len(inputs), []
    for source in sources:
        began = clock()
        function, namespace = harness["load"](preamble, source, entry_point, False)
        loaded = clock()
        texts = []
        for index in range(n):
            try:
                texts.append(canonical(function(*fresh(index, namespace))))
            except BaseException as e:
                texts.append(exception_name(e))
        spent.append((loaded - began, clock() - loaded))
    return spent
