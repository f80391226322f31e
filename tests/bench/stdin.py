"""What scripts cost beside functions: `python -m tests.bench.stdin`.

The same algorithm as a function of a list and as a script that reads the list's text, run on the same drawn inputs by
the same zygote; and as an ordinary process a run, which the sandbox replaces.
"""

import argparse
import subprocess
import sys
import time

from difftrust.contests.texts import draw_text
from difftrust_core.base.literals import write_literal
from difftrust_core.languages.language import Language, key_of
from difftrust_core.languages.registry import load_language
from difftrust_core.sandbox.host import OutcomeTable, Sandbox

EXAMPLES = ("5\n3 -1 4 1 5\n", "3\n9 2 6\n", "8\n5 3 5 8 9 7 9 -3\n")
ALGORITHMS = {
    "sum": "sum(a)",
    "distinct": "len(set(a))",
    "largest stretch": "max(sum(a[i:j]) for i in range(len(a)) for j in range(i + 1, len(a) + 1))",
    "sorted": "' '.join(map(str, sorted(a)))",
}
FUNCTION = "def f(a):\n    return {}\n"
SCRIPTS = {
    "input()": "n = int(input())\na = list(map(int, input().split()))\nprint({})\n",
    "a main that reads all": (
        "import sys\ndef main():\n    data = sys.stdin.read().split()\n    n = int(data[0])\n"
        "    a = list(map(int, data[1:n + 1]))\n    print({})\nif __name__ == '__main__':\n    main()\n"
    ),
}


def timed(language: Language, sources: list[str], inputs: list[str], entry_point: str) -> tuple[float, float]:
    """Return CPU and wall seconds of programs on inputs, which are loaded before."""
    with Sandbox(language.limits, runner=language.runner) as sandbox:
        sandbox.load("", inputs, OutcomeTable.empty(len(inputs)))
        sandbox.run(sources[0], entry_point)
        began, cpu = time.perf_counter(), 0.0
        for source in sources:
            ran = sandbox.run(source, entry_point)
            assert ran.restarts == 0
            cpu += ran.cpu
        return cpu, time.perf_counter() - began


def drawn_texts(n: int) -> list[str]:
    """Return n texts, a number and as many numbers."""
    return [draw_text(EXAMPLES, key_of("bench", seed=0, position=i, attempt=0)) for i in range(n)]


def report(n: int, rounds: int) -> None:
    """Print the smallest of some rounds for each way."""
    texts = drawn_texts(n)
    lists = [write_literal((list(map(int, text.split()[1:])),)) for text in texts]
    literals = [write_literal((text,)) for text in texts]
    bodies = list(ALGORITHMS.values())
    functions = [FUNCTION.format(body) for body in bodies]
    calls = n * len(bodies)
    print(f"{len(bodies)} programs on {n} inputs, the smallest of {rounds} rounds; us a run")
    base = min(timed(load_language("python"), functions, lists, "f") for _ in range(rounds))
    print(f"  functions             {1e6 * base[0] / calls:7.1f} CPU {1e6 * base[1] / calls:7.1f} wall")
    for name, script in SCRIPTS.items():
        sources = [script.format(body) for body in bodies]
        cpu, wall = min(timed(load_language("stdin"), sources, literals, "main") for _ in range(rounds))
        shares = f"{cpu / base[0]:.1f} times the functions"
        print(f"  {name:21s} {1e6 * cpu / calls:7.1f} CPU {1e6 * wall / calls:7.1f} wall   {shares}")
    began = time.perf_counter()
    few = texts[:20]
    for text in few:
        command = [sys.executable, "-I", "-c", SCRIPTS["input()"].format(bodies[0])]
        subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    each = (time.perf_counter() - began) / len(few)
    print(f"  a process a run       {'':15s} {1e6 * each:7.0f} wall")


def main() -> None:
    """Report at each n."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, nargs="+", default=[1000])
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    for n in asked.inputs:
        report(n, asked.rounds)


if __name__ == "__main__":
    main()
