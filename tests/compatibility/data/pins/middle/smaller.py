def middle(values):
    return sorted(values)[(len(values) - 1) // 2]
