"""Pairs of versions for the tests of comparisons."""
