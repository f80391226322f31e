"""x"""

TITLE = "Check"


def draw():
    pass
