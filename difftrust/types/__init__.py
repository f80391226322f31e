"""The types of arguments: what fits them, and values of them, drawn, changed and counted."""
