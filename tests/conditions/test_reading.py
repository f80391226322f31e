"""What sentences of docstrings become: conditions on arguments, or sentences that are kept as unread."""

import ast
import re
from pathlib import Path

import pytest

from difftrust.conditions.reading import Reading, order_is_free, read_docstring
from difftrust.conditions.shapes import shape_of
from tests.support.stubs import report_of, returning


def reading(signature: str, docstring: str) -> Reading:
    stay, function = ast.parse(f"class Stay:\n    guest: str\n    nights: int\ndef f({signature}): ...").body
    assert isinstance(function, ast.FunctionDef)
    assert isinstance(stay, ast.ClassDef)
    defaults = [*[None] * (len(function.args.args) - len(function.args.defaults)), *function.args.defaults]
    pairs = zip(function.args.args, defaults, strict=True)
    return read_docstring(docstring, {a.arg: shape_of(a.annotation, default, {"Stay": stay}) for a, default in pairs})


STAYS = "all((len(x.guest) > 0 for x in xs)) and all((x.nights > 0 for x in xs))"
NIGHTS = "list([x.nights for x in xs])"
TWO_DOTS = "all((any((c != '.' for c in s[i:i + 2])) for i in range(len(s) - 2 + 1)))"
NO_HYPHENS = "all((c != '-' for c in s[:1])) and all((c != '-' for c in s[-1:]))"
SKIP = "not isinstance(mode, str) or mode in ('skip', 'raise')"
READ = [
    (
        "s: str",
        "Args:\n    s: Colour: a hash sign and six hex digits.",
        "re.fullmatch('#[0-9a-fA-F]{6}', s) is not None",
    ),
    ("s: str", "s consists of a letter and two digits.", "re.fullmatch('[A-Za-z][0-9]{2}', s) is not None"),
    ("s: str", "Args:\n    s: Must be ``'cpu'`` if passed.", "s == 'cpu'"),
    ("ohms: int", "Args:\n    ohms: Resistance, from 10 ohms to 99 ohms.", "10 <= ohms <= 99"),
    ("n: int", "Args:\n    n: Reading, an unsigned 16-bit number.", "0 <= n <= 2 ** 16 - 1"),
    ("n: int", "Args:\n    n: Empty files are skipped, so this is positive.", "n > 0"),
    ("first: int, n: int", "Args:\n    n: Last day, the same as ``first`` or later.", "n >= first"),
    (
        "xs: list[float]",
        "Args:\n    xs: Positive weights in kilograms, at least two.",
        "all((x > 0 for x in xs)) and len(xs) >= 2",
    ),
    ("mode", "Args:\n    mode: The case:\n\n        * `skip`: not.\n        * `raise`: an error.", SKIP),
    ("names", "Args:\n    names: One or more column names.", "not isinstance(names, list | tuple) or len(names) >= 1"),
    ("names: str", "Args:\n    names: One or more column names.", "len(names) >= 1"),
    ("at: datetime", "Args:\n    at: A timezone-aware datetime.", "at.tzinfo is not None"),
    ("at: datetime", "Args:\n    at: Point in time, without time zone.", "at.tzinfo is None"),
    ("s: str", "s must not start or end with a hyphen.", NO_HYPHENS),
    ("xs: list[int]", "Args:\n    xs: Must contain at least three distinct numbers.", "len(set(xs)) >= 3"),
    ("boats: list[str]", "Sail. A fleet must have at least two boats.", "len(boats) >= 2"),
    ("xs: list[str]", "Args:\n    xs: All names must differ.", "all((a not in xs[:i] for i, a in enumerate(xs)))"),
    ("n: int", "Args:\n    n: Copies; the press only accepts 2, 4 or 8.", "n in (2, 4, 8)"),
    ("xs: list[int], k: int", "k must not exceed the number of entries in xs.", "k <= len(xs)"),
    ("xs: list[int]", "Args:\n    xs: Ages. They must rise strictly.", "all((a < b for a, b in zip(xs, xs[1:])))"),
    ("n: int", "Args:\n    n: Values below 3 raise a ValueError.", "n >= 3"),
    ("s: str", "Args:\n    s: It must not be empty but may be of any length.", "len(s) > 0"),
    ("s: str", "Args:\n    s: Only the characters 0-7 are accepted.", "all(('0' <= c <= '7' for c in s))"),
    ("s: str", "s must not have leading or trailing spaces.", "all((not c.isspace() for c in s[:1] + s[-1:]))"),
    ("n: int", "Anything that is not even is rejected.", "n % 2 == 0"),
    ("n: int", "n is used as a count and so must be positive.", "n > 0"),
    ("x: float", "NaN is not allowed.", "not math.isnan(x)"),
    ("jobs: list, ends: list", "There is one job for each end.", "len(jobs) == len(ends)"),
    ("n: int", "Args:\n    n: A month has 31 days, so anything from 0 to 31 is valid.", "0 <= n <= 31"),
    ("n: int", "Args:\n    n: Not a price. It may not be negative, nor higher than 9.", "n >= 0 and n <= 9"),
    ("s: str", "Parse a time given as HH:MM.", "re.fullmatch('(?:[01]\\\\d|2[0-3]):[0-5]\\\\d', s) is not None"),
    ("m: int", "Args:\n    m: The weekday, 0 for Monday to 6 for Sunday.", "0 <= m <= 6"),
    ("m: int", "m counts from 1 for January to 12 for December.", "1 <= m <= 12"),
    ("lat: float, lon: float", "Latitude is given in degrees from -90 to 90.", "-90 <= lat <= 90"),
    ("n: int = None", "Args:\n    n: a positive integer, optional", "n is None or n > 0"),
    ("p: float", ":param p: probability between 0 and 1, exclusive", "0 < p < 1"),
    ("a: list, b: list", "`a` and `b` must have the same length.", "len(a) == len(b)"),
    ("xs: list[int], ys: list[int]", "Args:\n    ys: Must have the same length as `xs`.", "len(ys) == len(xs)"),
    ("xs: list[int]", "Args:\n    xs: Ports; each must be in the range 1-9.", "all((1 <= x <= 9 for x in xs))"),
    ("n: int", "Args:\n    n: From 0 up to two million (2,000,000).", "0 <= n <= 2000000"),
    (
        "head: list[str]",
        "Args:\n    head: Names must be unique.",
        "all((a not in head[:i] for i, a in enumerate(head)))",
    ),
    ("a: dict, b: dict", "The two mappings must not have any keys in common.", "all((x not in b for x in a))"),
    ("n: int", "Args:\n    n: Between one hundred and two hundred.", "100 <= n <= 200"),
    ("n: int", "Args:\n    n: At most two hundred and fifty.", "n <= 250"),
    ("a: list, b: list", "a and b must be disjoint.", "all((x not in b for x in a))"),
    ("s: str", "s must consist only of digits and spaces.", "all((c in '0123456789' or c == ' ' for c in s))"),
    ("s: str", "s must not end with '.'.", "not s.endswith('.')"),
    (
        "mode: str",
        "Args:\n    mode: Allowed values are:\n\n        - ``'r'``: read\n        - ``'w'``: write",
        "mode in ('r', 'w')",
    ),
    ("form, s", "Tell which. Valid values for form are 'NFC' and 'NFD'.", "form in ('NFC', 'NFD')"),
    ("a, b", "Parameters\n----------\na, b : array_like\n    Must have the same shape.", "a.shape == b.shape"),
    ("n: int", "Args:\n    n: Positive number of samples to draw, e.g. 5.", "n > 0"),
    ("s: str", "s is made of the capital letters A to F only.", "all(('A' <= c <= 'F' for c in s))"),
    ("deck: list", "Make sure that the number of cards is even.", "len(deck) % 2 == 0"),
    ("a: int = None, b: int = None", "Exactly one of ``a`` and ``b`` is given.", "(a is None) != (b is None)"),
    ("xs: list[int]", "The result is undefined for an empty list.", "len(xs) > 0"),
    ("d: dict", "Join a d, which always has the keys first and last.", "set(('first', 'last')) <= set(d)"),
    (
        "n: int | str",
        "Parameters\n----------\nn : int or str\n    Day, ranging from 1-31.",
        "isinstance(n, str) or 1 <= n <= 31",
    ),
    ("mode: str", "Parameters\n----------\nmode : {'r', 'w'}, optional\n    How.", "mode in ('r', 'w')"),
    ("amount: float", "Round the amount, which is never negative, to two digits.", "amount >= 0"),
    ("s: str, t: str", "Find s. It is an error to pass an s longer than t.", "len(s) <= len(t)"),
    ("xs: list[Stay]", "Each visit has a non-empty guest and nights > 0.", STAYS),
    ("xs: list[Stay]", "Args:\n    xs: stays, sorted by nights", f"{NIGHTS} == sorted({NIGHTS[5:-1]})"),
    ("xs: dict[str, Stay]", "Nights are at least 1.", "all((x.nights >= 1 for x in xs.values()))"),
    (
        "xs: list[tuple[int, int]]",
        "Pairs (a, b). No pair has a after b. a is not negative.",
        "all((x[0] >= 0 for x in xs))",
    ),
    ("first_day: date, to: date", "The day is on or before to.", "first_day <= to"),
    ("start: date, end: date", "No booking ends before it starts.", "end >= start"),
    ("p: int", "The p is a percentage between 0 and 100 and is rounded down.", "0 <= p <= 100"),
    ("xs: list[int]", "Args:\n    xs: in cents, never below zero", "all((x >= 0 for x in xs))"),
    ("s: str", "s never contains two dots in a row.", TWO_DOTS),
    ("d: dict[str, int]", "Keys are lower case.", "all((x == x.lower() for x in d))"),
    ("grid: list[list[int]], top: int", "top is less than the number of rows.", "top < len(grid)"),
    ("a: int = None, b: int = None", "At least one of a and b is given.", "a is not None or b is not None"),
    ("n: int, floor: int", "Neither n nor floor is negative.", "n >= 0 and floor >= 0"),
    ("some: list[int], known: list[int]", "Needs set(some) <= set(known).", "set(some) <= set(known)"),
    (
        "xs: list[tuple[int, int]]",
        "Each trip is a pair (out, back) whose out lies before its back.",
        "all((x[0] < x[1] for x in xs))",
    ),
    ("s: str", "s contains letters and spaces only.", "all((c.isalpha() or c == ' ' for c in s))"),
    ("xs: list[int]", "Args:\n    xs: Knots, at least 3.", "all((x >= 3 for x in xs))"),
    ("turn: float", "Args:\n    turn: An angle, normalised to -180 <= angle < 180.", "-180 <= turn < 180"),
    ("times: list[int]", "Expects times in chronological order.", "list(times) == sorted(times)"),
    ("tills: int", "Args:\n    tills: Number of tills. There must be at least one.", "tills >= 1"),
    ("n: int", "Args:\n    n: Must not be negative; 0 means that nothing is kept.", "n >= 0"),
    ("s: str", "Args:\n    s: Single character used for padding.", "len(s) == 1"),
    ("a: int, b: int, c: int", "The a, b and c are positive.", "a > 0 and b > 0 and (c > 0)"),
    ("a: int, b: int", "a and b are sides, all of them positive.", "a > 0 and b > 0"),
    ("xs: list[int], n: int", "Args:\n    n: Step. The number of items must be a multiple of it.", "len(xs) % n == 0"),
    (
        "d: dict[str, list[str]]",
        "Args:\n    d: Names, without duplicates.",
        "all((all((a not in x[:i] for i, a in enumerate(x))) for x in d.values()))",
    ),
    ("text: str, limit: int, marker: str", "The limit, in characters, must be at least 3.", "limit >= 3"),
    ("wait_seconds: float", "Args:\n    wait_seconds: At most 2 hours.", "wait_seconds <= 7200"),
    ("ms: int", "Args:\n    ms: Time in milliseconds, less than 1.5 hours.", "ms < 5400000"),
    ("m: int", "Args:\n    m: 1 for January ... 12 for December.", "1 <= m <= 12"),
    ("first: int, last: int", "First must not be greater than last.", "first <= last"),
    ("first: str", "Args:\n    first: First of all names, in lowercase.", "first == first.lower()"),
    ("xs: list[int]", "Args:\n    xs: Sums. All xs (in cents) are positive.", "all((x > 0 for x in xs))"),
    (
        "stock: dict[str, int], prices: dict[str, int]",
        "Each article of stock must have a price.",
        "set(stock) <= set(prices)",
    ),
    ("xs: list[int]", "Args:\n    xs: Prices, lowest first.", "list(xs) == sorted(xs)"),
    ("n: int", "An n other than 1, 2 or 4 is a programming error.", "n in (1, 2, 4)"),
    ("due: date", "Args:\n    due: Its year must be from 1970 to 2037.", "1970 <= due.year <= 2037"),
    ("due: date", "due must be a weekday.", "due.weekday() < 5"),
    ("a: date, b: date", "a and b must be at most 30 days apart.", "abs((a - b).days) <= 30"),
    ("xs: list[Stay]", "All xs must have the same guest.", "len(set([x.guest for x in xs])) <= 1"),
    ("d: dict[str, int], e: dict[str, int]", "The keys of d must be among the keys of e.", "set(d) <= set(e)"),
    ("n: int, xs: list[int]", "n must not be less than the first item of xs.", "n >= xs[0]"),
    (
        "d: dict[str, str]",
        "d must be unique.",
        "all((a not in list(d.values())[:i] for i, a in enumerate(list(d.values()))))",
    ),
    ("xs: list[int]", "Args:\n    xs: Non-negative numbers including zero.", "all((x >= 0 for x in xs))"),
    ("s: str, n: int", "Args:\n    n: Share of the s. It lies between 0 and 9.", "0 <= n <= 9"),
    ("n: int", "n must be positive, and since carts are full it is easy to cut.", "n > 0"),
    ("n: int", "The n can't be negative - it's a number of boxes, only.", "n >= 0"),
    (
        "xs: list[str]",
        "Labels must be unique; if one is missing, skip it.",
        "all((a not in xs[:i] for i, a in enumerate(xs)))",
    ),
    (
        "xs: list[tuple[int, int]]",
        "Args:\n    xs: Spans ``(lo, hi)``. A lo must not come after its hi.",
        "all((x[0] <= x[1] for x in xs))",
    ),
    (
        "spots: list[str], ways: list[tuple[str, str]]",
        "Args:\n    ways: Both ends must be in ``spots``.",
        "all((all((y in spots for y in x)) for x in ways))",
    ),
    (
        "ways: list[tuple[str, str]]",
        "Args:\n    ways: Pairs. There are no self-loops.",
        "all((x[0] != x[1] for x in ways))",
    ),
    ("a: int, b: int", "a and b must be coprime.", "math.gcd(a, b) == 1"),
    ("xs: list[int], k: int", "Args:\n    k: No longer than the list itself.", "k <= len(xs)"),
    ("coins: int", "At most 20 coins are allowed.", "coins <= 20"),
    ("xs: list[int]", "Args:\n    xs: Marks. Two marks are the minimum, since one has no spread.", "len(xs) >= 2"),
    ("n: int", "Args:\n    n: Restricted to 1 or 2.", "n in (1, 2)"),
    ("n: int", "Args:\n    n: Limited to 100 to save time.", "n <= 100"),
    ("a: list[int], b: list[int]", "Args:\n    b: Prices, parallel to ``a``.", "len(b) == len(a)"),
    ("xs: list[int], at: float", "Args:\n    at: Place within ``[xs[0], xs[-1])``.", "xs[0] <= at < xs[-1]"),
    (
        "t: str",
        "Args:\n    t: A time in 24-hour ``HH:MM`` notation.",
        "re.fullmatch('(?:[01]\\\\d|2[0-3]):[0-5]\\\\d', t) is not None",
    ),
    ("p: float", "Args:\n    p: Random number in [0, 1), typically drawn before.", "0 <= p < 1"),
    ("p: float", "The p won't be negative.", "p >= 0"),
    ("p: float", "The p isn’t negative.", "p >= 0"),
    ("n: int | str", "Args:\n    n: column or literal, ranging from 1-12.", "isinstance(n, str) or 1 <= n <= 12"),
]


