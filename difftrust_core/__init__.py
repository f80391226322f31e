"""difftrust: where LLM-written programs are wrong, without an oracle."""

__version__ = "0.1.0"
