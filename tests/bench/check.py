"""How often `difftrust check` is right: `make bench-check` (PEERS=1 for two peers beside it, PLANTED=1 for faults).

Each case of tests/check_cases is checked as a user would check it, by the command line, in a process of its own. A case
with several behaviours is checked once more with the candidates of one behaviour alone, which is to be coherent.
"""

import argparse
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.commands import Checked, run_check
from tests.bench.processes import in_turn
from tests.check_cases.case import SETS, Case, load_cases
from tests.check_cases.domain import as_arguments, shows_difference
from tests.check_cases.planted import PLANTED, Planted

PAGE = Path(__file__).parents[2] / "docs" / "check_bench.md"
JUDGEMENTS = ("right", "false green", "false alarm", "blurred", "undecided", "refused")
"""``blurred``: incoherent as it should be, but the behaviours are not the true ones, or an input shown is none that the
domain allows and on which candidates differ."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A case, or some candidates of it, and the right answer."""

    case: Case
    names: tuple[str, ...]
    expected: str

    @property
    def title(self) -> str:
        """Name it: the case, and its candidates where these are not all."""
        whole = len(self.names) == len(self.case.candidates)
        return self.case.name if whole else f"{self.case.name}[{','.join(self.names)}]"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a check answered, and what that is."""

    question: Question
    checked: Checked
    judgement: str


def questions(cases: Sequence[Case]) -> list[Question]:
    """List the questions: every case, and the largest behaviour of a case with several."""
    asked = []
    for case in cases:
        asked.append(Question(case=case, names=tuple(case.candidates), expected=case.expected))
        alike = max(case.same, key=len)
        if len(case.same) > 1 and len(alike) > 1 and not alike & case.contradicts and case.expected == "incoherent":
            asked.append(Question(case=case, names=tuple(sorted(alike)), expected="coherent"))
    return asked


def judge(question: Question, checked: Checked) -> str:
    """Say what an answer is, one of JUDGEMENTS."""
    expected = question.expected
    if checked.verdict in ("undecided", "refused"):
        return "right" if expected == "undecided" else checked.verdict
    if checked.verdict == "coherent":
        return "right" if expected == "coherent" else "false green"
    if expected != "incoherent":
        return "false alarm"
    named = question.case.contradicts & set(question.names) <= checked.contradicting
    truth = {frozenset(group & set(question.names)) for group in question.case.same} - {frozenset()}
    sound = all(_is_sound(question.case, shown) for shown in checked.shown)
    return "right" if named and sound and checked.behaviours == truth else "blurred"


def _is_sound(case: Case, shown: str) -> bool:
    """Tell whether a shown input is inside the domain and some two candidates differ on it, where that can be told."""
    if "." in case.target:
        return True
    arguments = as_arguments(shown)
    answers = [shows_difference(case, pair, arguments) for pair in case.pairs() if not case.are_same(*pair)]
    return not answers or None in answers or True in answers


Check = Callable[[str, Path, Sequence[str], Path], Checked]
"""What runs a check: ``run_check``, or the same in processes that need not import everything again."""


def ask(question: Question, options: Sequence[str] = (), check: Check = run_check) -> Answer:
    """Check it in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        where, programs = question.case.write(Path(folder) / "case", question.names)
        checked = check(where, programs, [*question.case.options, *options], Path(folder))
    return Answer(question=question, checked=checked, judgement=judge(question, checked))


def ask_all(
    asked: Sequence[Question], jobs: int = 1, options: Sequence[str] = (), check: Check = run_check
) -> list[Answer]:
    """Check them all, so many at a time, and say on the error stream what is wrong as it turns up."""
    answers = []
    for _, answer in in_turn(lambda question: ask(question, options, check), asked, jobs):
        answers.append(answer)
        for line in wrong_ones([answer]):
            print(f"\r{line}", file=sys.stderr)
    return answers


def table(answers: Sequence[Answer]) -> list[str]:
    """Return the lines of the table by class, all of them last."""
    titles = ("cases", *JUDGEMENTS, "median s", "worst s", "median CPU")
    lines = [f"{'class':<26}" + "".join(f"{title:>12}" for title in titles)]
    kinds = sorted({answer.question.case.kind for answer in answers})
    for kind in (*kinds, "all"):
        chosen = [answer for answer in answers if kind in ("all", answer.question.case.kind)]
        counts = Counter(answer.judgement for answer in chosen)
        seconds = [answer.checked.seconds for answer in chosen]
        numbers = [len(chosen), *(counts[each] for each in JUDGEMENTS)]
        times = f"{statistics.median(seconds):>12.2f}{max(seconds):>12.2f}"
        times += f"{statistics.median(answer.checked.cpu for answer in chosen):>12.2f}"
        lines.append(f"{kind:<26}" + "".join(f"{number:>12}" for number in numbers) + times)
    return lines


def wrong_ones(answers: Sequence[Answer]) -> list[str]:
    """Return two lines for each answer that is not right: what it said, and how to repeat it."""
    lines = []
    for answer in answers:
        if answer.judgement != "right":
            question = answer.question
            lines.append(f"{answer.judgement}: {question.title} ({question.case.kind}), expected {question.expected}")
            lines.append(f"    {answer.checked.said}")
            lines.append(f"    python -m tests.bench.check --only '{question.title}' --keep DIR")
    return lines


