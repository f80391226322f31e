"""The settings file of a store: what every number in it depends on."""

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from difftrust_core.base.files import FileState, file_state, write_whole
from difftrust_core.base.records import Validity
from difftrust_core.exceptions import BadStore, WrongUsage
from difftrust_core.store.checksums import seal_words

SETTINGS_FILE = "difftrust-store.json"
FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every number in a store depends on, fixed when the store is first executed."""

    seed: int = 0
    validity: str = "reference"
    tables: tuple[str, ...] | None = None
    """The tables that are here; None: all. A results store holds a few (``schemas.RESULT_TABLES``)."""
    executed: str | None = None
    """The day on which a results store's programs ran, as 2026-11-22: copies of its files are younger."""

    def __post_init__(self) -> None:
        if self.tables is not None:
            object.__setattr__(self, "tables", tuple(self.tables))  # JSON has lists


def load_settings(root: Path) -> Settings:
    """Return the settings of the store in ``root``. Raises BadStore if they cannot be read."""
    path = root / SETTINGS_FILE
    try:
        return _load(path, file_state(path))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as e:
        raise BadStore(f"{path} is not a store of format {FORMAT} ({e}); restore it or start a new store") from None


@lru_cache(maxsize=16)
def _load(path: Path, state: FileState) -> Settings:
    del state
    found = json.loads(path.read_text())
    if found.pop("sha256", None) not in (None, seal_words(found)):
        raise ValueError("its checksum does not fit")
    if found.pop("format") != FORMAT:
        raise ValueError("another format")
    return Settings(**found)


def write_settings(root: Path, settings: Settings) -> None:
    """Write the settings, whole or not at all."""
    if settings.validity not in tuple(Validity):
        raise WrongUsage(f"validity is one of {', '.join(Validity)}, got {settings.validity!r}")
    content = {"format": FORMAT, **{name: value for name, value in asdict(settings).items() if value is not None}}
    write_whole(root / SETTINGS_FILE, json.dumps({**content, "sha256": seal_words(content)}, indent=1) + "\n")
