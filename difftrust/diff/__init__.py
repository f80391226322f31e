"""Two versions of one function, compared with each other on inputs that seek a difference."""
