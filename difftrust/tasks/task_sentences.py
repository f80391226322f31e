"""What one task shows, in words: how its programs behave, and what follows from a disagreement."""

from typing import Final

from difftrust.check.verdict import at_least, input_interval, of_the_coder, statement
from difftrust.tasks.clusters import Clustering
from difftrust.tasks.relation_text import relation_in_words
from difftrust.text import count_of
from difftrust_core.base.literals import BadText, read_literal, write_literal
from difftrust_core.base.task import Domain, Relation
from difftrust_core.metrics.estimates import disagreement_per_input

PLACES: Final = {
    "domain": "in the domain",
    "types": "outside the declared types",
    "outside": "outside the domain",
}
"""Where an input lies -> words."""


def headline(clustering: Clustering, *, has_checker: bool = False) -> str:
    """Return in one sentence how the programs behave, and how that compares with what is right, where it is known."""
    m, n_failed = int(clustering.counts.sum()), _n_failed(clustering)
    loading = [cluster for cluster in clustering.clusters if cluster.loads]
    if not loading:
        return f"{count_of(m)} {'does' if m == 1 else 'do'} not load"
    said = _behaviour(clustering, m - n_failed, len(loading))
    truth = "" if clustering.reference_labels is None else _truth(clustering, m - n_failed, has_checker)
    failed = f"; {n_failed:,} more {'does' if n_failed == 1 else 'do'} not load" if n_failed else ""
    return said + truth + failed


def _n_failed(clustering: Clustering) -> int:
    return sum(cluster.n_candidates for cluster in clustering.clusters if not cluster.loads)


def _behaviour(clustering: Clustering, m: int, n_behaviours: int) -> str:
    if m == 1:
        return "1 program"
    if n_behaviours == 1:
        return f"{count_of(m)} behave alike"
    on_inputs = clustering.on_inputs[[cluster.loads for cluster in clustering.clusters]]
    share = float((on_inputs != on_inputs[0]).any(axis=0).mean())
    return f"{count_of(m)} show {n_behaviours:,} behaviours and disagree on {percent(share)} of inputs"


def _truth(clustering: Clustering, m: int, has_checker: bool) -> str:
    loading = [cluster for cluster in clustering.clusters if cluster.loads]
    right = sum(cluster.n_candidates for cluster in loading if cluster.n_wrong == 0)
    if len(loading) > 1:
        verb = "is" if right == 1 else "are"
        return f"; {right:,} of them {verb} right on every input" if right else "; none is right on every input"
    shares = (loading[0].n_wrong or 0) / clustering.n
    is_one = m == 1
    if has_checker:
        whose = "is accepted" if is_one else "are accepted"
        refused = "is refused" if is_one else "are refused"
        how = f"{refused} by the checker on {percent(shares)} of inputs" if shares else f"{whose} on every input"
    elif shares:
        how = f"{'differs' if is_one else 'differ'} from the reference on {percent(shares)} of inputs"
    else:
        how = f"{'agrees' if is_one else 'agree'} with the reference on every input"
    return f" {how}" if is_one else f", and {how}"


def percent(share: float) -> str:
    """Return a share as people compare it: 51 %, 0.3 %; never 0 % or 100 % of what is neither."""
    if share in (0.0, 1.0) or 0.095 <= share < 0.995:
        return f"{share:.0%}".replace("%", " %")
    if share >= 0.995:
        return "more than 99 %"
    return f"{share:.1%}".replace("%", " %") if share >= 0.001 else "less than 0.1 %"


def domain_in_words(domain: Domain | None) -> str:
    """Return the arguments that a task allows: types and condition, as they were written; empty where nobody said."""
    if domain is None:
        return ""
    return "\n".join(part.strip() for part in (domain.types, domain.requires) if part.strip())


def statements_of(
    clustering: Clustering, relation: Relation | None = None, *, is_inside: bool = False
) -> tuple[str, ...]:
    """Return what the inputs show about these programs, and about new ones by the same models.

    ``relation``: the task's own, by which its outcomes were compared; the last sentence says it. ``is_inside``: all
    inputs lie inside the task's domain, so that a disagreement shows an error.
    """
    m = int(clustering.counts.sum())
    if m < 2:
        return ("At least two programs are needed to disagree; choose more programs or models.",)
    disagreement = disagreement_per_input(clustering.on_inputs, clustering.counts)
    subject = f"these {m} programs"
    of_models = of_the_coder(clustering.on_inputs, clustering.counts, "by the same models")
    interval = input_interval(disagreement, m)
    hits = int((disagreement > 0).sum())
    own = statement(disagreement, interval, subject)
    if hits and not is_inside:
        own = (
            f"The programs differ on {hits:,} of {clustering.n:,} inputs. {at_least(interval)} of the results of "
            f"{subject} are wrong ({interval.level:.0%} confidence, over {interval.covers}; E >= I/2), if the task "
            "allows these inputs."
        )
    failed = _n_failed(clustering)
    do = "does" if failed == 1 else "do"
    said = (f"{failed} of {subject} {do} not load: a failure that is seen without a reference.",) if failed else ()
    compared = relation_in_words(relation)
    return *said, own, of_models[:1].upper() + of_models[1:], *([compared] if compared else [])


def spelled_database(arguments: str) -> str:
    """Return an input of a text-to-SQL task, ``({'book': [(1, 'Joe')]},)``, a line a row; else what it is."""
    try:
        (database,) = read_literal(arguments)
        return "\n".join(
            line
            for name, rows in database.items()
            for line in (
                f"{name}: {count_of(len(rows), 'row')}",
                *(f"    {write_literal(row)}" for row in rows),
            )
        )
    except (BadText, AttributeError, TypeError, ValueError):  # cut, or of another task
        return arguments


def spelled_text(literal: str) -> str:
    """Return the text that a script reads (a tuple of one literal) or writes (a literal); else what is there."""
    try:
        value = read_literal(literal)
    except BadText:  # cut
        return literal
    (found,) = value if isinstance(value, tuple) and len(value) == 1 else (value,)
    return found or "(empty)" if isinstance(found, str) else literal


def answer_in_words(kind: str, what: str, *, language: str) -> str:
    """Return an outcome in one line."""
    shown = spelled_text(what) if language == "stdin" and kind == "value" else what
    return shown if kind == "value" else f"{kind.replace('_', ' ')}: {shown}" if shown else kind.replace("_", " ")
