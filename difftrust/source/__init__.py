"""A function of a user's file, read and never run: signature, types, examples, conditions, calls, surroundings."""
