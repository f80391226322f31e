"""The Streamlit app: `difftrust dashboard`."""

import difftrust.figures  # noqa: F401  (first of all: it makes Altair quick to load)