@pytest.mark.parametrize(("signature", "docstring", "condition"), READ, ids=[row[2] for row in READ])
def test_a_sentence_becomes_a_condition(signature: str, docstring: str, condition: str) -> None:
    found = reading(signature, docstring)
    assert [each.text for each in found.predicates] == [condition]
    assert found.unread == ()
    assert {*re.findall(r"\w+", found.predicates[0].sentence)} <= {*re.findall(r"\w+", docstring)}


SILENT = [
    ("express: bool", "Return the price.\n\nExpress adds 4.00."),
    ("a: int, b: int", "Each item costs a, but never more than b."),
    ("xs: list[int]", "Return the first of xs, or None where xs is an empty list."),
    ("xs: list[int]", "Args:\n    xs: The numbers to be sorted."),
    ("price: int", "The price is in tenths of a cent, as on the pump: 1749 is 1.749 Euro."),
    ("text: str", "Turn a German date into an ISO date."),
    ("d: str", "Return the ISO date string of a German one."),
    ("xs: list[int]", "Args:\n    xs: Numbers to sort, largest first."),
    ("fee: int", "Parking fee. Longer ones cost 200 an hour since the fee, at most 1500."),
    ("xs: list[int]", "Cut xs into groups. The middle of a group with an odd number of items is left."),
    ("n: int", "Return a positive integer."),
    ("xs: list[int]", "Add them. The xs need not be sorted."),
    ("n: int", "Args:\n    n: The rate. With 0 you get a copy."),
    ("n: int", "Args:\n    n: Copies ordered."),
    ("xs: list[str]", "Args:\n    xs: The names, oldest first."),
    ("i, j", "Return the entry i-j of the table, an atom."),
    ("n: int", "Return 0 for a negative n."),
    ("xs: list[int]", "Return the sorted numbers; the result is sorted."),
    ("xs: list[int]", "Return the first positive number, or None if xs is empty."),
    ("s: str", "Tell whether a text is a valid date. The text is not empty."),
    ("xs: list[int]", "Return the squares of the numbers in the list that are odd."),
    ("text: str, width: int", "Pad text up to width; a longer text stays as it is."),
    ("s: str", "Hashtags of s, in lower case and without the sign."),
    ("xs: list[int]", "Return the median. Of an even number of xs the lower of the two in the middle."),
    ("xs: list[Stay]", "Sort by nights. The result has no two stays with the same guest."),
    ("pages: int", "Price of a copy. Up to ten pages cost 5, more than ten cost 4."),
    ("pages: int", "Price of a copy. It is 5 for up to ten pages and 4 for more than ten pages."),
    ("xs: list[int], size: int", "Group xs. The order of the result is not guaranteed."),
    ("xs: list[int]", "Sort xs. Either way, xs itself is left as it is."),
    ("s: str, width: int", "Pad s. When width is not specified, 80 is taken."),
    ("n: int", "Args:\n    n: A count. It need not be even."),
    ("xs: list[int]", "Args:\n    xs: Fees. Zeros and duplicates make no difference."),
    ("s: str", "Args:\n    s: A tag. The empty tag changes nothing."),
    ("up: bool", "Args:\n    up: Whether to take the square of it."),
    ("s: str", "Is it a good password? Passwords have at least 8 characters and contain a digit."),
    ("n: int", "Args:\n    n: The amount, negative for debts."),
    ("xs: list[int]", "Negative entries are debts and reduce the total."),
    ("xs: list[int]", "Sum. Repeated numbers count once each."),
    ("xs: list[int], k: int", "Cut xs. With 1 you get a copy."),
    ("n: int", "Args:\n    n: The shift. Any integer will do."),
    (
        "xs: list",
        "Count.\n\nExample 1:\n    Input:\n        xs : [[0, 1], [1, 1]]\n    Output: 6\n\nExample 2:\n    xs : [[1]]",
    ),
    ("n: int", "Args:\n    n: Income. Negative values (losses) are handled as 0."),
]


