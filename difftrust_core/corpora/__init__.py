"""Recorded candidates in, benchmarks in: everything the project reads that others wrote.

Nothing read here is ever imported, evaluated or executed: Python text is parsed with ``ast``, and a pickle
may name no class but two inert stand-ins (see ``artifact``).
"""
