"""Programs times inputs to outcomes, whatever the programs try; and nothing else.

host -> bubblewrap -> zygote -> one confined child a program. ``child/`` is what runs on the far side.
"""

from difftrust_core.sandbox.doctor import REACH, Diagnosis, Layer, diagnose
from difftrust_core.sandbox.host import Limits, ProgramRun, Sandbox
from difftrust_core.sandbox.layers import describe_layers
from difftrust_core.sandbox.outcomes import OutcomeTable

__all__ = [
    "REACH",
    "Diagnosis",
    "Layer",
    "Limits",
    "OutcomeTable",
    "ProgramRun",
    "Sandbox",
    "describe_layers",
    "diagnose",
]
