"""Integer arithmetic that gives the same bits everywhere: the random generator and exp(-x)."""

import micropython
from micropython import const

# Two lag-1 multiply-with-carry generators (Marsaglia 1994), 16 bits a draw, XORed. With these
# multipliers a, both a * 2**16 - 1 and a * 2**15 - 1 are prime, which makes the periods
# a * 2**15 - 1, about 2**29 each; a < 2**14 keeps the state within 30 bits.
_A = const(16380)
_B = const(16365)

RNG_WORDS = 2  # length of a generator's array('i')


def seed_generator(rng, seed):
    """Set rng, array('i') of 2, from seed, 0 <= seed < 2**30."""
    rng[0] = 1 + (seed * 40503 + 362437) % (_A * 65536 - 2)
    rng[1] = 1 + (seed * 30903 + 521288) % (_B * 65536 - 2)
    for _ in range(8):  # neighbouring seeds drift apart within a few draws
        below(rng, 2)


@micropython.viper
def below(rng: ptr32, n: int) -> int:
    """A random integer, 0 <= result < n, for 1 <= n <= 65536, from 15 random bits."""
    z = _A * (rng[0] & 0xFFFF) + (rng[0] >> 16)  # <= A * 65535 + A - 1 < 2**30
    w = _B * (rng[1] & 0xFFFF) + (rng[1] >> 16)  # < 2**30, likewise
    rng[0] = z
    rng[1] = w
    return (((z ^ w) & 0x7FFF) * n) >> 15  # < 2**15 * 2**16 = 2**31


@micropython.viper
def exp_negative(x: int) -> int:
    """exp(-x) in Q14 for x in Q16, 0 <= x <= 65536; the error is below 5 / 16384.

    The polynomial of degree 4 that is closest to exp(-x) on [0, 1] in the Chebyshev sense,
    by Horner's rule. Every coefficient is below 2**14 and x >> 1 at most 2**15, so each
    product stays below 2**30.
    """
    x = x >> 1
    y = ((419 * x) >> 15) - 2521
    y = ((y * x) >> 15) + 8120
    y = ((y * x) >> 15) - 16375
    return ((y * x) >> 15) + 16384
