"""Simulated coders: seeded sources of programs that err the way an LLM errs."""
