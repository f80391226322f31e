def middle(values):
    return values[(len(values) - 1) // 2]
