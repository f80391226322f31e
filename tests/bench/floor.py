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
    """Return the CPU seconds of reading the inputs once, and of loading and calling each source on all of them."""
    harness = _harness()
    canonical, exception_name = harness["canonical"], harness["exception_name"]
    began = time.process_time()
    fresh, n = harness["Inputs"](preamble, list(inputs)).fresh, len(inputs)
    for source in sources:
        try:
            function, namespace = harness["load"](preamble, source, entry_point, False)
        except BaseException:  # it fails to load in the executor too
            continue
        texts = []
        for index in range(n):
            try:
                texts.append(canonical(function(*fresh(index, namespace))))
            except BaseException as e:
                texts.append(exception_name(e))
    return time.process_time() - began
