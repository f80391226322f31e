"""Benchmark files in the layouts in which they are released: EvalPlus, LiveCodeBench, APPS, CodeContests."""
