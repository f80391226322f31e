"""The pages, one a file; each has ``draw()``."""