NO_CONDITIONS = [
    *SILENT,
    ("tree: dict[str, list[str]]", "Args:\n    tree: There is exactly one root."),
    ("tier: int", "Args:\n    tier: There are six tiers."),
    ("rows: list[list[str]]", "Add one column to the rows."),
    ("floor: float, trace: list[float]", "Args:\n    floor: Same units as trace."),
    ("plate: list[list[int]]", "Args:\n    plate: The wells, 8 rows of 12 wells each."),
    ("n: int", "Args:\n    n: Our boxes have 25, 81 or 100 places."),
    ("n: int", "Args:\n    n: Rounded to tens, 10, 20 and so forth."),
    ("ohms: int", "Args:\n    ohms: Resistance, from 10 ohms to 99 gigaohms."),
    ("weight: int", "Args:\n    weight: Weight, at least 5 g and at most 2 kg."),
    ("text: str", "Args:\n    text: Set to None to turn off special escaping of quotes."),
    ("mode", "Args:\n    mode: You can also give:\n\n        * 'skip'\n        * 'raise'\n"),
    ("mode", "Args:\n    mode: Give a:\n\n        * `str`: one.\n        * `list`: many.\n"),
    ("xs: list[tuple[int, int]]", "Args:\n    xs: Pairs of net amount and rate (net, rate)."),
    ("n: int", "Args:\n    n: It would be odd to ask for more than there were, so this stays within the list."),
    ("text: str, limit: int, marker: str", "The result, marker included, has exactly ``limit`` characters."),
    (
        "text: str, limit: int, marker: str",
        "Cut the text; the result, marker included, has at most ``limit`` characters then.",
    ),
    ("text: str, limit: int, marker: str", "The returned text, with the marker, has at most ``limit`` characters."),
]


