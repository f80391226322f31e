"""Words that tell the type of a value: methods, attributes, functions that take it, usual names of parameters."""

from collections.abc import Mapping
from typing import Final


def _by_word(table: Mapping[str, str]) -> dict[str, str]:
    return {word: kind for kind, words in table.items() for word in words.split()}


BY_METHOD: Final = _by_word(
    {
        "str": "split strip lower upper startswith endswith splitlines lstrip rstrip isdigit isalpha isalnum isupper "
        "islower isspace isnumeric isdecimal isidentifier title capitalize casefold swapcase encode format zfill "
        "ljust rjust center partition rpartition rsplit removeprefix removesuffix translate expandtabs find rfind "
        "istitle join",
        "dict": "items keys values get setdefault",
        "list": "append extend sort insert reverse",
        "set": "union intersection difference issubset issuperset symmetric_difference discard",
        "date": "isoformat weekday isoweekday toordinal isocalendar year month day",
        "datetime": "astimezone timestamp utcoffset date hour minute second tzinfo",
        "timedelta": "total_seconds",
        "pd.DataFrame": "groupby iloc loc columns iterrows itertuples sort_values drop_duplicates reset_index merge "
        "assign fillna dropna pivot_table set_index",
        "pl.DataFrame": "group_by with_columns",
        "np.ndarray": "shape ndim reshape dtype astype ravel flatten",
        "bytes": "decode",
        "Decimal": "quantize as_tuple is_nan",
        "float": "is_integer",
        "int": "bit_length bit_count",
        "Fraction": "numerator denominator",
        "Path": "read_text stem suffix joinpath",
    }
)
"""By a method or an attribute of the value."""
BY_CALL: Final = _by_word(
    {
        "str": "ord int.fromhex json.loads date.fromisoformat datetime.fromisoformat datetime.strptime Path Decimal "
        "datetime.datetime.strptime datetime.date.fromisoformat",
        "int": "range chr bin hex oct math.factorial math.gcd math.isqrt math.comb math.lcm",
        "number": "abs round divmod pow math.sqrt math.floor math.ceil math.log math.sin math.cos math.isclose "
        "math.isnan math.exp math.log10 math.log2 math.radians math.degrees",
        "iterable": "len sorted reversed enumerate set list tuple any all zip Counter max min iter frozenset "
        "collections.Counter itertools.groupby itertools.accumulate",
        "numbers": "sum statistics.mean statistics.median statistics.stdev math.prod math.fsum statistics.pstdev "
        "statistics.variance statistics.mode np.array np.asarray np.mean np.sum np.std np.median",
    }
)
"""By a function that takes the value."""
BY_NAME: Final = _by_word(
    {
        "str": "text s string name word line sentence phrase title message msg url path filename email pattern key "
        "code token prefix suffix separator sep delimiter char html markdown raw body",
        "int": "n k i j m count size length limit year month day age index width height depth start stop end number "
        "num step position steps total seconds minutes hours",
        "float": "x y z amount price rate ratio value weight percent temperature celsius fahrenheit radius distance "
        "tolerance principal",
        "list[int]": "numbers nums values items data array arr xs ys seq sequence elements lst scores",
        "list[str]": "words lines names strings texts tokens keys",
        "list[list[int]]": "matrix grid board",
        "list[tuple[int, int]]": "intervals ranges pairs edges points",
        "dict[str, int]": "mapping counts d dictionary config record",
        "bool": "flag strict verbose reverse inclusive",
    }
)
"""By the usual name of a parameter."""
TEXT_IS_SECOND: Final = frozenset(("re.match", "re.search", "re.findall", "re.fullmatch", "re.split", "re.finditer"))
