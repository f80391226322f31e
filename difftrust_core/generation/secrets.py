"""Keep the secrets of the environment out of what is written or printed."""

import re
from collections.abc import Mapping, Sequence

HIDDEN = "[hidden]"
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH(?!OR)", re.IGNORECASE)
_SHORTEST = 12
"""Shorter values (``KEY_REPEAT=on``) are no keys, and hiding them would spoil programs."""
_WINDOW = 6
"""As few characters of a secret in a row as are hidden in an error: providers echo the beginning or end of a key."""
_LOOKS_SECRET = re.compile(r"(?i)\bbearer\s+\S+|\bsk-[\w\-*.]{4,}|(?<=[?&])[\w\-]*key=[^\s&]+|\b[A-Za-z0-9_\-]{40,}\b")
_LONGEST = 160
_READ = 4000
"""Characters of a message that are looked at; a whole web page may come."""


def known_secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of the environment that look like keys by their variable's name, the longest first."""
    values = {v.strip() for name, v in environment.items() if _SECRET_NAME.search(name)}
    return tuple(sorted((v for v in values if len(v) >= _SHORTEST), key=lambda v: (-len(v), v)))


def without_secrets(text: str, secrets: Sequence[str]) -> str:
    """Return ``text`` with every whole secret replaced; everything else stays to the letter."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def short_reason(message: str, secrets: Sequence[str]) -> str:
    """Return an error's message in one short line without keys, pieces of keys, or what looks like one."""
    text = _LOOKS_SECRET.sub(HIDDEN, without_secrets(message[:_READ], secrets))
    for secret in secrets:
        text = _without_pieces(text, secret)
    text = " ".join(text.split())
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _without_pieces(text: str, secret: str) -> str:
    pieces = {secret[i : i + _WINDOW] for i in range(len(secret) - _WINDOW + 1)}
    shown = [True] * len(text)
    for i in range(len(text) - _WINDOW + 1):
        if text[i : i + _WINDOW] in pieces:
            shown[i : i + _WINDOW] = [False] * _WINDOW
    return "".join(c if seen else "*" for c, seen in zip(text, shown, strict=True))
