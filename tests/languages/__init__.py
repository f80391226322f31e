"""Tests of languages."""
