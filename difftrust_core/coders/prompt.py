"""What a language model is asked for a task, word for word; and nothing else."""

import functools
import hashlib
from importlib import resources
from string import Template

from difftrust_core.tasks import Task

_NOT_SENT = "# difftrust"


def prompt_of(task: Task) -> str:
    """Return the prompt for ``task``: its name, signature, description, and preamble if it has one; or its question."""
    values = {
        "entry_point": task.entry_point,
        "signature": task.signature,
        "description": task.description.strip(),
        "preamble": task.preamble.strip("\n"),
    }
    lines = [line for line in _template(task.language).splitlines() if not line.startswith(_NOT_SENT)]
    paragraphs = "\n".join(lines).split("\n\n")
    said = [p for p in paragraphs if values["preamble"].strip() or "$preamble" not in p]
    # Paragraph by paragraph: a description may hold blank lines and dollar signs of its own.
    return "\n\n".join(Template(p).substitute(values) for p in said).strip() + "\n"


def prompt_hash(language: str = "python") -> str:
    """Return the id of a language's template, which every candidate sampled with it carries; 16 hexadecimal digits."""
    return _digest(_template(language))


def request_hash(prompt: str) -> str:
    """Return the id of one prompt as sent."""
    return _digest(prompt)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@functools.cache
def _template(language: str) -> str:
    name = "prompt.txt" if language == "python" else f"prompt_{language}.txt"
    return resources.files("difftrust_core.coders").joinpath(name).read_text(encoding="utf-8")
