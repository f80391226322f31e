"""Checks of one function of a user."""
