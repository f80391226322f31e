"""A third language, as small as one can be: arithmetic in reverse Polish notation. Importing it makes it known."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from difftrust.demo.mistakes import Bugs
from difftrust.structure.trees import Grammar, add_grammar
from difftrust_core.base.task import Task
from difftrust_core.languages.language import Language, program_id
from difftrust_core.languages.registry import load_language, register_language
from difftrust_core.sandbox.host import Limits
from difftrust_core.sandbox.runner import Runner

_PYTHON = load_language("python")
_TOKEN = re.compile(r"[-+*/xyz]|\d+")


class Rpn:
    """Lines of tokens; their inputs are argument tuples, drawn and made smaller as Python's are."""

    name = grammar = "rpn"
    limits = Limits()
    test_limits = None
    runner = Runner(module=Path(__file__).with_name("rpn_child.py"), inputs="Expressions", libraries=())
    preamble, source, fuzz, around = _PYTHON.preamble, _PYTHON.source, _PYTHON.fuzz, _PYTHON.around
    domain = _PYTHON.domain
    prompt = "Write one line in reverse Polish notation over the arguments x, y, z.\n\n$description\n"

    def check(self, task: Task) -> None: ...

    def tree_id(self, text: str) -> str:
        return f"r{program_id(' '.join(text.split()))}"

    def is_program(self, text: str) -> bool:
        return bool(text.split()) and all(_TOKEN.fullmatch(token) for token in text.split())

    def defines(self, text: str, entry_point: str) -> bool:
        return False

    def bugs(self, task: Task) -> Bugs:
        return SimpleNamespace(
            reference=lambda: task.reference,
            mistakes=_mistakes,
            habits=lambda draws: [(lambda text: text.replace(" ", "  "), draws.random())],
            text=str,
            cut=lambda text, draws: text[: draws.randrange(1, len(text))],
        )


def _mistakes(program: str) -> dict[str, list[Callable[[], str]]]:
    places = [match.start() for match in re.finditer(r"[-+*/]", program)]
    broken = [program[:at] + other + program[at + 1 :] for at in places for other in "-+*/" if other != program[at]]
    return {"wrong_operator": [partial(str, text) for text in broken]} if broken else {}


class _Tokens:
    """A root with a leaf for each token, walked as tree-sitter's trees are."""

    def __init__(self, source: bytes):
        self.root_node = SimpleNamespace(kind_id=0, text=source, start_byte=0, end_byte=len(source), has_error=False)
        kinds = ((1 if m[0].isdigit() else 2 if m[0].isalpha() else 3, m) for m in re.finditer(rb"\S+", source))
        self.leaves = [SimpleNamespace(kind_id=k, text=m[0], start_byte=m.start(), end_byte=m.end()) for k, m in kinds]

    def walk(self) -> "_Tokens":
        self.node, self.ahead = self.root_node, list(self.leaves)
        return self

    def goto_first_child(self) -> bool:
        return self.node is self.root_node and self.goto_next_sibling()

    def goto_next_sibling(self) -> bool:
        found = bool(self.ahead)
        self.node = self.ahead.pop(0) if found else self.node
        return found

    def goto_parent(self) -> bool:
        inside, self.node = self.node is not self.root_node, self.root_node
        return inside


RPN: Language = Rpn()
register_language(RPN)
add_grammar("rpn", Grammar(parse=_Tokens, comments=frozenset(), anonymous=frozenset()))
