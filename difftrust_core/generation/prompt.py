"""What a language model is asked for a task, word for word."""

from string import Template

from difftrust_core.base.task import Task
from difftrust_core.languages.language import language_of, program_id

_NOT_SENT = "# difftrust"


def prompt_of(task: Task) -> str:
    """Return the prompt for ``task``: its name, signature, description, and preamble if it has one; or its question."""
    values = {
        "entry_point": task.entry_point,
        "signature": task.signature,
        "description": task.description.strip(),
        "preamble": task.preamble.strip("\n"),
    }
    lines = [line for line in language_of(task).prompt.splitlines() if not line.startswith(_NOT_SENT)]
    paragraphs = "\n".join(lines).split("\n\n")
    said = [p for p in paragraphs if values["preamble"].strip() or "$preamble" not in p]
    # Paragraph by paragraph: a description may hold blank lines and dollar signs of its own.
    return "\n\n".join(Template(p).substitute(values) for p in said).strip() + "\n"


def prompt_hash(task: Task) -> str:
    """Return the id of the template, which every candidate sampled with it carries; 16 hexadecimal digits."""
    return program_id(language_of(task).prompt)


def request_hash(prompt: str) -> str:
    """Return the id of one prompt as sent."""
    return program_id(prompt)
