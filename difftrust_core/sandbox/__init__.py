"""Programs times inputs to outcomes, whatever the programs try.

host -> bubblewrap -> zygote -> one confined child a program. ``child/`` is what runs on the far side.
"""