@pytest.mark.parametrize(("signature", "docstring"), NO_CONDITIONS, ids=[row[1][:40] for row in NO_CONDITIONS])
def test_what_a_function_does_is_no_condition(signature: str, docstring: str) -> None:
    assert reading(signature, docstring).predicates == ()


def test_few_sentences_on_what_a_function_does_are_kept_as_unread() -> None:
    kept = [docstring for signature, docstring in SILENT if reading(signature, docstring).unread]
    assert len(kept) <= len(SILENT) // 10


UNREAD = [
    ("s: str", "Args:\n    s: Only the letters a to z and apostrophes.", {"s"}),
    ("xs: list[int]", "Args:\n    xs: Sizes; the caller has thrown away everything under 100.", {"xs"}),
    ("s: str", "Args:\n    s: Only letters and at most one hyphen.", {"s"}),
    ("s: str", "Args:\n    s: Two letters, a dash, four figures.", {"s"}),
    ("s: str", "Supply between 2 and 256 of them, with no character repeated.", {"s"}),
    ("xs: list[str]", "Args:\n    xs: Words, compared in lowercase.", {"xs"}),
    ("price: int", "The price is in cents; 250 is 2.5 Euro, and 300 is the highest.", {"price"}),
    ("xs: list[int]", "Args:\n    xs: Hours. The same hour may not be listed twice.", {"xs"}),
    ("s: str", "Args:\n    s: The title, limited to 80 characters.", {"s"}),
    ("n: int, m: int, k: int", "Args:\n    n: A side. Both must be positive.", {"n"}),
    ("s: str", "s must be a roman numeral.", {"s"}),
    ("n: int", "Args:\n    n: must be positive unless it is the last", {"n"}),
    ("xs: list[int], k: int", "xs must be a heap.", {"xs"}),
    ("xs: list[int] | int", "xs must be positive.", {"xs"}),
    ("xs: list[int]", "Order the nodes. The graph has no cycles.", {"xs"}),
    ("code: str", "Look up the code, three letters with a dot between.", {"code"}),
    ("xs: list[int]", "Level the xs. The first reading is always there.", {"xs"}),
    ("xs: dict", "Flatten the xs. Section names and option names are non-empty.", {"xs"}),
    ("n: int, at: str", "Args:\n    n: Places.\n    at: The cell, in the same notation.", {"at"}),
    ("n: int", "Args:\n    n: Seats. Nobody books more than the hall has.", {"n"}),
    ("n: int, size: int", "Args:\n    n: The seat. It fits into ``size``.", {"n", "size"}),
    ("s: str", "Look it up. ``s`` names a square, a letter and a digit.", {"s"}),
    ("people: int", "Find the lift. A lift carries up to eight people.", {"people"}),
    ("stops: list[int]", "Length of a tour. A tour consists of three stops or more.", {"stops"}),
    ("a: str, b: str", "Tell if they meet. `a` and `b` must be roads, no matter whether of one town.", {"a", "b"}),
    ("n: int", "Half of n. It is a whole number; one half may go either way.", {"n"}),
    ("w: int, h: int", "Slope.\n\nReturns:\n    The angle, accurate to three decimals.", {"w", "h"}),
    ("xs: list[int]", "The most frequent. Which of several it is, is not specified.", {"xs"}),
    ("pages: int", "Choose a tray. The printer takes jobs of 1 to 99 pages.", {"pages"}),
    ("xs: list[list[int]]", "Args:\n    xs: Distances. The diagonal has to be zero.", {"xs"}),
    ("xs: list[str]", "Args:\n    xs: Stops. The search is binary.", {"xs"}),
    ("at: tuple[int, int]", "Args:\n    at: Where. Rows go from 0 to 7, files from 1 to 8.", {"at"}),
    ("s: str", "Args:\n    s: The version, each of them one or more digits.", {"s"}),
]


