"""Many exponentials at once: votes, shares and weights are made of them."""

import micropython

# Of the next one, x and y are 0: viper keeps the first arguments in registers.


@micropython.viper
def exp_decays(x: int, y: int, n: int, t, place: int):
    """Each of n integers in place of itself becomes exp_decay() of it.

    Their address stands at that place of the table t. To call exp_decay() for each would take
    nearly five times as many instructions on a Cortex-M0.
    """
    number = ptr32(ptr32(t)[place])
    while n:
        n -= 1
        x = number[n]
        y = 0
        if x >> 20 == 0:
            halvings = x * 1477 >> 26
            x -= halvings * 45426
            if x >= 45426:
                halvings += 1
                x -= 45426
            if halvings < 15:
                x = x >> 1  # as exp_negative()
                y = ((419 * x) >> 15) - 2521
                y = ((y * x) >> 15) + 8120
                y = ((y * x) >> 15) - 16375
                y = (((y * x) >> 15) + 16384) >> halvings
        number[n] = y
