"""What difftrust has to know of a language, one folder each."""
