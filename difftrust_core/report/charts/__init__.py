"""Tables to Altair charts, the same for documentation, notebooks and dashboard."""
