"""The commands, a module for each thing a user is about: every one a few calls into the pipeline."""
