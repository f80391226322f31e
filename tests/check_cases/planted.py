"""Faults that random inputs hardly ever meet, planted into plain functions: five kinds, eight of each."""

from dataclasses import dataclass
from pathlib import Path

_SIGNATURES = {
    "x": ("x: int", "x * 3 - 1"),
    "xs": ("xs: list[int]", "sum(xs)"),
    "text": ("text: str", "text.strip().upper()"),
    "words": ("words: list[str]", "' '.join(words)"),
    "xy": ("x: int, y: int", "x * 10 - y"),
    "xyz": ("x: int, y: int, z: int", "x + y * 2 + z * 3"),
    "data": ("data: bytes", "data.hex()"),
    "counts": ("counts: dict[str, int]", "sorted(counts.values())"),
    "ratio": ("ratio: float", "round(ratio * 8)"),
    "pairs": ("pairs: list[tuple[int, str]]", "[name for _, name in pairs]"),
}
_FAULTS = {
    "rare constant": (
        ("x", "x == 1017"),
        ("x", "x == -40961"),
        ("x", "x % 1000 == 999"),
        ("xs", "2718 in xs"),
        ("xy", "y == 86400"),
        ("text", "text == 'quit'"),
        ("words", "'--help' in words"),
        ("counts", "counts.get('total') == 77"),
    ),
    "substring": (
        ("text", "'://' in text"),
        ("text", "text.startswith('ab')"),
        ("text", "'\\t' in text"),
        ("text", "text.endswith('.gz')"),
        ("text", "'NaN' in text"),
        ("words", "any('@' in word for word in words)"),
        ("data", "b'\\r\\n' in data"),
        ("text", "text.count('--') == 1"),
    ),
    "equal elements": (
        ("xs", "len(xs) > 2 and len(set(xs)) == 1"),
        ("xs", "len(xs) > 3 and xs == xs[::-1]"),
        ("xy", "x == y"),
        ("xyz", "x == y == z"),
        ("words", "len(words) > 1 and words[0] == words[1]"),
        ("text", "len(text) > 2 and len(set(text)) == 1"),
        ("counts", "len(counts) > 1 and len(set(counts.values())) == 1"),
        ("pairs", "len(pairs) > 1 and pairs[0] == pairs[-1]"),
    ),
    "boundary": (
        ("x", "x == 255"),
        ("x", "x == 65536"),
        ("xs", "bool(xs) and max(xs) == 100"),
        ("xy", "x - y == 18"),
        ("ratio", "ratio == 0.75"),
        ("text", "len(text) == 8"),
        ("xs", "len(xs) == 0"),
        ("xy", "x == 0 and y == 0"),
    ),
    "length 13": (
        ("xs", "len(xs) == 13"),
        ("text", "len(text) == 13"),
        ("words", "len(words) == 13"),
        ("data", "len(data) == 13"),
        ("counts", "len(counts) == 13"),
        ("pairs", "len(pairs) == 13"),
        ("words", "any(len(word) == 13 for word in words)"),
        ("text", "len(text.split()) == 13"),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A function, and a copy of it that is wrong where a condition holds."""

    kind: str
    condition: str
    parameters: str
    body: str

    def write(self, folder: Path) -> tuple[str, Path]:
        """Write module and candidates; return what names the function, and the candidates' folder."""
        programs = folder / "candidates"
        programs.mkdir(parents=True)
        stub = f'def f({self.parameters}):\n    """Compute what the form asks for."""\n'
        (folder / "module.py").write_text(stub)
        sound = f"def f({self.parameters}):\n    return {self.body}\n"
        fault = f"    if {self.condition}:\n        return 'wrong'\n"
        (programs / "sound.py").write_text(sound)
        (programs / "faulty.py").write_text(sound.replace("    return", f"{fault}    return"))
        return f"{folder / 'module.py'}::f", programs


PLANTED = [
    Planted(kind=kind, condition=condition, parameters=_SIGNATURES[which][0], body=_SIGNATURES[which][1])
    for kind, faults in _FAULTS.items()
    for which, condition in faults
]
