"""Tests of what is read of a function's file."""
