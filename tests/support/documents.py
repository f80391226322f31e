"""Write the tables and figures that documents quote anew, from the shipped results; run by make docs.

Each is a part of a document between two texts that stay. docs/agreement.md, which takes longer, is
``tests.support.agreement``'s; docs/calibration.md, which takes half an hour, ``tests.support.calibrate``'s.
"""

import re
import textwrap
from functools import cache, partial
from typing import Any

import polars as pl

import difftrust as dt
from difftrust.research.coders import MEAN
from difftrust.shipped import find_results
from difftrust.tables.names import display_name, with_display_names
from difftrust.tables.readings import KINDS
from difftrust.tasks.descriptions import load_descriptions
from difftrust_core.base.files import find_shipped
from difftrust_core.datasets.audits import audit_frame
from difftrust_core.datasets.entries import load_domains
from tests.bench.performance import write_document
from tests.support import options
from tests.support.markdown import ROOT, Part, table
from tests.support.recount import beside_the_paper, recount

SHOWN = (
    *("claude_sonnet_4", "claude_opus_4", "deepseek_r1", "gemini_2_5_pro"),
    *("gpt_4o", "gpt_4", "gpt_3_5", "llama_3_1_8b_instruct"),
)
"""The models of the README's table."""
READINGS = (("reference", "published"), ("domain", "published"), ("domain", "audited"))
"""Inputs and references."""


def main() -> None:
    """Write all parts."""
    for part in PARTS:
        part.write()
    write_document()
    options.TARGET.write_text(options.document())


@cache
def _study(inputs: str, references: str = "published") -> dt.Study:
    return dt.open(find_results(), inputs=inputs, references=references)


def table_4() -> str:
    """Return Table 4 beside the published one, and its notes."""
    made = dt.open(find_results()).table(4, published=True)
    frame = with_display_names(made.frame.drop("temperature", "m", "n"))
    head = ["published" if name.startswith("published_") else name.replace("_", " ") for name in frame.columns]
    kinds = [kind == pl.String for kind in frame.schema.values()]
    return _with_notes(_table(head, (map(_cell, row) for row in frame.iter_rows()), texts=kinds), made)


def _with_notes(text: str, made: dt.Table) -> str:
    return "\n".join([text, *[f"- {note}" for note in made.notes], ""])


def readme_table() -> str:
    """Return the README's table of some models on HumanEval."""
    study = dt.open(find_results())
    frame = study.table(4, published=True).frame.filter(benchmark="HumanEval")
    alarms = study.table("alarms", published=True).frame.filter(benchmark="HumanEval", reading="as published")
    chosen = frame.filter(pl.col("model").is_in(SHOWN)).sort("mean_error")
    rows = [
        [display_name(row["model"]), *_of_readme(row, alarms.filter(model=row["model"]).row(0, named=True))]
        for row in chosen.iter_rows(named=True)
    ]
    head = ["HumanEval, 10 programs and 1,000 inputs per task", "mean error", "mean incoherence"]
    return _table([*head, "erroneous tasks found without a reference", "precision of a disagreement"], rows)


def _of_readme(row: dict[str, Any], alarms: dict[str, Any]) -> list[str]:
    shares = [_percent(row[name]) for name in ("mean_error", "mean_incoherence")]
    precision = f"{alarms['right']} of {alarms['alarms']}: {_with_ends(alarms, 'precision')}"
    return [*shares, _percent(row["detection_rate"], digits=0), precision]


def readme_readings() -> str:
    """Return what the README says of the errors that are not the model's, and of the alarms that are none."""
    readings = _study("reference").table("readings", published=True).frame.filter(benchmark="HumanEval")
    alarms = _study("reference").table("alarms", published=True).frame.filter(model="all", reading="as published")
    removed = {model: _removed(readings.filter(model=model)) for model in SHOWN}
    most = [name for name, share in removed.items() if share > 0.5]
    in_vain = [f"{row['no_error']:,} of {row['alarms']:,} of {row['benchmark']}" for row in alarms.to_dicts()]
    domain = readings.filter(model=SHOWN[0], reading="in the domain")["mean_error"].item()
    text = (
        f"([docs/domains.md](docs/domains.md)) {display_name(SHOWN[0])}'s mean error on HumanEval is "
        f"{_percent(domain)}. Counting only these inputs, the error falls by more than half for {len(most)} of the "
        f"{len(SHOWN)} models above ({', '.join(map(display_name, most))}), and by "
        f"{_percent(min(removed.values()), digits=0)} for {display_name(min(removed, key=removed.__getitem__))}. Of "
        f"the tasks on which the programs of a model disagree, for 16 models, {' and '.join(in_vain)} have no wrong "
        "program on an input that the task allows"
    )
    return f"{_wrapped(text)}  "


