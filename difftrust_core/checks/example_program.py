"""An example as a program of its own, for a sandbox whose runner takes no examples as inputs."""

from difftrust_core.checks.example import Example

RUN = "_difftrust_example"
_HARNESS = """

def _difftrust_example(text):
    import ast, contextlib, doctest, io, json, math

    class Got(str): ...

    example = json.loads(text)
    flags = sum(doctest.OPTIONFLAGS_BY_NAME[name] for name, on in example["options"].items() if on)
    names, printed, value = dict(globals()), io.StringIO(), None
    *before, last = ast.parse(example["source"]).body
    want = example["want"]
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(ast.Module(before, []), "<example>", "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "<example>", "eval"), names)
            else:
                exec(compile(ast.Module([last], []), "<example>", "exec"), names)
    except Exception as e:
        raised = want.lstrip().startswith("Traceback") and want.strip().splitlines()[-1].partition(":")[0]
        return raised == type(e).__name__ or Got(type(e).__name__)
    got = printed.getvalue() + ("" if value is None else repr(value) + "\\n")
    if not want or doctest.OutputChecker().check_output(want, got, flags):
        return True
    try:
        wanted = eval(want, names)
        equal = wanted == value or isinstance(wanted, float) and math.isclose(wanted, value, rel_tol=1e-9)
    except Exception:
        equal = False
    return True if equal else Got(got)
"""


def program_and_input(code: str, example: Example) -> tuple[str, str]:
    """Return the program whose ``RUN`` says ``True`` or ``Got('...')``, and the argument tuple to call it with."""
    return code + _HARNESS, f"({example.text},)"