def test_what_stands_under_a_heading_of_its_own_is_read() -> None:
    text = "Find it.\n\nConstraints:\n    - 1 <= n <= 9\n    - n is odd\n\nReturns:\n    n must be 4.\n"
    assert {each.text for each in reading("n: int", text).predicates} == {"1 <= n <= 9", "n % 2 == 1"}


@pytest.mark.parametrize(
    ("line", "conditions"),
    [
        ("2 <= len(xs) <= 10^4", ["2 <= len(xs) <= 10 ** 4"]),
        ("1 <= xs.length <= 100", ["1 <= len(xs) <= 100"]),
        ("-10^9 <= xs[i] <= 10^9", ["all((-10 ** 9 <= x <= 10 ** 9 for x in xs))"]),
        ("0 <= rows[i][j] < n", ["all((all((0 <= y < n for y in x)) for x in rows))"]),
        ("1 <= n, m <= 100", ["1 <= n <= 100", "1 <= m <= 100"]),
        ("`rows[i].length == 2`", ["all((len(x) == 2 for x in rows))"]),
        ("`1 <= xs.length, rows.length <= 5`", ["1 <= len(xs) <= 5 and 1 <= len(rows) <= 5"]),
        ("0 <= n <= 2^31 - 1", ["0 <= n <= 2 ** 31 - 1"]),
        ("xs[n] > 0", ["xs[n] > 0"]),
    ],
)
def test_bounds_are_read_as_mathematics_writes_them(line: str, conditions: list[str]) -> None:
    for bullet in ("    - ", "* "):
        text = f"Find it.\n\nConstraints:\n{bullet}{line}\n"
        found = reading("xs: list[int], rows: list[list[int]], n: int, m: int", text)
        assert ([each.text for each in found.predicates], found.unread) == (conditions, ())


