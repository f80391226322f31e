"""Text-to-SQL tasks: queries as programs, small databases as inputs; schema, dialect, fuzzing and shrinking."""
