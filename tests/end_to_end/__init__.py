"""Tests of end_to_end."""
