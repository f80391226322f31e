"""The commands, each with its module and the first sentence of its help, so that a list of them loads none."""

from typing import Final

_SAID = """
check
  check: Show the inputs on which several implementations of a function disagree; no reference is needed.
  mcp: Answer agents over standard input and output: check, diff, ask_next and pin (docs/agents.md).
diff
  diff: Find inputs on which two versions of a function differ: value, exception, changed argument, printed text.
candidates
  fetch: Download benchmarks or the recorded candidates, checked against a pinned sha256.
  generate: Sample programs from language models into a store.
  import: Add recorded candidates to a store.
execution
  execute: Run every program of a store on every input of its task, in the sandbox, once.
  structure: Compare the programs of each task in pairs, as texts and as trees; none is run.
  compare: Print every similarity score of two programs, in both directions; 1: equal.
  smallest: Find the smallest inputs on which programs are wrong or disagree, for the explorer.
  demo: Try everything in a minute: simulated coders on the starter benchmark, executed and tabled.
  reproduce: Import everything recorded, execute it, write the results.
show_results
  table: Print a table: of the paper, or one of this project, computed from a store.
  sql: Query a store with SQL.
  figure: Draw a figure from a store, into a file that opens without a network.
  report: Write one HTML file that opens offline: numbers, chart, table, and the tasks worth reading with their inputs.
  dashboard: Open a store in the browser: which models err, on which tasks, and on which inputs they disagree.
  plan: Print how many inputs an accuracy needs, or which programs to buy.
  export: Write a store's results as a small store: every table and ablation, no program text, no benchmark text.
stores
  verify: Check every file and row of a store, and print the commands that repair it.
  compact: Merge the many small files of a store into few, which are read faster.
  doctor: Show which sandbox layers are active here, and what candidates could still reach.
"""
COMMANDS: Final[dict[str, dict[str, str]]] = {}
"""Module -> command -> sentence."""
for _line in _SAID.strip().splitlines():
    _name, _, _sentence = _line.strip().partition(": ")
    if not _sentence:
        _own = COMMANDS[_name] = {}
    else:
        _own[_name] = _sentence
