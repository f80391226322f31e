"""Similarity of programs as texts and as syntax trees; they are parsed, never run."""
