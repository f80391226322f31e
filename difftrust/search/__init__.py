"""Inputs on which programs may differ."""
