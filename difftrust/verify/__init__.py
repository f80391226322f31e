"""Check every file and every row of a store, and mend what can be mended."""
