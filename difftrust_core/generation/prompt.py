"""What a language model is asked for a task, word for word."""

import ast
from string import Template

from difftrust_core.base.task import Task
from difftrust_core.datasets.entries import signature_of
from difftrust_core.languages.language import program_id
from difftrust_core.languages.python.syntax import parsed
from difftrust_core.languages.registry import language_of

_NOT_SENT = "# difftrust"
_OWN_OBJECT = ("self", "cls")


def prompt_of(task: Task) -> str:
    """Return the prompt for ``task``: its name, signature, description, and preamble if it has one; or its question.

    A method ``Class.method`` is asked for as ``def method(self, ...)`` of its class, and with the class where the
    preamble does not hold it.
    """
    values = {
        "entry_point": task.entry_point,
        "signature": task.signature,
        "description": task.description.strip(),
        "preamble": task.preamble.strip("\n"),
    }
    template = _template(task)
    if _is_method(task):
        owner, _, method = task.entry_point.rpartition(".")
        values |= {"owner": owner, "method": method, "header": method_header(task)}
    elif f"async def {task.entry_point}(" in task.prompt:
        template = template.replace("def $entry_point", "async def $entry_point")
    return filled(template, values)


def filled(template: str, values: dict[str, str]) -> str:
    """Return a template with its placeholders filled; a paragraph whose ``preamble`` is empty is left out."""
    lines = [line for line in template.splitlines() if not line.startswith(_NOT_SENT)]
    paragraphs = "\n".join(lines).split("\n\n")
    said = [p for p in paragraphs if values["preamble"].strip() or "$preamble" not in p]
    # Paragraph by paragraph: a description may hold blank lines and dollar signs of its own.
    return "\n\n".join(Template(p).substitute(values) for p in said).strip() + "\n"


def method_header(task: Task) -> str:
    """Return the first line of a method, ``def add(self, item: str) -> None``, as its class in the preamble has it.

    Where the preamble does not hold the method, its signature is the task's, with ``self``.
    """
    owner, _, name = task.entry_point.rpartition(".")
    method = _in_class(task.preamble, owner, name)
    begins = "async def" if isinstance(method, ast.AsyncFunctionDef) else "def"
    if method is not None:
        return f"{begins} {name}{signature_of(method)}"
    first = task.signature.lstrip("( ").split(",")[0].split(":")[0].split(")")[0].strip()
    if first in _OWN_OBJECT:
        return f"{begins} {name}{task.signature}"
    return f"{begins} {name}(self{', ' if first else ''}{task.signature.removeprefix('(')}"


def _in_class(preamble: str, owner: str, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    tree = parsed(preamble)
    for statement in tree.body if tree else []:
        if isinstance(statement, ast.ClassDef) and statement.name == owner:
            for member in statement.body:
                if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) and member.name == name:
                    return member
    return None


def prompt_hash(task: Task) -> str:
    """Return the id of the template, which every candidate sampled with it carries; 16 hexadecimal digits."""
    return program_id(_template(task))


def request_hash(prompt: str) -> str:
    """Return the id of one prompt as sent."""
    return program_id(prompt)


def _template(task: Task) -> str:
    language = language_of(task)
    if not _is_method(task):
        return language.prompt
    owner = task.entry_point.partition(".")[0]
    return language.method_prompt if f"class {owner}" in task.preamble else language.class_prompt


def _is_method(task: Task) -> bool:
    return "." in task.entry_point and bool(language_of(task).method_prompt)
