"""Run every program of a store on every input of its task, once."""
