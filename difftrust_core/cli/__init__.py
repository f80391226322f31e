"""Arguments to steps, and nothing else."""


def main() -> None:
    """Run the command line."""
