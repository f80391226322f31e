"""Load Spider's dev questions (one JSON object a line) with their schemas as text-to-SQL tasks.

Questions have no id of their own: ``Spider/0`` is the first. The schemas come from ``tables.json`` beside the file,
which says neither more of a type than number, text, time or truth value nor all of a key that has several columns.
"""

import json
from pathlib import Path
from typing import Any

from difftrust.sql.schema import Column, ForeignKey, Schema, Table, write_schema
from difftrust_core.base.task import Task
from difftrust_core.datasets.entries import SHIPPED_REMEDY, Entry, load_lines, load_list, load_tables, natural_order

_REMEDY = "get the file again with `difftrust fetch spider`"
_KINDS = {"number": "number", "text": "text", "time": "time", "boolean": "boolean", "others": "text"}


def load_spider(path: Path) -> list[Task]:
    """Return the questions of ``path`` in their order. Raises BadBenchmark naming file, line and field."""
    schemas = _load_schemas(path.parent / "tables.json")
    return [_task(number, entry, schemas) for number, entry in enumerate(load_lines(path, remedy=_REMEDY))]


def _task(number: int, entry: Entry, schemas: dict[str, str]) -> Task:
    name = entry.text("db_id")
    if name not in schemas:
        raise entry.refusal("a database of tables.json in field 'db_id'", repr(name))
    return _question(entry, schemas[name], benchmark="Spider", task_id=f"Spider/{number}", signature=f"({name})")


def _question(entry: Entry, schema: str, **said: str) -> Task:
    """Return the task of a question, ``schema`` its tables; ``said``: benchmark, task_id, signature."""
    return entry.task(
        **said,
        language="sql",
        entry_point="query",
        description=entry.text("question"),
        preamble=schema,
        reference=entry.text("query"),
        seed_inputs=("({},)",),
    )


def _load_schemas(path: Path) -> dict[str, str]:
    """Return the CREATE TABLE statements of each database."""
    found = {}
    for entry in load_list(path, remedy=_REMEDY):
        try:
            found[entry.text("db_id")] = write_schema(_schema(entry.fields))
        except (KeyError, IndexError, TypeError, ValueError) as e:
            raise entry.refusal("tables, columns and keys", f"{type(e).__name__}: {e}") from None
    return found


def _schema(fields: Any) -> Schema:
    names = fields["table_names_original"]
    columns = fields["column_names_original"]
    kinds = [_KINDS[kind] for kind in fields["column_types"]]
    for child, parent in fields["foreign_keys"]:
        kinds[child] = kinds[parent]  # a few are text on one side and number on the other
    tables = []
    for at, name in enumerate(names):
        if name.startswith("sqlite_"):
            continue  # SQLite's own
        own = [i for i, (table, _) in enumerate(columns) if table == at]
        foreign = {c: p for c, p in fields["foreign_keys"] if c in own and columns[p][0] != at}
        key = [i for i in fields["primary_keys"] if i in own]
        if len(foreign) > 1 and key and key[0] in foreign:
            key = list(foreign)  # a table that links others: only the first column of its key is listed
        tables.append(
            Table(
                name=name,
                columns=tuple(Column(name=columns[i][1], kind=kinds[i]) for i in own),
                key=tuple(columns[i][1] for i in key),
                foreign=tuple(
                    ForeignKey(column=columns[c][1], table=names[columns[p][0]], to=columns[p][1])
                    for c, p in foreign.items()
                ),
            )
        )
    return Schema(tables=tuple(tables))


def questions_of(published: bytes) -> bytes:
    """Return the lines db_id, question, query of Spider's own ``dev.json``, which holds them parsed in full too.

    Raises ValueError or KeyError if it is not that file.
    """
    entries = json.loads(published)
    kept = ({name: entry[name] for name in ("db_id", "question", "query")} for entry in entries)
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in kept).encode()


def load_starter(path: Path) -> list[Task]:
    """Return the text-to-SQL tasks of the TOML file ``path``, or of all TOML files in the folder ``path``.

    The tasks of a file share its ``schema``.
    """
    files = sorted(path.glob("*.toml")) if path.is_dir() else [path]
    tasks = [
        _question(
            entry, entry.text("schema"), benchmark="starter-sql", task_id=entry.text("task_id"),
            signature=f"({file.stem})",
        )
        for file in files
        for entry in load_tables(file, remedy=SHIPPED_REMEDY)
    ]  # fmt: skip
    return sorted(tasks, key=natural_order)
