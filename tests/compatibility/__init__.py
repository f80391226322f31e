"""What must stay true while the code moves: seen from outside only, by no inner module."""
