"""Coders: what turns a task into candidate programs, and nothing else."""

from difftrust_core.coders.simulated import SIMULATED, sample_simulated

__all__ = ["SIMULATED", "sample_simulated"]
