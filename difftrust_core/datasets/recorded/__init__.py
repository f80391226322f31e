"""Recorded candidates in the formats they come in."""