UNNOTICED = {
    "The price is in cents; 250 is 2.5 Euro, and 300 is the highest.",
    "Look up the code, three letters with a dot between.",
    "Level the xs. The first reading is always there.",
    "Args:\n    xs: Stops. The search is binary.",
}
"""By their words these limit nothing."""


@pytest.mark.parametrize(("signature", "docstring", "names"), UNREAD, ids=[row[1][-30:] for row in UNREAD])
def test_a_sentence_that_is_not_understood_is_kept(signature: str, docstring: str, names: set[str]) -> None:
    found = reading(signature, docstring)
    assert found.predicates == ()
    assert [each.names for each in found.unread] == ([names] if docstring not in UNNOTICED else [])


@pytest.mark.parametrize(
    ("signature", "docstring", "read"),
    [
        ("age: int", "Args:\n    age: Age in years, not negative, and below the last limit.", "age >= 0"),
        ("a: date, b: date", "b must be later than a, and a stay lasts 30 nights at most.", "b > a"),
        ("n: int", "Args:\n    n: Positive, and no word is longer than that.", "n > 0"),
    ],
)
def test_what_follows_a_condition_that_is_read_is_kept(signature: str, docstring: str, read: str) -> None:
    found = reading(signature, docstring)
    assert [each.text for each in found.predicates] == [read]
    assert len(found.unread) == 1