def of_seeds(runs: Sequence[Sequence[Answer]]) -> list[str]:
    """Return the counts over all seeds, the share of verdicts that change with the seed, and each that is not right."""
    answers = [answer for run in runs for answer in run]
    counts = Counter(answer.judgement for answer in answers)
    lines = [f"{each:<12}{counts[each]:>5} of {len(answers)}: {counts[each] / len(answers):.1%}" for each in JUDGEMENTS]
    together = list(zip(*runs, strict=True))
    changed = sum(len({answer.checked.verdict for answer in each}) > 1 for each in together)
    lines.append(f"verdicts that change with the seed: {changed} of {len(together)}: {changed / len(together):.1%}")
    for each in together:
        if any(answer.judgement != "right" for answer in each):
            said = ", ".join(f"{seed} {answer.judgement}" for seed, answer in enumerate(each))
            lines.append(f"{each[0].question.title}, expected {each[0].question.expected}: {said}")
    return lines


def finds(planted: Planted, options: Sequence[str] = (), check: Check = run_check) -> bool:
    """Tell whether a check of n = 1,000 inputs sees that the two programs of a planted fault differ."""
    with tempfile.TemporaryDirectory() as folder:
        where, programs = planted.write(Path(folder) / "case")
        checked = check(where, programs, ["-n", "1000", *options], Path(folder))
    return checked.verdict in ("incoherent", "disagreement found")


def find_planted(every: int = 1, jobs: int = 1) -> list[str]:
    """Return a line for each kind of planted fault, with the share found, and one for each that was missed."""
    chosen = PLANTED[::every]
    hits = dict(in_turn(finds, chosen, jobs))
    lines = []
    for kind in (*dict.fromkeys(planted.kind for planted in chosen), "all"):
        of_kind = [hit for planted, hit in hits.items() if kind in ("all", planted.kind)]
        lines.append(f"{kind:<20} found {sum(of_kind):>2} of {len(of_kind):>2}: {sum(of_kind) / len(of_kind):.2f}")
    missed = [planted for planted, hit in hits.items() if not hit]
    return lines + [f"missed ({each.kind}): f({each.parameters}), if {each.condition}" for each in missed]


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="a case, or case[a,b]")
    parser.add_argument("--kind", action="append", default=[], metavar="CLASS", help="cases of this class")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="every k-th question")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many checks at a time; times need one")
    parser.add_argument("--seed", type=int, default=0, help="of the inputs drawn")
    parser.add_argument("--set", choices=SETS, default="cases", help="the folder of cases in tests/check_cases")
    parser.add_argument("--seeds", type=int, metavar="K", help="seeds 0 to K - 1; prints counts over all of them")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write the files there, and print the commands")
    parser.add_argument("--peers", action="store_true", help="CrossHair and Hypothesis' ghostwriter beside it")
    parser.add_argument("--planted", action="store_true", help="planted faults instead of cases")
    parser.add_argument("--write", action="store_true", help="put the table into docs/check_bench.md")
    return parser.parse_args()


def main() -> None:
    """Ask all that is wanted, and print the table."""
    arguments = parse()
    cases = [case for case in load_cases(SETS[arguments.set]) if not case.missing]
    if arguments.peers:
        from tests.bench.peers import compare_peers

        cases = [case for case in cases if not arguments.only or case.name in arguments.only]
        _say("peers", compare_peers(cases, arguments.every, arguments.jobs), arguments.write)
        return
    if arguments.planted:
        _say("planted faults", find_planted(arguments.every, arguments.jobs), arguments.write)
        return
    asked = [
        question
        for question in questions(cases)
        if (not arguments.only or {question.title, question.case.name} & set(arguments.only))
        and (not arguments.kind or question.case.kind in arguments.kind)
    ][:: arguments.every]
    if arguments.keep:
        return _keep(asked, arguments.keep)
    if arguments.seeds:
        runs = [ask_all(asked, arguments.jobs, ("--seed", str(seed))) for seed in range(arguments.seeds)]
        print("\n" + "\n".join(of_seeds(runs)))
        return
    answers = ask_all(asked, arguments.jobs, ("--seed", str(arguments.seed)))
    _say("cases", [*table(answers), "", *wrong_ones(answers), summary(answers)], arguments.write)


def summary(answers: Sequence[Answer]) -> str:
    """Say in a line how many are right, and how many of the undecided show the fault nonetheless."""
    share = sum(answer.judgement == "right" for answer in answers) / len(answers)
    doubtful = [a for a in answers if a.judgement == "undecided" and a.question.expected == "incoherent"]
    shown = sum(bool(a.checked.doubted) and _is_sound(a.question.case, a.checked.doubted) for a in doubtful)
    functions = {answer.question.case.name for answer in answers}
    alike = sum(answer.question.expected == "coherent" for answer in answers)
    return (
        f"{share:.1%} right of {len(answers)} checks of {len(functions)} functions; {alike} of equivalent candidates; "
        f"of {len(doubtful)} undecided ones whose candidates differ {shown} show first an input that tells them apart"
    )


def _say(name: str, lines: Sequence[str], is_written: bool) -> None:
    """Print a table; if it is to be written, put it between its marks in docs/check_bench.md."""
    print("\n".join(lines))
    if is_written:
        begins, ends = f"<!-- {name}: written by tests/bench -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = PAGE.read_text().partition(begins)
        _, _, after = rest.partition(ends)
        block = "\n".join(line.rstrip() for line in lines).strip("\n")
        PAGE.write_text(f"{before}{begins}```text\n{block}\n```\n{ends}{after}")


def _keep(asked: Sequence[Question], folder: Path) -> None:
    for question in asked:
        where, programs = question.case.write(folder / question.title, question.names)
        words = [where, "--candidates", str(programs), *question.case.options]
        print("difftrust check " + " ".join(f"'{word}'" if set(word) & set(" ()[],<>=*") else word for word in words))
        print(f"  expected {question.expected}: {question.case.why}")


if __name__ == "__main__":
    main()
