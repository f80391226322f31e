"""Functions read from files."""