def readme_undetected() -> str:
    """Return what the README says of the errors on which all programs agree."""
    kinds = _study("reference").table("undetected", published=True).frame.filter(benchmark="HumanEval")
    everyone, sonnet = (kinds.filter(model=model).row(0, named=True) for model in ("all", SHOWN[0]))
    head = ["why", f"all {everyone['undetected']}", f"{sonnet['undetected']} of {display_name(SHOWN[0])}"]
    read = "all" if not everyone["unread"] else f"all but {everyone['unread']}"
    said = _wrapped(
        f"On {everyone['on_tasks']} tasks of HumanEval all ten programs of a model agree and are wrong by the "
        f"reference, {everyone['undetected']} times for 16 models. Language models judged "
        f"{read} of these ([audits](docs/audits.md), `difftrust table undetected`; in brackets 95 % intervals over "
        "tasks):"
    )
    rows = [
        [why, f"{everyone[kind]}: {_with_ends(everyone, f'share {kind}')}", str(sonnet[kind])]
        for kind, why in zip(KINDS, _UNDETECTED, strict=True)
    ]
    return f"{said}\n{textwrap.indent(_table(head, rows), '  ')}\n"


_UNDETECTED = (
    "wrong only on inputs that the task does not allow",
    "they do disagree where the inputs are drawn from all that the task allows",
    "the reference or the description is faulty",
    "the programs are wrong",
)
"""The kinds of undetected errors, in words."""


def _wrapped(text: str) -> str:
    """Return a text in the lines of a point of a list."""
    lines = textwrap.wrap(text, width=117, break_long_words=False, break_on_hyphens=False)
    return "\n  ".join(lines) + "\n"


def _removed(rows: pl.DataFrame) -> float:
    """Return the share of a model's published error that inputs outside the domain make up."""
    return float(rows.filter(reading="in the domain")["error_removed"].item())


def _with_ends(row: dict[str, Any], name: str, *, digits: int = 0) -> str:
    if row[f"{name}_low"] is None:  # every resample gives the same
        return _percent(row[name], digits=digits)
    share, low, high = (100 * row[f"{name}{end}"] for end in ("", "_low", "_high"))
    return f"{share:.{digits}f} % [{low:.{digits}f}, {high:.{digits}f}]"


def selection_means() -> str:
    """Return pass@1 of the ways to take one of ten programs, means over the models, in each reading."""
    rows = []
    for inputs, references in READINGS:
        frame = _study(inputs, references).table("selection", published=True).frame.filter(model=MEAN)
        for row in frame.iter_rows(named=True):
            rows.append([inputs, references, row["benchmark"], *_selection_cells(row)])
    return _table(["inputs", "references", "benchmark", *_SELECTION_HEAD], rows, texts=3)


def selection_models(inputs: str, head: str) -> str:
    """Return the same of each model; ``head``: of the first column."""
    frame = _study(inputs).table("selection", published=True).frame.filter(pl.col("model") != MEAN)
    rows = [
        [row["benchmark"], display_name(row["model"]), *_selection_cells(row)] for row in frame.iter_rows(named=True)
    ]
    return _table([head, "model", *_SELECTION_HEAD], rows, texts=2)


_SELECTION_HEAD = ["tasks", "random", "consensus", "gain", "filtered", "gain", "gain over the consensus"]


def _selection_cells(row: dict[str, Any]) -> list[str]:
    gains = [_points(row, name) for name in ("consensus_gain", "filtered_gain", "filter_gain")]
    passes = [f"{row[name]:.3f}" for name in ("random", "consensus", "filtered")]
    return [str(row["tasks"]), passes[0], passes[1], gains[0], passes[2], gains[1], gains[2]]


def _points(row: dict[str, Any], name: str) -> str:
    value, low, high = (100 * row[f"{name}{end}"] for end in ("", "_low", "_high"))
    return f"{value:+.1f} [{low:.1f}, {high:.1f}]"


@cache
def _answers(inputs: str, references: str) -> pl.DataFrame:
    return _study(inputs, references).table("questions", published=True).frame


