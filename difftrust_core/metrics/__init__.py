"""Arrays in, numbers out: equality of outcomes, error, incoherence, aggregates, intervals, structure."""
