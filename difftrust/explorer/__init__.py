"""One explorer of tasks for three homes: a notebook, the dashboard's first page and the offline report.

The page computes while the hand moves a slider: it holds the classes of outcomes of one benchmark in whole numbers.
"""
