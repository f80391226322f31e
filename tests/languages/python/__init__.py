"""Tests of languages/python."""
