"""Tests of the formats that pipelines read."""
