"""What checks and comparisons found, in the formats that people and pipelines read."""
