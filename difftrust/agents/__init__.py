"""The server that agents ask over the Model Context Protocol: each call runs in a process of its own."""
