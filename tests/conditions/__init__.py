"""Questions about single inputs."""
