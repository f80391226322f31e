"""What scripts cost beside functions: `python -m tests.bench.stdin`.

The same algorithm as a function of a list and as a script that reads the list's text, run on the same drawn inputs by
the same zygote; and as an ordinary process a run, which the sandbox replaces.
"""

import argparse
import subprocess
import sys
import time

from difftrust.contests.mutate_texts import draw_text
from difftrust_core.base.literals import write_literal
from difftrust_core.languages.language import key_of
from difftrust_core.languages.registry import load_language
from difftrust_core.sandbox.host import OutcomeTable, Sandbox

EXAMPLES = ("5\n3 -1 4 1 5\n", "3\n9 2 6\n", "8\n5 3 5 8 9 7 9 -3\n")
ALGORITHMS = (
    "sum(a)",
    "len(set(a))",
    "max(sum(a[i:j]) for i in range(len(a)) for j in range(i + 1, len(a) + 1))",
    "' '.join(map(str, sorted(a)))",
)
FUNCTION = "def f(a):\n    return {}\n"
SCRIPTS = {
    "input()": "n = int(input())\na = list(map(int, input().split()))\nprint({})\n",
    "a main that reads all": (
        "import sys\ndef main():\n    data = sys.stdin.read().split()\n    n = int(data[0])\n"
        "    a = list(map(int, data[1:n + 1]))\n    print({})\nif __name__ == '__main__':\n    main()\n"
    ),
}


def timed(name: str, program: str, inputs: list[str], entry_point: str) -> tuple[float, float]:
    """Return CPU and wall microseconds of a run of the algorithms in a language, on inputs that are loaded before."""
    language, sources = load_language(name), [program.format(body) for body in ALGORITHMS]
    with Sandbox(language.limits, runner=language.runner) as sandbox:
        sandbox.load("", inputs, OutcomeTable.empty(len(inputs)))
        sandbox.run(sources[0], entry_point)
        began = time.perf_counter()
        ran = [sandbox.run(source, entry_point) for source in sources]
        wall = time.perf_counter() - began
    assert not any(one.restarts for one in ran)
    return tuple(1e6 * spent / len(inputs) / len(sources) for spent in (sum(one.cpu for one in ran), wall))


def main() -> None:
    """Print the smallest of some rounds for each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    texts = [draw_text(EXAMPLES, key_of("bench", seed=0, position=i, attempt=0)) for i in range(asked.inputs)]
    lists = [write_literal((list(map(int, text.split()[1:])),)) for text in texts]
    literals = [write_literal((text,)) for text in texts]
    ways = {"functions": ("python", FUNCTION, lists, "f")}
    ways |= {name: ("stdin", script, literals, "main") for name, script in SCRIPTS.items()}
    print(f"{len(ALGORITHMS)} programs on {len(texts)} inputs, the smallest of {asked.rounds} rounds; us a run")
    for name, way in ways.items():
        cpu, wall = min(timed(*way) for _ in range(asked.rounds))
        print(f"  {name:21s} {cpu:7.1f} CPU {wall:7.1f} wall")
    began = time.perf_counter()
    for text in texts[:20]:
        command = [sys.executable, "-I", "-c", SCRIPTS["input()"].format(ALGORITHMS[0])]
        subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    print(f"  a process a run {1e6 * (time.perf_counter() - began) / 20:24.0f} wall")


if __name__ == "__main__":
    main()
