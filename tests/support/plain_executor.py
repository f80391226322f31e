"""A plain, slow executor to compare with: no zygote, no shared memory, no canonical text of the project's own.

Reads JSON (preamble, entry_point, sources, inputs) from standard input; runs each source in a fork, each input in turn;
writes, for each source, a list of one word an input, equal where Python calls results of one type equal; None where it
did not load or did not come to its end. Run it behind bubblewrap.
"""

import __future__

import ast
import io
import json
import os
import signal
import sys
import types

CALL_SECONDS = 0.5


def word(value):
    """Return a text that two values share if and only if they are equal and of the same types."""
    kind = type(value).__name__
    if value is None or isinstance(value, bool | int | str | bytes):
        return f"{kind} {value!r}"
    if isinstance(value, float):
        return f"float {value + 0.0 if value else 0.0!r}"
    if isinstance(value, list | tuple):
        return f"{kind} [{', '.join(map(word, value))}]"
    if isinstance(value, set | frozenset):
        return f"{kind} {sorted(map(word, value))}"
    if isinstance(value, dict):
        return f"{kind} {sorted((word(key), word(entry)) for key, entry in value.items())}"
    return "?"


def ring(number, frame):
    """End a call that takes too long, where it runs Python."""
    raise TimeoutError("the plain executor's own")


def run(job, source):
    """Return the words of one program, None where it does not load."""
    sys.modules["candidate"] = types.ModuleType("candidate")  # dataclasses look themselves up
    namespace = vars(sys.modules["candidate"])
    flags = __future__.annotations.compiler_flag
    try:
        exec(compile(job["preamble"], "<preamble>", "exec", flags), namespace)
        exec(compile(source, "<candidate>", "exec", flags), namespace)
        function = namespace[job["entry_point"]]
    except BaseException:
        return None
    words = []
    for text in job["inputs"]:
        arguments = ast.literal_eval(text)
        signal.setitimer(signal.ITIMER_VIRTUAL, CALL_SECONDS)
        try:
            words.append(word(function(*arguments)))
        except BaseException as e:
            words.append(f"raised {type(e).__name__}")
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return words


def run_in_thread(job, source):
    """Run one program in a process of its own."""
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(receive)
        sys.stdout = io.StringIO()
        found = json.dumps(run(job, source)).encode()
        while found:
            found = found[os.write(send, found) :]
        os._exit(0)
    os.close(send)
    with os.fdopen(receive, "rb") as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(said or b"null")


if __name__ == "__main__":
    signal.signal(signal.SIGVTALRM, ring)
    asked = json.load(sys.stdin)
    print(json.dumps([run_in_thread(asked, source) for source in asked["sources"]]))
