"""The tests: one file a module or a promise."""
