"""Scripts as a language of programs: Python that reads standard input and writes standard output."""

import ast
import re
from pathlib import Path

from difftrust.contests.mutate_texts import draw_text, simpler_texts
from difftrust_core.base.files import read_packaged
from difftrust_core.base.literals import write_literal
from difftrust_core.base.task import Task
from difftrust_core.languages.language import MAX_ATTEMPTS, Around, Draw, InDomain, Language, key_of
from difftrust_core.languages.python.adapter import Python
from difftrust_core.languages.python.syntax import parsed
from difftrust_core.sandbox.host import Limits
from difftrust_core.sandbox.runner import Runner

_CHILD = Path(__file__).parent / "child"
_READS = re.compile(r"\binput\(|\bstdin\b|\bopen\(0|\bfileinput\b|\bos\.read\(0")


class Stdin(Python):
    """Python scripts; an input is a tuple of one text."""

    name = "stdin"
    # What is drawn has at most 2,000 characters. Tests may have a million, for which contests allow some seconds.
    limits = Limits(call_cpu=1.0, repeat_cpu=0.15, program_cpu=20.0, program_wall=120.0)
    test_limits = Limits(call_cpu=4.0, repeat_cpu=0.5, program_cpu=60.0, program_wall=240.0)
    runner = Runner(module=_CHILD / "stdin.py", inputs="Texts", parts=(_CHILD / "streams.py",), stack_bytes=112 << 20)

    prompt = read_packaged(__package__, "prompt.txt")
    method_prompt = ""

    def check(self, task: Task) -> None:
        """Check that every seed input is one text, that the reference parses, and that there is no domain."""
        for seed in task.arguments():
            if len(seed) != 1 or not isinstance(seed[0], str):
                raise task.refusal(f"an input of a program that reads stdin is one text, got {str(seed)[:80]}")
        if task.reference is not None and not self.is_program(task.reference):
            raise task.refusal("the reference must be a Python program")
        if task.domain is not None:
            raise task.refusal("programs that read stdin have no domain yet; leave it out")

    def is_program(self, text: str) -> bool:
        """Tell whether a text parses and calls something: a program of one line may be a single expression."""
        tree = parsed(text)
        return tree is not None and any(isinstance(node, ast.Call) for node in ast.walk(tree))

    def defines(self, text: str, entry_point: str) -> bool:
        """Tell whether a text parses and reads standard input."""
        return _READS.search(text) is not None and parsed(text) is not None

    def fuzz(self, task: Task, seed: int) -> Draw:
        """Return what mutates the seed inputs."""
        texts = [text for (text,) in task.arguments()]
        if not texts:
            raise task.refusal("its inputs are made of seed inputs, and it has none")

        def draw(position: int, attempt: int) -> str:
            key = key_of(task.task_id, seed=seed, position=position, attempt=attempt)
            text = texts[key % len(texts)] if attempt == MAX_ATTEMPTS else draw_text(texts, key)
            return write_literal((text,))

        return draw

    def around(self, task: Task) -> Around:
        """Return what makes texts simpler within their structure."""
        return simpler_texts([text for (text,) in task.arguments()])

    def domain(self, task: Task) -> InDomain | None:
        """Return None: the structure of the seed inputs stands for it."""
        return None


def trimmed(text: str) -> str:
    """Return what was printed without blanks at the ends of its lines and without empty lines at its end.

    ``contests/child/streams.py`` does the same to what a program writes.
    """
    return "\n".join(line.rstrip(" \t\r\v\f") for line in text.split("\n")).rstrip("\n")


LANGUAGE: Language = Stdin()