@pytest.mark.parametrize(("beside", "read"), [("left", ["side in ('left', 'right')"]), ("middle", [])])
def test_choices_are_complete_unless_a_sentence_that_is_not_read_names_another(beside: str, read: list[str]) -> None:
    of_it = f"It must be as in f (``side='right'``) and g (``side='{beside}'``)."
    found = reading("side", f"Cut.\n\nParameters\n----------\nside : {{'left', 'right'}}\n\nNotes\n-----\n{of_it}")
    assert [each.text for each in found.predicates] == read
    assert [each.text for each in found.unread] == [of_it]


def test_what_is_said_of_one_parameter_holds_of_the_next_that_is_the_same() -> None:
    text = "Args:\n    a: A part, 0 <= part <= 1.\n    b: The same for the other half."
    found = reading("a: float, b: float", text)
    assert [each.text for each in found.predicates] == ["0 <= a <= 1", "0 <= b <= 1"]
    assert found.unread == ()
    assert [each.names for each in reading("a: float, b: list[float]", text).unread] == [{"b"}]


ORIGINS = [
    # What may be said of a result is only perhaps said of the argument in it.
    ("n: int", "The square of n, at most 100.", {"n <= 100": "perhaps"}),
    ("n: int", "Return when it is paid (n is zero or less).", {"n <= 0": "perhaps"}),
    (
        "s: str",
        "Args:\n    s: Text of which only letters and digits are kept.",
        {"all((c.isalpha() for c in s))": "perhaps"},
    ),
    ("n: int, m: int", "Return what is left of m after n, never negative.", {"n >= 0": "perhaps"}),
    (
        "m: list[int], xs: list[int]",
        "Items in m but not in xs, each once, in ascending order.",
        {"list(xs) == sorted(xs)": "perhaps"},
    ),
    ("n: int", "Return the factorial of n, a non-negative integer.", {"n >= 0": "docstring"}),
    # So is what is said of a noun that names no parameter, or of some of a list.
    (
        "cents: int, pieces: int",
        "Prices can't be negative and there is at least one piece.",
        {"cents >= 0": "perhaps", "pieces >= 1": "docstring"},
    ),
    ("seconds: list[int]", "Add up. A playlist has at least one song.", {"len(seconds) >= 1": "perhaps"}),
    ("query: str", "Read a filter. Field and value are never empty.", {"len(query) > 0": "perhaps"}),
    ("times: list[int]", "Nearest two times.", {"len(times) == 2": "perhaps"}),
    (
        "n: int",
        "Args:\n    n: at most 9\n\nRaises:\n    ValueError: If n is negative.",
        {"n <= 9": "docstring", "n >= 0": "raises"},
    ),
]


