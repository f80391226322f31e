"""Benchmark files as they are released."""
