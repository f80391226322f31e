def parity(number):
    return "odd" if number % 2 else "even"
