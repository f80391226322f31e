"""When two program texts are one program, and nothing else.

Texts whose syntax trees are equal but for what cannot change behaviour (comments, layout, docstrings, annotations of
functions) are executed once. Where a text looks at its own docstrings or annotations, they stay part of the tree.
"""

import ast
import hashlib
import re
import warnings

MAX_PARSED = 1 << 20
"""Longer texts are not parsed; they are one program only where they are equal."""
_LOOKS_AT_ITSELF = re.compile(
    r"__doc__|__annotations__|get_type_hints|get_annotations|inspect|doctest|singledispatch|signature|validate|"
    r"dataclass_transform|__code__|__globals__|_getframe|currentframe|traceback|locals|globals|exec|eval"
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (*_FUNCTIONS, ast.ClassDef, ast.Module)


def program_id(text: str) -> str:
    """Return the id of a program text: equal for equal texts only."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def tree_id(text: str) -> str:
    """Return the id of the program behind ``text``: equal ids mean equal behaviour on every input.

    Text that Python cannot parse is a program of its own.
    """
    if len(text) > MAX_PARSED:
        return f"x{program_id(text)}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what the text contains, e.g. an invalid escape
            tree = ast.parse(text)
        if _LOOKS_AT_ITSELF.search(text) is None:
            _strip(tree)
        spelled = ast.dump(tree, annotate_fields=False)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return f"x{program_id(text)}"
    return f"t{program_id(spelled)}"


def _strip(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and _opens_with_text(node.body):
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, _FUNCTIONS):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None


def _opens_with_text(body: list[ast.stmt]) -> bool:
    first = body[0] if body else None
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
