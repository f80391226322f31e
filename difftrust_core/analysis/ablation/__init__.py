"""Any number of candidates or inputs and any mixture of models, computed from behaviours alone."""
