"""From outcomes to estimates."""
