"""Benchmarks and recorded candidates, read from what others wrote; never imported, evaluated or executed."""
