"""One task of a store: its inputs, clusters, sentences and programs."""
