"""Signals, agreement, selection, prices."""
