"""Functions that are checked and pinned."""


def middle(values: list[int]) -> int:
    """Return the middle one of the values in order, the smaller one of two.

    >>> middle([3, 1, 2])
    2
    >>> middle([0, 1])
    0
    >>> middle([])  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    IndexError
    """


def parity(number: int) -> str:
    """Return 'even' or 'odd'."""
    return "odd" if number % 2 else "even"
