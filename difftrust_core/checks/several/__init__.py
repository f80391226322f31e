"""Checks of several functions: what each rests on, and what was judged before."""
