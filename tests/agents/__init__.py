"""Tests of the server for agents."""
