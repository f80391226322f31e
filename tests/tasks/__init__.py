"""One task of a store."""
