"""Tests of questions about single inputs."""
