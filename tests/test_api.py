"""The public API: every name has a docstring and an entry in docs/api.md, and every example there does what it says."""

import doctest
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import difftrust as dt
from difftrust.shipped import find_results

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "api.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Rounded(doctest.OutputChecker):
    """Numbers are compared at the digits that the example shows."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        return _rounded(got, want) == want.strip()


def _rounded(got: str, want: str) -> str:
    import re

    digits = iter([len(found) for found in re.findall(r"(?<=\d\.)\d+", want)])
    return re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.{next(digits, 17)}f}", got.strip())


def run_examples(text: str, name: str, known: dict[str, Any]) -> None:
    examples = doctest.DocTestParser().get_doctest(text.replace("```", "\n"), known, name, name, 0)
    assert examples.examples
    runner = doctest.DocTestRunner(checker=Rounded(), optionflags=FLAGS, verbose=False)
    said: list[str] = []
    runner.run(examples, out=said.append)
    assert not runner.failures, "".join(said)


@pytest.mark.slow
def test_every_example_of_the_page_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DIFFTRUST_STORE", raising=False)
    run_examples(PAGE.read_text(), "api.md", {"__name__": "__main__"})
    assert (tmp_path / "figure_3.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("name", [n for n in dt.__all__ if ">>>" in (inspect.getdoc(getattr(dt, n)) or "")])
def test_every_example_of_a_docstring_does_what_it_says(name: str) -> None:
    run_examples(inspect.getdoc(getattr(dt, name)) or "", name, {"dt": dt, "__name__": "__main__"})


def test_every_example_of_a_study_does_what_it_says() -> None:
    documented = [m for n, m in inspect.getmembers(dt.Study) if not n.startswith("_") and ">>>" in (m.__doc__ or "")]
    assert len(documented) >= 5
    for member in documented:
        run_examples(inspect.getdoc(member) or "", str(member), {"dt": dt, "study": dt.open()})


@pytest.mark.parametrize("name", dt.__all__)
def test_every_name_has_a_docstring_and_an_entry(name: str) -> None:
    found = getattr(dt, name)
    assert (inspect.getdoc(found) or "").strip()
    page = PAGE.read_text()
    assert f"dt.{name}" in page or f"`{name}`" in page
    if inspect.isclass(found) and issubclass(found, dt.Table | dt.Study | dt.Figure | dt.TaskView | dt.Check):
        for member, value in inspect.getmembers(found):
            assert member.startswith("_") or (inspect.getdoc(value) or "").strip() or not callable(value), member


def test_these_names_only() -> None:
    assert dir(dt) == sorted({*dt.__all__, "__version__"})
    assert len(dt.__all__) <= 22
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        dt.nothing  # noqa: B018


@pytest.mark.slow
def test_names_stay_what_they_are_after_all_of_the_package_is_loaded() -> None:
    code = (
        "import importlib, pathlib, difftrust as dt\n"
        "root = pathlib.Path(dt.__file__).parent\n"
        "for path in root.rglob('*.py'):\n"
        "    if 'child' not in path.parts and path.name != '__init__.py':\n"
        "        importlib.import_module('.'.join(('difftrust', *path.relative_to(root).with_suffix('').parts)))\n"
        "print(*[name for name in dt.__all__ if not callable(getattr(dt, name))])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


@pytest.mark.parametrize(
    "ask",
    [
        lambda study: study.table(4, m=0),
        lambda study: study.table(4, n=1.5),
        lambda study: study.table(4, m="x"),
        lambda study: study.estimates(n=0),
        lambda study: study.report(m=0),
        lambda study: study.ablation(m=[2, 2.5]),
        lambda study: study.same_price("gpt_4o", {"gpt_4o": 0}),
        lambda _: dt.open(""),
    ],
)
def test_values_that_cannot_be_meant_are_refused_in_a_line(ask: Any) -> None:
    with pytest.raises(dt.DifftrustError, match=r"^expected [^\n]*, got [^\n]*$"):
        ask(dt.open(find_results()))
