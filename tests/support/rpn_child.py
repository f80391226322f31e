"""Expressions in reverse Polish notation inside the sandbox: `x 2 *` of the arguments x, y and z."""

import operator

from program import Inputs, NotLoaded

ACTIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv}
NAMES = "xyz"


class Expressions(Inputs):
    """Argument tuples as Python programs get them; a program is a line of tokens."""

    def load(self, program):
        """Return what evaluates the expression. Raises NotLoaded for tokens that leave no single value."""
        tokens, height = program["source"].split(), 0
        for token in tokens:
            if token not in ACTIONS and token not in NAMES and not token.isdecimal():
                raise NotLoaded("UnknownToken")
            height += -1 if token in ACTIONS else 1
            if height < 1:
                raise NotLoaded("TooFewOperands")
        if height != 1:
            raise NotLoaded("NotOneValue")
        return lambda *arguments: _evaluated(tokens, arguments), {}


def _evaluated(tokens, arguments):
    stack = []
    for token in tokens:
        if token in ACTIONS:
            right, left = stack.pop(), stack.pop()
            stack.append(ACTIONS[token](left, right))
        else:
            stack.append(arguments[NAMES.index(token)] if token in NAMES else int(token))
    return stack[0]
