"""What people read: tables, figures, sentences."""
