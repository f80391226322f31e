"""Part of the page Check: the function, its programs, and what is known of it, as the user gives them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import state
from dashboard.components import model_choice
from dashboard.components.pasted import NAME, candidate_files, simulated_files, with_example
from difftrust.explorer.cube import EQUALITIES_IN_WORDS, INPUTS_IN_WORDS
from difftrust_core.exceptions import DifftrustError
from difftrust_core.metrics.equality import Equality

STUB, BOXES, BOX = "check:stub", "check:boxes", "check:box:{}"
EXAMPLES, ASSUMPTIONS = "check:examples", "check:assumptions"
ASKED = "check:asked"
"""Whether a button elsewhere on the page asks for the check."""
STORE = Path("difftrust-check")
EXAMPLE = (
    "def middle(numbers: list[int]) -> float:\n"
    '    """Return the middle of the numbers.\n\n    >>> middle([3, 1, 2])\n    2\n    """\n'
)
EXAMPLE_PROGRAMS = (
    "def middle(numbers):\n    return sorted(numbers)[len(numbers) // 2]\n",
    "def middle(numbers):\n    ordered = sorted(numbers)\n    half = len(ordered) // 2\n"
    "    if len(ordered) % 2 == 1:\n        return ordered[half]\n"
    "    return (ordered[half - 1] + ordered[half]) / 2\n",
)
_SOURCES = {"pasted": "pasted", "files": "uploaded files", "sampled": "sampled from a model"}
_LONGEST = 100_000
_MOST_BOXES = 40
_LIMITS = (30, 60, 120, 300, 600)
INPUTS = (10, 100, 1_000, 5_000)
_COMPARISONS: dict[str, str] = {Equality.VALUE: "by value (floats within 1e-9)", **EQUALITIES_IN_WORDS}


@dataclass(frozen=True, kw_only=True)
class Form:
    """What is to be checked, and how."""

    stub: str
    files: Mapping[str, str]
    """File name -> program."""
    words: Sequence[str]
    """Of the command, where a model is to be asked for programs."""
    examples: Sequence[str]
    """What is right: ``f(1) == 2``."""
    assumptions: Sequence[str]
    """What the arguments obey: ``start <= end``."""
    options: Mapping[str, Any]


def remember(about: Mapping[str, Any]) -> None:
    """Fill the fields with what a check was of, once per session: the page was loaded anew."""
    st.session_state.setdefault(STUB, about["stub"])
    boxes = about["boxes"]
    st.session_state.setdefault(BOXES, max(2, len(boxes)))
    for number, code in enumerate(boxes):
        st.session_state.setdefault(BOX.format(number), code)
    for key, name in ((EXAMPLES, "examples"), (ASSUMPTIONS, "assumptions")):
        st.session_state.setdefault(key, "\n".join(about[name]))


def fill_example() -> None:
    """Fill the fields with a function and two programs, and ask for their check."""
    for name in list(st.session_state):
        if str(name).startswith("check:box"):
            del st.session_state[name]
    st.session_state[STUB] = EXAMPLE
    st.session_state[BOXES] = len(EXAMPLE_PROGRAMS)
    for number, code in enumerate(EXAMPLE_PROGRAMS):
        st.session_state[BOX.format(number)] = code
    st.session_state[EXAMPLES] = st.session_state[ASSUMPTIONS] = ""
    state.put("programs", None)
    st.session_state[ASKED] = True


def say_right(right: str) -> None:
    """Write what is right into the function's docstring, else into the field of examples; ask for the check."""
    try:
        st.session_state[STUB] = with_example(st.session_state[STUB], right)
        st.session_state[ASKED] = True
    except DifftrustError:
        add_line(EXAMPLES, right)


def keep_answers(examples: Sequence[str], assumptions: Sequence[str]) -> None:
    """Write what questions settled into the docstring and the fields, and ask for the check."""
    for right in examples:
        say_right(right)
    for assumption in assumptions:
        add_line(ASSUMPTIONS, assumption)
    st.session_state[ASKED] = True


def add_line(key: str, line: str) -> None:
    """Add a line to the field of examples or assumptions, unless it is there, and ask for the check."""
    lines = _lines(st.session_state.get(key, ""))
    st.session_state[key] = "\n".join(lines if line in lines else [*lines, line])
    st.session_state[ASKED] = True


