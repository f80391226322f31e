"""Sample candidates from language models or simulated coders, and keep every reply."""
