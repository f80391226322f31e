"""What every number in a store depends on, as its settings file; and nothing else."""

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from difftrust_core.exceptions import BadStore, WrongUsage
from difftrust_core.seals import seal_words, write_whole

SETTINGS_FILE = "difftrust-store.json"
FORMAT = 1
VALIDITIES = ("reference", "quorum", "all")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every number in a store depends on, fixed when the store is first executed."""

    seed: int = 0
    validity: str = "reference"
    tables: tuple[str, ...] | None = None
    """The tables that are here; None: all. A results store holds a few (``schemas.RESULT_TABLES``)."""

    def __post_init__(self) -> None:
        if self.tables is not None:
            object.__setattr__(self, "tables", tuple(self.tables))  # JSON has lists


def load_settings(root: Path) -> Settings:
    """Return the settings of the store in ``root``. Raises BadStore if they cannot be read."""
    path = root / SETTINGS_FILE
    try:
        state = path.stat()
    except OSError as e:
        raise _bad(path, e) from None
    return _load(path, state.st_ino, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=16)
def _load(path: Path, *state: int) -> Settings:
    del state
    try:
        found = json.loads(path.read_text())
        if found.pop("sha256", None) not in (None, seal_words(found)):
            raise ValueError("its checksum does not fit")
        if found.pop("format") != FORMAT:
            raise ValueError("another format")
        return Settings(**found)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as e:
        raise _bad(path, e) from None


def _bad(path: Path, error: Exception) -> BadStore:
    return BadStore(f"{path} is not a store of format {FORMAT} ({error}); restore it or start a new store")


def write_settings(root: Path, settings: Settings) -> None:
    """Write the settings, whole or not at all."""
    if settings.validity not in VALIDITIES:
        raise WrongUsage(f"validity is one of {', '.join(VALIDITIES)}, got {settings.validity!r}")
    content = {"format": FORMAT, **{name: value for name, value in asdict(settings).items() if value is not None}}
    write_whole(root / SETTINGS_FILE, json.dumps({**content, "sha256": seal_words(content)}, indent=1) + "\n")
