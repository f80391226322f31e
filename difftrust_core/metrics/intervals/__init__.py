"""Confidence intervals of three kinds: over inputs, over programs, over tasks."""
