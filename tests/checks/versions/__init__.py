"""Tests of the comparison of two versions."""
