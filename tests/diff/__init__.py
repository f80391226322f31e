"""Two versions of a function, compared."""
