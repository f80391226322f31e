"""The commands, each with its module and a sentence of one line, so that a list of them loads none."""

from typing import Final

# One text: the name of a command alone, as "dashboard", would read as the import of a package (tests/layers.py).
_SAID = """
check
  check: Find inputs on which implementations of a function disagree.
  mcp: Answer agents: check, diff, ask_next and pin over stdin.
diff
  diff: Find inputs on which two versions of a function differ.
candidates
  fetch: Download benchmarks or the recorded candidates.
  generate: Sample programs from language models into a store.
  import: Add recorded candidates to a store.
execution
  execute: Run a store's programs on their inputs, in the sandbox.
  structure: Compare a task's programs as texts and trees; runs none.
  compare: Print every similarity score of two programs.
  smallest: Find the smallest inputs that show errors or disagreement.
  demo: Try everything in a minute, with simulated coders.
  reproduce: Import everything recorded, execute it, write the results.
show_results
  table: Print a table of the papers, or one of this project.
  sql: Query a store with SQL.
  figure: Draw a figure into a file that opens without a network.
  report: Write one HTML file that opens offline: numbers and tasks.
  dashboard: Open a store in the browser.
  plan: Print how many inputs an accuracy needs, or what to buy.
  export: Write a store's results as a small store, without programs.
stores
  verify: Check every file and row of a store; print what repairs it.
  compact: Merge the many small files of a store into few.
  doctor: Show which sandbox layers are active here.
"""
COMMANDS: Final[dict[str, dict[str, str]]] = {}
"""Module -> command -> sentence."""
for _line in _SAID.strip().splitlines():
    _name, _, _sentence = _line.strip().partition(": ")
    if not _sentence:
        _own = COMMANDS[_name] = {}
    else:
        _own[_name] = _sentence
