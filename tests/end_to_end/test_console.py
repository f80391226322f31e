"""Console blocks of a document are read and run as their reader would."""

from pathlib import Path

from tests.support.console import matches, read_blocks, run_command

DOCUMENT = """Text.

```console
$ cat a/b.txt
one
  two
$ cat a/b.txt | wc -l
2
$ printf 'x = 1.25\\nrest\\n'
x = ...
...
```

```console
$ echo \\
  joined
joined
```
"""


def test_files_are_written_and_output_is_compared(tmp_path: Path) -> None:
    document = tmp_path / "document.md"
    document.write_text(DOCUMENT)
    first, second = read_blocks(document)
    assert [command.line for command in first] == [4, 7, 9]
    assert [command.words for command in second] == ["echo   joined"]
    assert [run_command(command, tmp_path) for command in (*first, *second)] == [None] * 4
    assert (tmp_path / "a" / "b.txt").read_text() == "one\n  two\n"


def test_three_dots_stand_for_anything_but_not_for_other_lines() -> None:
    assert matches("a ... c\n...\nend\n", "a b c\nx\ny\nend\n")
    assert matches("...\n", "")
    assert not matches("a\n", "a\nb\n")
    assert not matches("a ...\n", "b\n")
