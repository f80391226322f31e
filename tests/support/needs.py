"""What a machine may lack, and the words with which the tests that need it are skipped."""

import pytest

from difftrust_core.sandbox import layers

NO_BUBBLEWRAP = f"bubblewrap does not work here: {layers.probe_bubblewrap().why_not}"
needs_bubblewrap = pytest.mark.skipif(not layers.bubblewrap(), reason=NO_BUBBLEWRAP)