def answers_means() -> str:
    """Return pass@1 after answers, means over the models, in each reading, asked about the best and a random input."""
    rows = []
    for inputs, references in READINGS:
        frame = _answers(inputs, references).filter(model=MEAN)
        for row in frame.iter_rows(named=True):
            gains = [_points(row, "gain_1"), _points(row, "gain_5")]
            over_random = "" if row["gain_1_over_random"] is None else _points(row, "gain_1_over_random")
            first = [inputs, references, row["benchmark"], row["question"]]
            rows.append([*first, *_answers_cells(row), *gains, over_random])
    head = ["inputs", "references", "benchmark", "question", *_ANSWERS_HEAD]
    return _table([*head, "gain of 1", "gain of 5", "over a random input"], rows, texts=4)


def answers_all() -> str:
    """Return all tables of docs/questions.md, so that they are computed together."""
    models = [answers_models(*part) for part in (("reference", "as published"), ("domain", "in the domain"))]
    return "\n".join([answers_means(), "## Each model\n", *models])


def answers_models(inputs: str, head: str) -> str:
    """Return the same of each model, asked about the best input; ``head``: of the first column."""
    frame = _answers(inputs, "published").filter(pl.col("model") != MEAN)
    rows = [
        [row["benchmark"], display_name(row["model"]), *_answers_cells(row), _points(row, "gain_1")]
        for row in frame.filter(question="best input").iter_rows(named=True)
    ]
    return _table([head, "model", *_ANSWERS_HEAD, "gain of 1"], rows, texts=2)


_ANSWERS_HEAD = ["tasks", "random", "consensus", "1", "2", "3", "5", "some right", "none left", "questions"]


def _answers_cells(row: dict[str, Any]) -> list[str]:
    passes = ("pass_at_1", "consensus", "after_1", "after_2", "after_3", "after_5", "some_right", "none_left")
    return [str(row["tasks"]), *(f"{row[name]:.3f}" for name in passes), f"{row['questions']:.2f}"]


def draws() -> str:
    """Return how the inputs of the shipped results were drawn."""
    frame = dt.open(find_results()).table("draws").frame
    rows = [
        [
            *(row["benchmark"], row["inputs"], str(row["tasks"]), f"{row['median_distinct']:,.0f}"),
            *(str(row["all_distinct"]), _cell(row["exhausted"])),
            *(_percent(row[name]) for name in ("share_repeated", "share_redrawn", "share_rejected")),
        ]
        for row in frame.iter_rows(named=True)
    ]
    head = ["benchmark", "inputs", "tasks", "median distinct", "all distinct", "exhausted"]
    return _table([*head, "repeated", "redrawn", "rejected"], rows, texts=2)


def audits_agreement() -> str:
    """Return what readers found, and how far two of them agree."""
    frame = _study("reference").table("audits").frame.filter(pl.col("benchmark") != "all")
    kinds = [kind == pl.String for kind in frame.schema.values()]
    return _table(
        [name.replace("_", " ") for name in frame.columns], (map(_cell, row) for row in frame.iter_rows()), texts=kinds
    )


def audits_split() -> str:
    """Return what the undetected errors of each model are."""
    frame = with_display_names(_study("reference").table("undetected", published=True).frame)
    rows = []
    for row in frame.iter_rows(named=True):
        shares = [str(row["undetected"]), *(f"{row[name]}: {_with_ends(row, f'share {name}')}" for name in KINDS)]
        rows.append([row["benchmark"], row["model"], *shares, str(row["unread"])])
    return _table(["benchmark", "model", "undetected", *KINDS, "of these on tasks not read"], rows, texts=2)


N_SHOWN = 20
"""Audits that docs/audits.md shows."""


def audits_drawn() -> str:
    """Return twenty audits, drawn by seed, with all that they rest on."""
    held = audit_frame().filter(pl.col("arguments") != "")
    rows = held.sample(N_SHOWN, seed=0, shuffle=True).rows(named=True)
    return "".join(_audit(row) for row in rows)


