"""Tables to Altair charts, the same for documentation, notebooks and dashboard."""

import sys

from difftrust_core.base.plugins import require

# jsonschema, which Altair loads, loads a grammar of internationalised addresses where one is installed: one second, for
# a format that no chart has. It does without where it cannot be loaded.
if "jsonschema" not in sys.modules and "rfc3987_syntax" not in sys.modules:
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    require("altair", extra="plots", purpose="drawing charts")

    del sys.modules["rfc3987_syntax"]
