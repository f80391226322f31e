def parity(number):
    return "odd" if number % 2 == 1 and number is not True else "even"
