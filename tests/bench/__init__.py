"""Timings of the parts, each against the plainest thing that does the same work."""
