"""Stores at a URL: a local mirror and its synchronisation."""