def ask_for(n: int) -> None:
    """Ask for the check on n inputs."""
    state.put("check_n", n, 1_000)
    st.session_state[ASKED] = True


def show_form() -> Form:
    """Write the fields; return what stands in them."""
    stub = st.text_area(
        "The function", key=STUB, placeholder=EXAMPLE, height=230, max_chars=_LONGEST,
        help="Signature and docstring; a body is not needed. The last function of the text counts, or the last method "
        "of its last class. It is parsed, never imported here.",
    )  # fmt: skip
    source = state.choose_one(
        "Programs", tuple(_SOURCES), name="programs", show=st.radio, horizontal=True, format_func=_SOURCES.__getitem__
    )
    options = _choose_options()
    files, words = _programs(source, stub, options)
    examples = _known(
        EXAMPLES, "Examples: what is right, one a line", "middle([1, 2]) == 1.5",
        "A call and its result, or f([]) raises ValueError, or a call alone as a further input.",
    )  # fmt: skip
    assumptions = _known(
        ASSUMPTIONS, "Assumptions: what the arguments obey, one a line", "len(numbers) > 0",
        "Conditions in Python over the arguments. Inputs that break one are left out.",
    )  # fmt: skip
    return Form(
        stub=stub, files=files, words=words, examples=_lines(examples), assumptions=_lines(assumptions), options=options
    )


def _known(key: str, label: str, placeholder: str, said: str) -> str:
    return st.text_area(label, key=key, placeholder=placeholder, height=80, max_chars=_LONGEST, help=said) or ""


def _lines(written: str) -> list[str]:
    return [line.strip() for line in written.splitlines() if line.strip()]


def _choose_options() -> dict[str, Any]:
    with st.popover("Settings", icon=":material/tune:"):
        return {
            "n": state.choose_one(
                "Inputs", INPUTS, name="check_n", default=1_000, show=st.select_slider, format_func="{:,}".format
            ),
            "seed": state.choose_one("Random seed of the inputs", range(100), name="seed", default=0),
            "equality": state.choose_one(
                "Outcome comparison", tuple(_COMPARISONS), name="check_equality", show=st.radio,
                format_func=_COMPARISONS.__getitem__,
            ),
            "validity": state.choose_one(
                "Input filter", ("quorum", "all"), name="validity", show=st.radio,
                format_func=INPUTS_IN_WORDS.__getitem__,
            ),
            "limit": state.choose_one("Time limit (seconds)", _LIMITS, name="limit", default=120),
        }  # fmt: skip


def _programs(source: str, stub: str, options: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Return the programs by file name, or the words that sample them."""
    if source == "files":
        uploaded = st.file_uploader("Python files, one program each", type="py", accept_multiple_files=True)
        return candidate_files([(f.name, f.getvalue().decode("utf-8", "replace")) for f in uploaded or []]), []
    if source == "sampled":
        return _sampled(stub, options)
    n_boxes = min(st.session_state.setdefault(BOXES, 2), _MOST_BOXES)
    codes = [
        st.text_area(f"Program {number + 1}", key=BOX.format(number), height=150, max_chars=_LONGEST)
        for number in range(n_boxes)
    ]
    if n_boxes < _MOST_BOXES:
        st.button("Add a program", on_click=_add_box, args=(n_boxes,))
    return candidate_files([(NAME, code) for code in codes if code.strip()]), []


def _add_box(n_boxes: int) -> None:
    st.session_state[BOXES] = n_boxes + 1


def _sampled(stub: str, options: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    model, base = model_choice.choose_model()
    left, right = st.columns(2)
    with left:
        m = state.choose_one("Programs", (2, 5, 10, 20, 50), name="ask_m", default=10, show=st.select_slider)
    with right:
        t = model_choice.choose_temperature(0.6)
    if model.startswith("simulated/"):
        st.markdown("A simulated coder makes faulty copies of the pasted function, which must work. No model is asked.")
        return simulated_files(stub, model, m=m, temperature=t, seed=options["seed"]), []
    st.markdown(f"**{m} requests** to the model, at its price; replies are stored and never paid for twice.")
    words = [f"--model={model}", f"-m{m}", f"--temperature={t:g}", f"--store={STORE.absolute()}"]
    agreed = st.checkbox("Send the requests at my cost", key="check:agreed")
    return {}, [*words, *([f"--api-base={base}"] if base else [])] if agreed and model else []
