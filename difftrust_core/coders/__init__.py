"""Coders: what turns a task into candidate programs, and nothing else."""

from difftrust_core.coders.extraction import Extracted, program_of
from difftrust_core.coders.prices import Price
from difftrust_core.coders.prompt import prompt_hash, prompt_of
from difftrust_core.coders.providers import Ask, NoReply, Reply, sample_reply
from difftrust_core.coders.simulated import SIMULATED, sample_simulated

__all__ = [
    "SIMULATED",
    "Ask",
    "Extracted",
    "NoReply",
    "Price",
    "Reply",
    "program_of",
    "prompt_hash",
    "prompt_of",
    "sample_reply",
    "sample_simulated",
]
