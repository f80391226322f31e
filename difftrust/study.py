"""One store as a researcher asks it: models, estimates, tables, figures, ablations, tasks, SQL."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from difftrust.results import Figure, Table
from difftrust.shipped import PAPER_SETTING, find_results, usual_temperature
from difftrust.tables.grid import ablation_table
from difftrust.tables.interval_columns import ranking_intervals
from difftrust.tables.plan_answer import recommended
from difftrust.tables.registry import make_table
from difftrust.tables.request import (
    TableRequest,
    as_sequence,
    benchmark_with,
    benchmarks_of,
    estimates_for,
    record_of,
    require_known,
    require_sizes,
    settle,
)
from difftrust.tables.what_to_buy import mixture_table, same_price_table
from difftrust_core.base.plugins import require
from difftrust_core.base.records import Coder, Detection, Load, Reading, References
from difftrust_core.estimates.pool import Pool, load_pool
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.intervals import false_trust
from difftrust_core.store.mirror import folder_of
from difftrust_core.store.store import Store

_NUMBERS_OF_MODELS: Final = (1, 2, 5, 10)
"""Of ``mixtures``, as far as a store goes."""

if TYPE_CHECKING:
    from difftrust.explorer.widget import Explorer
    from difftrust.figures.roc_curves import Signals
    from difftrust.page import Page
    from difftrust.tasks.task_view import TaskView


def open_study(
    store: str | Path | None = None,
    *,
    inputs: str | None = None,
    references: str = References.PUBLISHED,
    load: str = Load.TRIMMED,
) -> "Study":
    """Open a store: a folder or a URL; by default the one that DIFFTRUST_STORE names, else the shipped results.

    The shipped results are those of 16 LLMs on HumanEval and MBPP, computed from the published candidates. Raises
    NoStore if there is no store, saying which command makes one, and WrongUsage for an empty text.

    ``inputs``: "reference" (those that the reference accepts, as published), "domain" (those that the task allows) or
    what else the store was executed on; None: the store's own. ``references``: "published" (all tasks) or "audited"
    (without those whose reference or description is at fault). ``load="strict"``: a program whose
    trailing lines fail counts as not loading.

    >>> study = dt.open()
    >>> study.benchmarks
    ['HumanEval', 'MBPP']
    """
    if store == "":
        raise WrongUsage("expected a folder or a URL of a store, got an empty text; leave it out or name one")
    place = store or os.environ.get("DIFFTRUST_STORE") or None
    root = find_results() if place is None else folder_of(place)
    reading = Reading(inputs=inputs, references=references, load=load)
    return Study(store=Store.open(root, reading), is_published=root == find_results())


@dataclass(frozen=True, kw_only=True)
class Study:
    """What can be asked of one store. Every answer shows itself in a notebook and holds its polars ``frame``.

    ``m`` and ``n`` take the first m candidates of each coder and the first n inputs of each task: nothing is executed
    again. None: m = 10 and n = 1,000 of the shipped results; of another store the largest that all coders shown have.
    Where one temperature is meant, None is 0.6 if the store has it, else its lowest.
    ``detection``: "as-published" (one random pair of programs an input, expected value) or "all-pairs".
    ``equality``: "paper" (numbers within 0.1 % agree) or "strict".
    """

    store: Store = field(repr=False)
    is_published: bool = False
    """Whether this is the shipped store; then m = 10, n = 1,000, temperature 0.6 and the paper's tasks are meant."""
    n_jobs: int = field(default=2, repr=False)

    @property
    def benchmarks(self) -> list[str]:
        """Return the benchmarks that the store holds results of. Raises NoStore if nothing is executed yet."""
        return benchmarks_of(self.store)

    @cached_property
    def coders(self) -> list[Coder]:
        """Return the coders of the store: (model, temperature)."""
        return sorted({coder for name in self.benchmarks for coder in self.pool(name).members})

    @property
    def models(self) -> list[str]:
        """Return the models of the store, by their ids."""
        return sorted({model for model, _ in self.coders})

    @property
    def temperatures(self) -> list[float]:
        """Return the temperatures at which candidates were sampled."""
        return sorted({temperature for _, temperature in self.coders})

    def pool(self, benchmark: str, *, equality: str = "paper") -> Pool:
        """Return the matrix of behaviours of one benchmark, from which every number is computed."""
        return load_pool(self.store, benchmark, equality=equality)

    def estimates(
        self,
        *,
        benchmark: str | None = None,
        model: str | None = None,
        temperature: float | None = None,
        m: int | None = None,
        n: int | None = None,
        equality: str = "paper",
    ) -> Table:
        """Return error, incoherence and detection of each (coder, task): a row each, as `docs/measures.md` says.

        >>> study.estimates(benchmark="HumanEval", model="gpt_4o").frame.height
        150
        """
        request = replace(self._request, temperature=temperature, m=m, n=n, equality=equality)
        found, notes = estimates_for(request)
        wanted = {"benchmark": benchmark, "model": model}
        for name, value in wanted.items():
            _ = require_known(name, value, found[name].unique().sort().to_list())
        chosen = {name: value for name, value in wanted.items() if value is not None}
        return Table(found.filter(**chosen), notes=tuple(notes))

    def table(
        self,
        name: str | int = 4,
        *,
        published: bool = False,
        intervals: bool = False,
        model: str | None = None,
        temperature: float | None = None,
        m: int | None = None,
        n: int | None = None,
        detection: Detection = Detection.AS_PUBLISHED,
        equality: str = "paper",
        drop_timeouts: bool = False,
        signal: str = "incoherence",
        alpha: float = 0.1,
        delta: float = 0.1,
    ) -> Table:
        """Return a table of the paper: 2, 3, "3a" (m), "3b" (temperature), "3c" (n), 4; or one of this project.

        "selection": the gain of selecting by consensus; "questions": pass@1 after answers of a user; "rankings": rank
        correlations over models; "readings": as published, in the domain and with audited references side by side;
        "undetected": what the errors are that incoherence misses; "alarms": how many disagreements are an error inside
        the domain; "suspects": tasks on which most models contradict the reference; "draws": how inputs were drawn;
        "audits": how far two readers of the references agree; "versions": how often `diff` is right on recorded
        programs; "agreement": risk and coverage where the programs agree, and a threshold of ``signal`` (incoherence,
        largest_share, n_clusters or dissent) with risk at most ``alpha``
        with probability 1 - ``delta``; "guarantee": how often that bound is kept; "dissent", "difficulty": what
        agreement is worth by how many other models dissent or err; "correlated": how alike two models err; "policies":
        what ways of buying programs find, raise in vain and cost; "tests": pass@1 by the tasks' tests beside error and
        incoherence on other inputs.
        ``published`` puts the published value beside each; ``intervals`` adds 95 % intervals over tasks (bootstrap);
        ``model`` is whose Table 3 or policies, and the only one of another; ``drop_timeouts`` leaves out (model, task)
        pairs with a timeout, as published. Raises WrongUsage for another.

        >>> study.table(4, published=True).frame["mean_error"].round(3)[0]
        0.075
        """
        given = vars(self._request) | locals()
        only = (model,) if model else ()
        return make_table(str(name), record_of(TableRequest, given, model=model or PAPER_SETTING.model, only=only))

    def figure(
        self,
        name: str | int,
        *,
        model: str | Sequence[str] = (),
        benchmark: str | None = None,
        temperature: float | None = None,
        m: int | None = None,
        n: int | None = None,
        vary: str = "m",
        panels: str = "benchmark",
        detection: Detection = Detection.AS_PUBLISHED,
        equality: str = "paper",
    ) -> Figure:
        """Return a figure by its name: one of the paper or one of this project.

        1, 2, 3; "ranking", "ablation", "mixtures", "readings", "risk-coverage", "questions" (pass@1 by the number of
        answers of a user), "policies" or "correlated" (how alike two models err). ``model`` (one, or several) is whose
        Figure 2, 3, ablation, risk-coverage, questions or policies; ``vary`` is what the ablation varies: "m", "n" or
        "temperature"; ``panels``: a panel of Figure 3 for each "benchmark" or each "model". Raises WrongUsage for
        another name.

        >>> study.figure(3, model="gpt_4o", benchmark="HumanEval").frame.height
        150
        """
        given = vars(self._request) | locals()
        from difftrust.figures.registry import FigureRequest, make_figure

        models = (model,) if isinstance(model, str) else tuple(model)
        return make_figure(str(name), record_of(FigureRequest, given, model=PAPER_SETTING.model, models=models))

    def ablation(
        self,
        models: str | Sequence[str] = (),
        *,
        m: int | Sequence[int] | None = None,
        n: int | Sequence[int] | None = None,
        temperature: float | Sequence[float] | None = None,
        benchmark: str | None = None,
        equality: str = "paper",
        by_task: bool = False,
    ) -> Table:
        """Return the measures for every setting: a row for each benchmark, model, m, n and temperature.

        "a+b" is the mixture of two models, whose m programs are drawn from them evenly. ``by_task``: a row a task
        instead. Settings on which a candidate was not executed are left out and named in ``notes``.

        >>> study.ablation("gpt_4o", m=[2, 10], benchmark="HumanEval").frame["detection_rate"].round(2).to_list()
        [0.37, 0.71]
        """
        require_sizes(m=m, n=n)
        names = self.benchmarks if benchmark is None else [require_known("benchmark", benchmark, self.benchmarks)]
        chosen = (models,) if isinstance(models, str) else models or self.models
        pools = {name: self.pool(name, equality=equality) for name in names}
        coders = {model: [require_known("model", one, self.models) for one in model.split("+")] for model in chosen}
        temperatures = as_sequence(self._usual_temperature if temperature is None else temperature)
        parts = {part for own in coders.values() for part in own}
        usual_m, usual_n = self._usual_sizes(parts, temperatures) if m is None or n is None else (None, None)
        each_m: Sequence[int | None] = [usual_m] if m is None else as_sequence(m)
        each_n: Sequence[int | None] = [usual_n] if n is None else as_sequence(n)
        sizes = list(product(temperatures, each_m, each_n))
        return ablation_table(pools, coders, sizes, tasks=self._request.counted, by_task=by_task)

    def task(
        self,
        task_id: str,
        *,
        model: str | Sequence[str],
        temperature: float | None = None,
        m: int | None = None,
        n: int | None = None,
        benchmark: str | None = None,
        equality: str = "paper",
    ) -> "TaskView":
        """Return one task: clusters of equal behaviour, inputs on which programs disagree or are wrong, programs.

        ``model``: one, or several side by side. Raises WrongUsage if the task or the model is not in the store.

        >>> study.task("HumanEval/122", model="gpt_4o").clusters.frame["n_candidates"].to_list()
        [10]
        """
        from difftrust.tasks.task_view import view_task

        require_sizes(m=m, n=n)
        name = benchmark or benchmark_with(self.store, task_id)
        pool = self.pool(require_known("benchmark", name, self.benchmarks), equality=equality)
        models = (model,) if isinstance(model, str) else tuple(model)
        at = self._usual_temperature if temperature is None else temperature
        coders = [(require_known("model", one, self.models), at) for one in models]
        most_m, most_n = self._usual_sizes(models, [at])
        own = (len(task.pattern_of_input) for task in pool.tasks if task.task_id == task_id)
        return view_task(self.store, pool, task_id, coders, m=m or most_m, n=n or most_n or next(own, 1))

    def sql(self, query: str, parameters: Sequence[object] = (), *, equality: str = "paper") -> Table:
        """Return the answer to a DuckDB query on the store's views (estimates, candidates, programs, inputs, ...).

        >>> study.sql("select count(distinct model) as models from estimates").frame.item()
        16
        """
        from difftrust_core.estimates.queries import query_sql

        return Table(query_sql(self.store, query, list(parameters), equality=equality))

    def explore(self, *, benchmark: str | None = None) -> "Explorer":
        """Return the explorer for a notebook: sliders, the cloud of tasks, and the inputs of the one picked.

        ``.selection`` holds the names of the picked tasks, ``.state`` what is chosen; set it to open another setting.
        """
        require("anywidget", extra="lab", purpose="explore()")
        from difftrust.explorer.widget import Explorer

        name = require_known("benchmark", benchmark, self.benchmarks) if benchmark else self.benchmarks[0]
        return Explorer(self.store, name)

    def signals(self, *, temperature: float | None = None, m: int | None = None, n: int | None = None) -> "Signals":
        """Return error beside all that may tell of it without a reference: a row a (coder, task).

        Needs the structural comparison of the candidates (`difftrust structure`); the shipped results hold it. m and n
        of another store than these: all.
        """
        from difftrust.figures.roc_curves import Signals
        from difftrust.research.signals import signals

        require_sizes(m=m, n=n)
        at = self._usual_temperature if temperature is None else temperature
        if self.is_published:
            m, n = m or PAPER_SETTING.m, n or PAPER_SETTING.n
        return Signals(signals(self.store, temperature=at, m=m, n=n))

    def rankings(self, *, detection: Detection = Detection.AS_PUBLISHED, temperature: float | None = None) -> Table:
        """Return Spearman's rho between rankings of the models with and without a reference, a row a benchmark."""
        found, notes = estimates_for(replace(self._request, temperature=temperature))
        return Table(ranking_intervals(found, detection=detection), notes=tuple(notes))

    def wrong_despite_agreement(
        self,
        models: str | Sequence[str] = (),
        *,
        m: int | Sequence[int] | None = None,
        n: int | Sequence[int] | None = None,
        judged_on: int | None = None,
        temperature: float | None = None,
    ) -> Figure:
        """Return how often a task is wrong although all m programs agree on n inputs, with exact 95 % intervals.

        ``m`` and ``n``: the paper's as far as the store goes. ``judged_on``: how many inputs say whether a task is
        wrong; by default the n that were looked at. Raises WrongUsage for an m or n that no model has.
        """
        from difftrust.figures.interval_bars import false_trust_figure

        at = self._usual_temperature if temperature is None else temperature

        def seen(m: int, n: int) -> pl.DataFrame:
            found = self.ablation(models, m=m, n=n, temperature=at, by_task=True).frame
            if found.is_empty():
                raise WrongUsage(f"expected an m and n that a model has, got m = {m} and n = {n}; choose fewer")
            return found

        there, _ = settle(replace(self._request, temperature=at))
        sizes = as_sequence(min(PAPER_SETTING.m, there.m or PAPER_SETTING.m) if m is None else m)
        counts = as_sequence(min(PAPER_SETTING.n, there.n or PAPER_SETTING.n) if n is None else n)
        parts = []
        for size in sizes:
            truth = None if judged_on is None else seen(size, judged_on)
            for inputs in counts:
                found = false_trust(seen(size, inputs), judged=truth)
                parts.append(found.with_columns(m=pl.lit(size), n=pl.lit(inputs)))
        if not parts:
            raise WrongUsage("expected at least one m and one n, got none; name some")
        frame = pl.concat(parts)
        return false_trust_figure(frame, models, temperature=at)

    def mixtures(
        self,
        n_models: Sequence[int] | None = None,
        *,
        m: int | None = None,
        n: int | None = None,
        temperature: float | None = None,
    ) -> Table:
        """Return what m programs of so many models find: exact means over every choice of models and of programs.

        ``n_models``: by default those of 1, 2, 5 and 10 that there are, with a program of each.

        ``detection_rate`` is that of the mixture's own error: it rewards adding bad coders, whose errors are easily
        found. What finds the errors of one model, `table("policies")` says.
        """
        require_sizes(m=m, n=n, n_models=n_models)
        at = self._usual_temperature if temperature is None else temperature
        most_m, most_n = self._usual_sizes(self.models, [at])
        size = m or most_m or PAPER_SETTING.m
        pools = [pool for pool in map(self.pool, self.benchmarks) if any(t == at for _, t in pool.members)]
        most = min([size, *(sum(t == at for _, t in pool.members) for pool in pools)])
        counts = [k for k in _NUMBERS_OF_MODELS if k <= most] if n_models is None else n_models
        return mixture_table(pools, counts, m=size, n=n or most_n, temperature=at, tasks=self._request.counted)

    def same_price(
        self,
        model: str,
        listed: Mapping[str, str],
        *,
        m: int | None = None,
        n: int | None = None,
        temperature: float | None = None,
    ) -> Table:
        """Return what other choices of models find for the price of m programs of ``model``.

        ``listed``: model -> its name in `difftrust_core/generation/prices.toml`. Raises WrongUsage for one without.
        """
        require_sizes(m=m, n=n)
        at = self._usual_temperature if temperature is None else temperature
        checked = (require_known("model", model, self.models), at)
        most_m, most_n = self._usual_sizes([model, *listed], [at])
        pools = [self.pool(name) for name in self.benchmarks]
        size, inputs = m or most_m or PAPER_SETTING.m, n or most_n
        return same_price_table(pools, checked, listed, m=size, n=inputs, tasks=self._request.counted)

    def recommend(
        self,
        model: str,
        *,
        detection: float | None = None,
        false_alarms: float | None = None,
        benchmark: str | None = None,
        temperature: float | None = None,
    ) -> Table:
        """Return which programs to buy as a check of programs of ``model``: a row a benchmark, in words in the notes.

        It is the cheapest policy that finds at least ``detection`` of its wrong programs with alarms on at most
        ``false_alarms`` of its right ones; chosen on half of the tasks, scored on the others. `table("policies")` lists
        more. Raises WrongUsage if the price of a program is not known.
        """
        request = replace(
            self._request,
            model=require_known("model", model, self.models),
            temperature=temperature,
            benchmark=benchmark,
        )
        return recommended(request, detection=detection, false_alarms=false_alarms)

    def report(
        self, *, benchmark: str | None = None, temperature: float | None = None, m: int | None = None,
        n: int | None = None, equality: str = "paper", task_id: str | None = None, models: Sequence[str] = (),
    ) -> "Page":  # fmt: skip
        """Return one benchmark as one HTML file that opens offline: numbers, chart, table, tasks worth reading.

        With ``task_id`` that task alone, for each of ``models``. ``.save("report.html")`` writes it.
        """
        from difftrust.page import make_page

        setting = {"benchmark": benchmark, "temperature": temperature, "m": m, "n": n, "equality": equality}
        return make_page(self.store, **setting, task_id=task_id, models=models)  # type: ignore[arg-type]

    @property
    def _usual_temperature(self) -> float:
        """Return the temperature of what is of one and names none."""
        return usual_temperature(self.temperatures)

    def _usual_sizes(self, models: Collection[str], temperatures: Sequence[float]) -> tuple[int | None, int | None]:
        """Return the m and n that are meant where none are named, as ``settle`` has them; no n of tests."""
        only = tuple(sorted(set(models) & set(self.models)))
        requests = (replace(self._request, only=only, temperature=t) for t in temperatures if t in self.temperatures)
        found = [settle(request)[0] for request in requests]
        ms, ns = [one.m for one in found if one.m], [one.n for one in found if one.n]
        return min(ms, default=None), min(ns, default=None)

    @property
    def _request(self) -> TableRequest:
        return TableRequest(
            store=self.store.root, reading=self.store.reading, paper_setting=self.is_published, n_jobs=self.n_jobs
        )
