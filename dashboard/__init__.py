"""The Streamlit app: `difftrust dashboard`."""

import difftrust_core.report.charts  # noqa: F401  (first of all: it makes Altair quick to load)
