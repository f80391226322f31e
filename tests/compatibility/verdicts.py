"""What checks and diffs decide over several seeds, beside the verdicts recorded before the code moved.

``python -m tests.compatibility.verdicts`` asks every question of ``make bench-check`` and compares every pair of
``tests/support/versions``, for each recorded seed, and says what differs; ``--seeds 0 1`` for fewer, ``--record`` to
write ``data/verdicts.json`` (seeds that are in it are kept). One seed takes about eight minutes.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from scipy.stats import t as student

from tests.bench.check import JUDGEMENTS, ask, questions
from tests.bench.warm import run_warm_check
from tests.check_cases.case import load_cases
from tests.compatibility.golden import DATA
from tests.support.versions.pairs import CHANGED, REFACTORED, VersionPair

RECORDED = DATA / "verdicts.json"
Verdicts = dict[str, str]
"""What one seed gave: of each ``check NAME`` and ``diff NAME``, ``judgement: verdict``."""


def judge_all(seed: int) -> Verdicts:
    """Ask every question and compare every pair with inputs of this seed."""
    found = {}
    for question in questions([case for case in load_cases() if not case.missing]):
        answer = ask(question, ("--seed", str(seed)), run_warm_check)
        found[f"check {question.title}"] = f"{answer.judgement}: {answer.checked.verdict}"
        print(f"\rseed {seed}: {len(found)}", end="", file=sys.stderr, flush=True)
    for pair in (*CHANGED, *REFACTORED):
        verdict = compare_versions(pair, seed)
        found[f"diff {pair.name}"] = f"{judge_pair(pair, verdict)}: {verdict}"
    print(file=sys.stderr)
    return found


def compare_versions(pair: VersionPair, seed: int) -> str:
    """Return the verdict of `difftrust diff` on a pair."""
    with tempfile.TemporaryDirectory() as folder:
        places = []
        for name, text in (("old", pair.old), ("new", pair.new)):
            path = Path(folder) / f"{name}.py"
            path.write_text(text, encoding="utf-8")
            places.append(f"{path}::{pair.entry_point}")
        words = ["diff", *places, "--seed", str(seed), "--format", "json"]
        start = "from difftrust.cli import main; main()"
        done = subprocess.run([sys.executable, "-c", start, *words], capture_output=True, text=True, check=False)
    return str(json.loads(done.stdout)["verdict"]) if done.stdout else "refused"


def judge_pair(pair: VersionPair, verdict: str) -> str:
    """Say what a verdict on a pair is, in the words of ``make bench-check``."""
    if verdict in ("undecided", "refused"):
        return verdict
    if verdict == ("changed" if pair.changes else "unchanged"):
        return "right"
    return "false green" if pair.changes else "false alarm"


def count(verdicts: Verdicts, command: str) -> Counter[str]:
    """Count the judgements on one command's questions."""
    return Counter(said.partition(":")[0] for name, said in verdicts.items() if name.startswith(command))


def tolerance(counts: Sequence[int], n_new: int) -> float:
    """Return how far the mean over so many seeds may lie from that of the recorded counts, by their spread.

    Half the 95 % prediction interval of such a mean, one question at least: where all seeds agree, a spread of 0 says
    little about the next.
    """
    if len(counts) < 2:
        return 1.0
    quantile = float(student.ppf(0.975, len(counts) - 1))
    return max(1.0, quantile * statistics.stdev(counts) * math.sqrt(1 / len(counts) + 1 / n_new))


def compare(recorded: Mapping[str, Verdicts], new: Mapping[str, Verdicts]) -> tuple[list[str], bool]:
    """Return lines on what the new verdicts are and where they differ, and whether that is within the seeds' noise."""
    lines = []
    is_alike = True
    for command in ("check", "diff"):
        for judgement in JUDGEMENTS:
            before = [count(verdicts, command)[judgement] for verdicts in recorded.values()]
            now = [count(verdicts, command)[judgement] for verdicts in new.values()]
            allowed = tolerance(before, len(now))
            apart = statistics.fmean(now) - statistics.fmean(before)
            is_alike &= abs(apart) <= allowed or (judgement == "right") == (apart > 0)
            lines.append(f"{command:6}{judgement:14}recorded {before}  now {now}  {apart:+.1f}, allowed {allowed:.1f}")
    for seed, verdicts in new.items():
        known = recorded.get(seed, {})
        for name in sorted(known.keys() | verdicts.keys()) if known else ():
            before_said, now_said = known.get(name, "not asked"), verdicts.get(name, "not asked")
            if before_said != now_said:
                lines.append(f"seed {seed}, {name}: {before_said} -> {now_said}")
    return lines, is_alike


def load_recorded() -> dict[str, Verdicts]:
    """Return the recorded verdicts by seed."""
    stored = json.loads(RECORDED.read_text(encoding="utf-8"))
    return {
        str(seed): {name: said[i] if isinstance(said, list) else said for name, said in stored["verdicts"].items()}
        for i, seed in enumerate(stored["seeds"])
    }


def record(by_seed: Mapping[str, Verdicts]) -> None:
    """Write verdicts, each that all seeds agree on once."""
    verdicts = {}
    for name in next(iter(by_seed.values())):
        said = [verdicts_of_seed.get(name, "not asked") for verdicts_of_seed in by_seed.values()]
        verdicts[name] = said[0] if len(set(said)) == 1 else said
    text = json.dumps({"seeds": [int(seed) for seed in by_seed], "verdicts": verdicts}, indent=1)
    RECORDED.write_text(text + "\n", encoding="utf-8")


def main() -> int:
    """Judge anew; exit 1 if a count is worse than the noise of the seeds explains."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, nargs="+", help="those recorded, unless given")
    parser.add_argument("--record", action="store_true", help="add these seeds to the recorded ones")
    asked = parser.parse_args()
    recorded = load_recorded()
    new: dict[str, Verdicts] = {}
    for seed in asked.seeds or map(int, recorded):
        new[str(seed)] = judge_all(seed)
        if asked.record:
            record({**load_recorded(), str(seed): new[str(seed)]})
    if asked.record:
        return 0
    lines, is_alike = compare(recorded, new)
    print("\n".join([*lines, "within the noise of the seeds" if is_alike else "WORSE than the noise of the seeds"]))
    return int(not is_alike)


if __name__ == "__main__":
    sys.exit(main())
