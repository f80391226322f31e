"""Programs that read standard input and write standard output."""
