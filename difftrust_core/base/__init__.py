"""What every package may use: literals, records, tasks, files, worker processes, text."""
