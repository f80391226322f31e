"""What each language of programs brings, and the language of a task by its name.

Python is built in. Another language is an adapter that implements ``Language``, a child runner for the sandbox
(``sandbox/runner.py``), and an entry point (``base/plugins.py``). Adapters are loaded when a task first asks for them:
to read SQL takes half a second to load, and most tasks are in Python.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from difftrust_core.base.plugins import DOMAINS, load_plugin, plugin_names
from difftrust_core.base.task import Domain, Task
from difftrust_core.exceptions import MissingPackage

if TYPE_CHECKING:
    from difftrust_core.sandbox.host import Limits
    from difftrust_core.sandbox.runner import Runner

MAX_ATTEMPTS = 100
"""So many inputs are tried at one position; then an unchanged seed input takes it."""

Draw = Callable[[int, int], str]
"""(position, attempt) -> an argument tuple in the text form of ``literals``, always the same one."""


class InDomain(Protocol):
    """The domain of a task, as its language reads it."""

    predicate: str
    """A program for the sandbox: ``inside(*arguments)`` raises outside, and ``inside_and_kept`` also where it changes
    its arguments (``ChangesItsArguments``). Empty: the types say all."""
    generator: str
    """A program for the sandbox: ``draw(key)`` returns an argument tuple, which need not lie inside. Empty: none."""

    def fits(self, arguments: str) -> bool:
        """Tell whether an argument tuple fits the types."""
        ...

    def draw(self, seeds: Sequence[tuple[Any, ...]], seed: int) -> Draw:
        """Return what draws argument tuples that fit the types, from seed inputs that do.

        Attempt MAX_ATTEMPTS gives one of these unchanged, attempts above it are further draws.
        """
        ...


class Around(Protocol):
    """What iterates over simpler argument tuples than a given one, for shrinking."""

    def __call__(self, arguments: tuple[Any, ...], *, coarse: bool = False) -> Iterator[tuple[Any, ...]]:
        """Iterate over simpler argument tuples; ``coarse``: only a few large steps."""
        ...


class Domains(Protocol):
    """How the domains of one language's tasks are read; a plugin, for types take much to know."""

    def read(self, task: Task, domain: Domain) -> InDomain:
        """Return the domain as it is read. Raises BadTask if its texts are no types, no predicate or no generator."""
        ...

    def completed(self, task: Task, *, n_seeds: int) -> Task:
        """Return an own task with what its types give: a domain, and up to ``n_seeds`` seed inputs drawn from them.

        Raises BadTask where signature and domain cannot be read.
        """
        ...


class Language(Protocol):
    """One language: from the text of a reply to what the sandbox runs, and the inputs of its programs.

    An adapter that inherits from it need not define ``test_limits``, ``check``, ``defines``, ``preamble``, ``source``
    and ``domain``.
    """

    name: str
    """As in ``Task.language``."""
    grammar: str
    """The name of its tree-sitter grammar."""
    limits: "Limits"
    """What one program may use, unless the user says otherwise."""
    test_limits: "Limits | None" = None
    """The same on a task's own tests; None: as on all inputs."""
    runner: "Runner"
    """What runs its programs inside the sandbox."""

    prompt: str
    """The template of the prompt; ``generation.prompt`` fills it."""
    method_prompt: str = ""
    """The template for a method, ``Class.method``; empty where programs have no methods."""
    class_prompt: str = ""
    """The template for a class with one method, where the task does not give the class."""

    def check(self, task: Task) -> None:
        """Check what the language asks of a task. Raises BadTask."""
        return None

    def tree_id(self, text: str) -> str:
        """Return the id of the program behind ``text``: equal ids mean equal behaviour on every input."""
        ...

    def is_program(self, text: str) -> bool:
        """Tell whether a block of a reply, or all of it, is a program."""
        ...

    def defines(self, text: str, entry_point: str) -> bool:
        """Tell whether a program defines the function asked for; False where programs have no names."""
        return False

    def preamble(self, task: Task) -> str:
        """Return what the sandbox is told of a task before its inputs."""
        return task.preamble

    def source(self, task: Task, code: str) -> str:
        """Return what the sandbox runs for a candidate's text."""
        return code

    def fuzz(self, task: Task, seed: int) -> Draw:
        """Return what draws the inputs of a task. Attempt MAX_ATTEMPTS gives an unchanged seed input."""
        ...

    def domain(self, task: Task) -> InDomain | None:
        """Return how the domain of a task is read; None where it has none. Raises BadTask if it is not valid."""
        return None

    def around(self, task: Task) -> Around:
        """Return what simpler inputs shrinking tries."""
        ...


def load_domains(language: str) -> Domains:
    """Return what reads the domains of a language's tasks. Raises MissingPackage where nothing here does."""
    if language not in plugin_names(DOMAINS):
        raise MissingPackage(f"a domain of {language} tasks needs a package that reads it; run `pip install difftrust`")
    domains: Domains = load_plugin(DOMAINS, language, purpose=f"a domain of {language} tasks")
    return domains


def program_id(text: str) -> str:
    """Return the id of a text, as of a program: equal for equal texts only; 16 hexadecimal digits."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def key_of(task_id: str, *, seed: int, position: int, attempt: int) -> int:
    """Return the number that the input of one position and attempt is drawn with."""
    key = f"{seed}/{task_id}/{position}/{attempt}".encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")
