"""Tests of metrics/intervals."""
