"""SQL: queries as programs, databases as inputs."""
