"""A board as JSON: questions go on in another process, or on a page, without executing anything again."""

from typing import Any

from difftrust_core.base.records import Kind, Outcome
from difftrust_core.checks.answers import Answers
from difftrust_core.checks.questions.board import Asked, Board
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.equality import Comparison, Equality


def board_as_json(board: Board) -> dict[str, Any]:
    """Return all of a board as JSON has it, outcomes by the name of their kind."""
    comparison = board.answers.comparison
    return {
        "entry_point": board.entry_point,
        "codes": list(board.codes),
        "names": [list(names) for names in board.names],
        "asked": [
            {
                "arguments": each.arguments,
                "outcomes": [[Kind(kind).name.lower(), text] for kind, text in each.outcomes],
                "doubt": each.doubt,
                "condition": each.condition,
            }
            for each in board.asked
        ],
        "equality": str(comparison.equality),
        "tolerance": comparison.tolerance,
        "documented": sorted(board.answers.documented),
    }


def board_of_json(written: Any) -> Board:
    """Return the board that ``board_as_json`` wrote. Raises WrongUsage for anything else."""
    try:
        names = tuple(tuple(str(name) for name in own) for own in written["names"])
        asked = tuple(
            Asked(
                arguments=str(each["arguments"]),
                outcomes=tuple(_outcome(kind, text) for kind, text in each["outcomes"]),
                doubt=bool(each["doubt"]),
                condition=str(each["condition"]),
            )
            for each in written["asked"]
        )
        comparison = Comparison(Equality(written["equality"]), tolerance=float(written["tolerance"]))
        answers = Answers(comparison, [str(name) for name in written["documented"]])
        codes = tuple(str(code) for code in written["codes"])
        entry_point = str(written["entry_point"])
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise WrongUsage(f"expected questions as a check writes them, got others ({type(e).__name__})") from None
    if len(names) != len(codes) or any(len(each.outcomes) != len(codes) for each in asked):
        raise WrongUsage(f"expected an outcome of each of {len(codes)} programs on each input, some lack; check again")
    return Board(entry_point=entry_point, codes=codes, names=names, asked=asked, answers=answers)


def _outcome(kind: str, text: str) -> Outcome:
    return Kind[str(kind).upper()], str(text)
