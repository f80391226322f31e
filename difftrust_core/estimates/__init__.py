"""From outcomes to estimates: behaviours, ablations, clusters, signals, plans, SQL."""
