"""The sampling of the published pipeline for one task and one coder, from its description; a program of its own.

For each input two random candidates are executed and compared (incoherence); for as many others a random candidate and
the reference (error). Inputs on which the reference fails are drawn again. Executions run in two threads, each with a
time limit; a thread cannot be ended, so one that hangs goes on. Nothing is isolated or kept for the next m or n.
Programs are loaded once, which the description leaves open and favours it.

It runs behind bubblewrap, with the harness's own reader of literals, loader and copies of arguments (``/harness``), so
both sides of the comparison do these in the same way. Reads JSON from standard input, writes JSON.
"""

import json
import os
import random
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

sys.path[:0] = ["/harness"]
sys.setrecursionlimit(5000)
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (150, 150))  # a program that hangs hears of no end
from program import Inputs, load  # noqa: E402

CALL_SECONDS = 1.0
TOLERANCE = 1e-3


class Executor:
    """Two threads, replaced when an execution hangs in one of them."""

    def __init__(self):
        self._pool = ThreadPoolExecutor(2)

    def run(self, calls):
        """Return the outcome of each call: its value, or the type of what it raised or ran into."""
        futures = [self._pool.submit(call) for call in calls]
        return [self._outcome(future) for future in futures]

    def _outcome(self, future):
        try:
            return future.result(CALL_SECONDS)
        except TimeoutError:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = ThreadPoolExecutor(2)
            return TimeoutError
        except BaseException as e:
            return type(e)


def same(one, other):
    """Compare as published: numbers within 0.1 %, lists equal tuples, the rest as Python does."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other or abs(one - other) <= TOLERANCE * max(abs(one), abs(other))
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def call_of(preamble, source, entry_point):
    """Return what calls a program on fresh arguments, or raises what its loading raised."""
    try:
        function, namespace = load(preamble, source, entry_point, False)
    except BaseException as e:
        problem = type(e)

        def fail(arguments, index):
            raise problem

        return fail
    return lambda inputs, index: function(*inputs.fresh(index, namespace))


def measure(job):
    """Return the seconds that the task took, error and incoherence."""
    began = time.perf_counter()
    rng, executor = random.Random(0), Executor()
    reference, *candidates = (
        call_of(job["preamble"], source, job["entry_point"]) for source in (job["reference"], *job["candidates"])
    )
    inputs = Inputs(job["preamble"], job["inputs"])
    n, disagreements, errors = len(inputs), 0, 0
    for index in range(n):
        for _ in range(job["attempts"][index]):
            executor.run([partial(reference, inputs, index)])
        one, other = rng.sample(candidates, 2)
        outcomes = executor.run([partial(one, inputs, index), partial(other, inputs, index)])
        disagreements += not same(*outcomes)
    for index in range(n):
        for _ in range(job["attempts"][index] - 1):  # the last attempt's result is the one to compare with
            executor.run([partial(reference, inputs, index)])
        chosen = rng.choice(candidates)
        outcomes = executor.run([partial(chosen, inputs, index), partial(reference, inputs, index)])
        errors += not same(*outcomes)
    return {"seconds": time.perf_counter() - began, "error": errors / n, "incoherence": disagreements / n}


if __name__ == "__main__":
    said = sys.stdout
    sys.stdout = None  # what candidates print is dropped
    result = measure(json.load(sys.stdin))
    said.write(json.dumps(result))
    said.flush()
    os._exit(0)  # threads that hang are not waited for
