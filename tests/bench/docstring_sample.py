"""Draw public functions of installed packages by seed: `python -m tests.bench.docstring_sample [SEED]` prints names.

No text of a package is kept: a name and its version lead to the docstring, and a digest says that it is the same one.
The draw is stratified by group of packages and by whether the docstring has a word of `CONDITIONAL`; a group gives
its quota of either kind. Long docstrings are drawn as often as short ones.
"""

import argparse
import hashlib
import importlib
import inspect
import random
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from platform import python_version

CONDITIONAL = re.compile(
    r"\b(must|should|at least|at most|only|cannot|may not|can not|has to|have to|needs? to|non-?negative|positive|"
    r"non-?zero|non-?empty|between|(greater|less|smaller|larger|longer|shorter) than|in the (range|interval)|"
    r"one of|valid|invalid|allowed|required|requires?|expect(s|ed)|sorted|strictly|monotonic\w*|distinct|unique|"
    r"same (length|shape|size|number)|unless|raises?|assum(es|ed)|\w*Error)\b|\{['\"]",
    re.IGNORECASE,
)
"""Words of sentences that may state what an argument has to be; it only balances the draw, no label rests on it."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Packages drawn from together: their modules, and how many functions of either kind they give."""

    name: str
    modules: str
    quota: int


GROUPS = (
    Group(
        name="standard library",
        quota=35,
        modules="ast asyncio base64 binascii bisect builtins calendar codecs colorsys compileall configparser copy csv "
        "dataclasses decimal difflib email.utils enum filecmp fileinput fnmatch fractions functools gettext glob gzip "
        "hashlib heapq html imaplib inspect ipaddress itertools json keyword linecache locale math mimetypes ntpath "
        "operator os pickle pkgutil posixpath pprint quopri random re reprlib secrets shlex shutil signal socket "
        "sqlite3 ssl statistics string struct subprocess tarfile tempfile textwrap threading timeit tokenize traceback "
        "types unicodedata urllib.parse urllib.request uuid warnings weakref xml.sax.saxutils zipfile zlib",
    ),
    Group(
        name="numpy",
        quota=25,
        modules="numpy numpy.char numpy.fft numpy.lib.array_utils numpy.lib.format numpy.lib.stride_tricks "
        "numpy.linalg numpy.ma numpy.polynomial.chebyshev numpy.polynomial.hermite numpy.polynomial.laguerre "
        "numpy.polynomial.legendre numpy.polynomial.polynomial numpy.polynomial.polyutils numpy.random numpy.strings",
    ),
    Group(
        name="scipy",
        quota=25,
        modules="scipy.cluster.hierarchy scipy.cluster.vq scipy.constants scipy.differentiate scipy.fft scipy.fftpack "
        "scipy.integrate scipy.interpolate scipy.io scipy.linalg scipy.ndimage scipy.optimize scipy.signal "
        "scipy.signal.windows scipy.sparse scipy.sparse.csgraph scipy.sparse.linalg scipy.spatial "
        "scipy.spatial.distance scipy.special scipy.stats scipy.stats.contingency scipy.stats.mstats scipy.stats.qmc",
    ),
    Group(
        name="pandas",
        quota=9,
        modules="pandas pandas.api.extensions pandas.api.indexers pandas.api.types pandas.plotting pandas.testing "
        "pandas.tseries.frequencies",
    ),
    Group(name="polars", quota=23, modules="polars polars.datatypes polars.selectors polars.testing"),
    Group(
        name="others",
        quota=33,
        modules="PIL.Image PIL.ImageChops PIL.ImageColor PIL.ImageDraw PIL.ImageOps attr attr.validators babel.core "
        "babel.dates babel.lists babel.numbers babel.plural babel.units charset_normalizer click dask.bag dask.utils "
        "dateutil.easter dateutil.parser dateutil.tz dateutil.utils fsspec.utils hypothesis.strategies idna "
        "itsdangerous jmespath joblib json5 jsonschema lxml.etree markupsafe msgpack narwhals packaging.tags "
        "packaging.utils packaging.version platformdirs psutil pyarrow pydantic regex requests requests.utils rich "
        "sacrebleu soupsieve sqlglot tabulate tenacity toolz tornado.escape tornado.httputil tornado.util tqdm "
        "urllib3.util wcwidth webcolors werkzeug.http werkzeug.security werkzeug.urls werkzeug.utils wrapt xmltodict "
        "yarl",
    ),
)
DISTRIBUTIONS = {
    "PIL": "pillow",
    "attr": "attrs",
    "charset_normalizer": "charset-normalizer",
    "dateutil": "python-dateutil",
}
"""Import names that differ from the name under which the package is installed."""


@dataclass(frozen=True, kw_only=True)
class Docstring:
    """A public function with its docstring; ``digest``: the first eight hexadecimal digits of the text's SHA-256."""

    name: str
    group: str
    version: str
    digest: str
    text: str = field(repr=False)
    signature: inspect.Signature = field(repr=False)

    @property
    def conditional(self) -> bool:
        """Whether a word of the text may state what an argument has to be."""
        return CONDITIONAL.search(self.text) is not None


def installed_version(module: str, group: str) -> str:
    """Return the version of the package that a module belongs to; Python's own for the standard library."""
    root = module.split(".")[0]
    return python_version() if group == "standard library" else version(DISTRIBUTIONS.get(root, root))


def read_docstring(name: str, group: str) -> Docstring | None:
    """Return a function by its dotted name; None if it lacks a docstring of five words, a signature or a parameter."""
    module, _, function = name.rpartition(".")
    found = getattr(importlib.import_module(module), function, None)
    if inspect.isclass(found) or inspect.ismodule(found) or not callable(found):
        return None
    text = inspect.getdoc(found) or ""
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return None
    if len(text.split()) < 5 or not signature.parameters:
        return None
    own = str(getattr(found, "__module__", None) or "").split(".")[0].lstrip("_")
    if group != "standard library" and own != module.split(".")[0]:
        return None
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    release = installed_version(module, group)
    return Docstring(name=name, group=group, version=release, digest=digest, text=text, signature=signature)


def public_functions(group: Group) -> Iterator[Docstring]:
    """Yield the functions of a group, each docstring once, in the order of modules and names."""
    seen = set()
    for module in group.modules.split():
        loaded = importlib.import_module(module)
        listed = getattr(loaded, "__all__", None) or [name for name in dir(loaded) if not name.startswith("_")]
        for name in sorted(listed):
            found = read_docstring(f"{module}.{name}", group.name)
            if found and found.digest not in seen:
                seen.add(found.digest)
                yield found


def draw_docstrings(seed: int = 0) -> list[Docstring]:
    """Return the sample of a seed, sorted by group and name. Raises ValueError if a group has fewer than its quota."""
    drawn = []
    for group in GROUPS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # names on their way out of a package warn when looked up
            functions = list(public_functions(group))
        for conditional in (True, False):
            pool = [one for one in functions if one.conditional is conditional]
            drawn += random.Random(f"{seed}:{group.name}:{conditional}").sample(pool, group.quota)
    order = [group.name for group in GROUPS]
    return sorted(drawn, key=lambda one: (order.index(one.group), one.name))


def main() -> None:
    """Print the names of a sample with version and digest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    seed = parser.parse_args().seed
    for one in draw_docstrings(seed):
        print(one.name, one.version, one.digest, "conditional" if one.conditional else "other")


if __name__ == "__main__":
    main()
