"""What docstrings allow, read by one grammar: sentences become predicates over the parameters."""