def _audit(row: dict[str, Any]) -> str:
    one = load_descriptions()[row["benchmark"]][row["task_id"]]
    domains = load_domains(find_shipped(f"data/domains/{row['benchmark'].lower()}.toml"))
    own = domains[row["task_id"]]
    seen = pl.read_csv(find_shipped("data/audits/outcomes.csv"), infer_schema=False).filter(task_id=row["task_id"])
    allowed = " and ".join(filter(None, (own.types, " ".join(own.requires.split())))) or "what the signature says"
    lines = [f"### {row['task_id']}: {row['finding']}\n", f"`{one.signature}`: {one.sentence}\n"]
    lines += [f"- allowed: {_code(allowed)}", f"- input: {_code(row['arguments'])}"]
    n_programs = seen["n_programs"].cast(int)
    ranked = seen.with_columns(n=n_programs).sort("reference", "n", descending=True, maintain_order=True)
    for kind, text, n, is_reference in ranked.head(5).select("kind", "text", "n", "reference").iter_rows():
        who = "reference, and " if is_reference == "true" else ""
        said = _code(text or "") if kind == "value" else f"{kind} {_code(text or '')}"
        lines.append(f"- {who}{n} of {n_programs.sum()} programs: {said}")
    if ranked.height > 5:
        lines.append(f"- {ranked['n'][5:].sum()} programs: {ranked.height - 5} further outcomes")
    lines += [f"- why: {row['why']}", f"- settled by: {row['settled_by']}"]
    for side in "ab":
        if row[f"reader_{side}"]:
            lines.append(f"- reader {side.upper()}: {row[f'reader_{side}']}. {row[f'why_{side}']}")
    return "\n".join(lines) + "\n\n"


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def by_others(name: str) -> str:
    """Return how often answers are wrong by what other models do, all models together."""
    frame = _study("domain").table(name).frame.filter(model="all")
    rows = [
        [row["benchmark"], row["own"], row["others"], f"{row['tasks']:,}", _with_ends(row, "risk", digits=1)]
        for row in frame.iter_rows(named=True)
    ]
    head = ["benchmark", "own programs", f"other models that {'dissent' if name == 'dissent' else 'err'}"]
    return _table([*head, "answers", "wrong"], rows, texts=3)


def versions() -> str:
    """Return what diff says of recorded programs, and why where it is not right."""
    made = dt.open(find_results()).table("versions")
    rows = [
        [*map(_cell, row[:-3]), f"{100 * row[-3]:.0f} % [{100 * row[-2]:.0f}, {100 * row[-1]:.0f}]"]
        for row in made.frame.iter_rows()
    ]
    head = ["benchmark", "recorded outcomes", "pairs", "unchanged", "found", "on a new input", "in effects"]
    return _with_notes(_table([*head, "false", "missed", "undecided", "right"], rows, texts=2), made)


def correlated() -> str:
    """Return how alike models err, over all pairs of models, and two pairs in words."""
    whole = _study("domain").table("correlated").frame
    frame = whole.filter(model="all")
    rows = [
        [
            *(row["benchmark"], row["other"], _percent(row["incoherence"]), _percent(row["both_wrong"])),
            *(_with_ends(row, "wrong_alike"), f"{row['error_r']:.2f}"),
        ]
        for row in frame.iter_rows(named=True)
    ]
    head = ["benchmark", "pairs of models", "incoherence between them", "both wrong", "of these wrong alike", "r"]
    alike = {
        pair: whole.filter(benchmark="HumanEval", model=pair[0], other=pair[1])["wrong_alike"].item()
        for pair in (("claude_opus_4", "gpt_o4_mini"), ("gpt_4", "gpt_4o"))
    }
    said = " and ".join(
        f"{_percent(v, digits=0)} of {' and '.join(map(display_name, pair))}" for pair, v in alike.items()
    )
    return f"{_table(head, rows, texts=2)}\nOf two wrong programs on HumanEval behave alike: {said}.\n"


_M = (5, 10, 50)
_KINDS = {
    "22 kinds": "all simulated kinds together",
    "one LLM": "recorded: 1 LLM as one coder",
    "60/30/10% wrong on 0/20/100%": "60/30/10% wrong on 0/20/100% of the inputs",
    "70/27/3% wrong on 0/10/100%": "70/27/3% wrong on 0/10/100% of the inputs",
}