@pytest.mark.parametrize(("signature", "docstring", "origins"), ORIGINS, ids=[row[1][:40] for row in ORIGINS])
def test_a_condition_says_where_it_comes_from(signature: str, docstring: str, origins: dict[str, str]) -> None:
    assert {each.text: each.origin for each in reading(signature, docstring).predicates} == origins


ORDERS = {
    "Sort.\n\nReturns:\n    The words. No order is guaranteed.": True,
    "Sort.\n\nReturns:\n    The words. Callers must not rely on the order.": True,
    "Sort.\n\nReturns:\n    The words. Order is not important.": True,
    "Sort. The result is unordered.": True,
    "Return the unique items in any order.": True,
    "Return pairs; the order of the result does not matter.": True,
    "Start and end may be given in any order.": False,
    "Return the items in ascending order.": False,
}


@pytest.mark.parametrize("docstring", ORDERS)
def test_an_order_of_results_may_be_left_open(docstring: str) -> None:
    assert bool(order_is_free(docstring)) is ORDERS[docstring]


ROMAN = 'def value(text: str) -> int:\n    """Return how long it is. text must be a roman numeral.\n\n    {}    """\n'
LENGTH = "def value(text):\n    return len(text)\n"
HALVES = returning("half(n)", "n // 2", "-(-n // 2)")


def test_a_disagreement_that_an_unread_sentence_may_rule_out_is_undecided(tmp_path: Path) -> None:
    other = "def value(text):\n    return len(text) if set(text) <= set('IVX') else 0\n"
    report = report_of(tmp_path, ROMAN.format(">>> value('IX')\n    2\n"), (LENGTH, other))
    assert report.verdict == "undecided"
    assert "text must be a roman numeral." in report.undecided[0].why
    assert "--assume" in report.next_step
    assert report.validation[0].doubt.startswith("not read as a condition")


def test_a_difference_that_the_docstring_may_leave_open_is_undecided_and_told_as_such(tmp_path: Path) -> None:
    stub = 'def half(n: int) -> int:\n    """Return half of n, a whole number; one half may go either way."""\n'
    (doubt,) = report_of(tmp_path, stub, HALVES).undecided[:1]
    assert doubt.why.startswith("candidates differ, but only where the docstring may leave open what comes back")
    assert 'one half may go either way."' in doubt.why


def test_a_disagreement_on_inputs_like_the_examples_is_one_whatever_is_unread(tmp_path: Path) -> None:
    other = "def value(text):\n    return len(text) - (text[-1:] == 'V')\n"
    examples = ">>> value('IX')\n    2\n    >>> value('VI')\n    2\n    >>> value('XI')\n    2\n"
    report = report_of(tmp_path, ROMAN.format(examples), (LENGTH, other))
    assert report.verdict in ("incoherent", "disagreement found")


def test_a_read_condition_leaves_inputs_out_and_is_said(tmp_path: Path) -> None:
    stub = 'def half(n: int) -> int:\n    """Return half of an even number.\n\n    n must be even.\n    """\n'
    report = report_of(tmp_path, stub, HALVES)
    assert report.verdict == "coherent"
    assert any(note.startswith("condition read: n % 2 == 0") for note in report.notes)
