"""The error for annotations that name what is not known here."""


class NotResolved(ValueError):
    """The annotation names what is not known here; the message says which."""