def coverage() -> str:
    """Return what docs/uncertainty.md quotes of docs/calibration.md."""
    by_m = {m: _quoted(f"### m = {m}") for m in _M}
    lines = [("I, `calibrated`", "I", tuple(_KINDS)), ("I, `chernoff`", "I chernoff", ("22 kinds",))]
    rows = [
        [name if i == 0 else "", kind, *(_bold(_spaced(by_m[m][_KINDS[kind]][column]), column) for m in _M)]
        for name, column, kinds in [*lines, ("I, **naive**", "I naive", ("22 kinds", "one LLM"))]
        for i, kind in enumerate(kinds)
    ]
    inputs = _quoted("## Over inputs")
    tasks = _quoted("## Over tasks")
    over_inputs = ["I, `hoeffding`", *(_spaced(inputs[n]["I hoeffding"]) for n in inputs)]
    over_tasks = [[said, *(_spaced(tasks[n][column]) for n in tasks)] for said, column in _OVER_TASKS.items()]
    return "\n".join(
        [
            _table(["about the LLM", "coders", *(f"m = {m}" for m in _M)], rows, texts=2),
            _table(["about ten given programs that disagree", *(f"n = {int(n):,}" for n in inputs)], [over_inputs]),
            _table(["about all tasks", *(f"{n} tasks" for n in tasks)], over_tasks),
        ]
    )


_OVER_TASKS = {
    "mean error": "mean_error as-published",
    "mean incoherence": "mean_incoherence as-published",
    "Spearman's rho": "spearman as-published",
    "detection rate, as published": "detection_rate as-published",
    "detection rate, all pairs": "detection_rate all-pairs",
    "undetected mean error": "undetected_mean_error as-published",
}


def _quoted(heading: str) -> dict[str, dict[str, str]]:
    """Return the table below a heading of docs/calibration.md: first cell -> column -> cell."""
    text = (ROOT / "docs" / "calibration.md").read_text()
    lines = re.search(r"^\|(?:.*\n\|)*.*", text[text.index(heading) :], re.MULTILINE)
    assert lines, heading
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[0].splitlines())
    return {row[0]: dict(zip(head, row, strict=True)) for row in rows}


def _bold(cell: str, column: str) -> str:
    return f"**{cell}**" if column == "I naive" else cell


def _spaced(cell: str) -> str:
    share = cell.split(" ")[0].removesuffix("%")
    return "100 %" if share == "100.0" else f"{share} %"


_table = partial(table, tight=True)


def _percent(share: float, *, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


PARTS = (
    Part(document="README.md", begin="| HumanEval, 10 programs", end="\nFrom `difftrust table 4", make=readme_table),
    Part(document="README.md", begin="([docs/domains.md](docs/domains.md)) Cl", end="(`diff", make=readme_readings),
    Part(document="README.md", begin="On 76 tasks", end="  The column `undetected", make=readme_undetected),
    Part(document="docs/table_4.md", begin="| benchmark |", end="\nDifferences: ", make=table_4),
    Part(document="docs/table_4.md", begin="- Figure 1, Sp", end="", make=beside_the_paper),
    Part(document="docs/audits.md", begin="| what |", end="", heading="## Counted again", make=recount),
    Part(document="docs/selection.md", begin="| inputs |", end="\n## Each model", make=selection_means),
    *(
        Part(
            document="docs/selection.md",
            begin=f"| {head} |",
            end=end,
            make=partial(selection_models, inputs, head=head),
        )
        for inputs, head, end in (("reference", "as published", "\n| in the domain"), ("domain", "in the domain", ""))
    ),
    Part(document="docs/questions.md", begin="| inputs | references |", end="", make=answers_all),
    Part(document="docs/domains.md", begin="| benchmark | inputs |", end="\n`--inputs tests`", make=draws),
    Part(document="docs/audits.md", begin="| benchmark | finding", end="\n## What the und", make=audits_agreement),
    Part(document="docs/audits.md", begin="| benchmark | model", end="\n## Twenty", make=audits_split),
    Part(document="docs/audits.md", begin="### ", end="## Correct", heading="## Twenty", make=audits_drawn),
    *(
        Part(document="docs/other_models.md", begin="| benchmark |", end=end, heading=heading, make=make)
        for heading, end, make in (
            ("## Dissent", "\n## Diff", partial(by_others, "dissent")),
            ("## Difficulty", "\n## Corr", partial(by_others, "difficulty")),
            ("## Correlated errors", "Models of one", correlated),
        )
    ),
    Part(document="docs/diff.md", begin="| benchmark |", end="\nUnchanged is no", make=versions),
    Part(document="docs/uncertainty.md", begin="| about the LLM |", end="\nThe undetected mean", make=coverage),
)


if __name__ == "__main__":
    main()
