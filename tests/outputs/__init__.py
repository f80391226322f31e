"""Formats of findings."""
