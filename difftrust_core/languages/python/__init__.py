"""Python: identity, fuzzing, shrinking and mutation of programs and arguments."""
