"""Questions about single inputs, whose answers settle which candidates are right."""
