"""What `difftrust check` and `difftrust diff` do, once their options are read."""
