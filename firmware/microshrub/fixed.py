"""Integer arithmetic that gives the same bits everywhere: random numbers, exp, log2, roots."""

import micropython
from micropython import const

from .buffers import address_table

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
    t = generator_table(rng)
    for _ in range(8):  # neighbouring seeds drift apart within a few draws
        below(t, 0, 2)


def generator_table(rng):
    """A table for below() with a generator of its own, at place 0."""
    return address_table((rng,))


@micropython.viper
def below(t, place: int, n: int) -> int:
    """A random integer, 0 <= result < n, for 1 <= n <= 65536, from 15 random bits.

    The generator's address is at that place of the table t.
    """
    rng = ptr32(ptr32(t)[place])
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


@micropython.viper
def poisson(t, place: int, rate: int) -> int:
    """A draw from the Poisson distribution of mean rate / 256, for 0 <= rate <= 4096.

    t and place are those of below().

    It is a sum of draws with means of at most 1, each by inversion of its distribution function in
    Q14: k is drawn with a probability that is off by less than 14 / 16384 for each of them.
    """
    drawn = 0
    while rate > 0:
        part = rate if rate < 256 else 256
        rate -= part
        u = int(below(t, place, 16384))
        chance = int(exp_negative(part << 8))
        k = 0
        while u >= chance and chance:
            u -= chance
            k += 1
            chance = chance * part // (k << 8)  # < 2**14 * 2**8
        drawn += k
    return drawn


@micropython.viper
def log2(n: int) -> int:
    """log2(n) in Q14 for 1 <= n < 2**30; the error is below 6 / 16384, and 0 at powers of two.

    log2(n) is the position of the top bit plus log2(1 + f), 0 <= f < 1; the latter is the
    polynomial of degree 5 that is closest in the Chebyshev sense, by Horner's rule. Every
    intermediate is below 2**15 and f at most 2**15, so each product stays below 2**30.
    """
    top = 16 if n >= 65536 else 0
    if n >> top > 255:
        top += 8
    if n >> top > 15:
        top += 4
    if n >> top > 3:
        top += 2
    if n >> top > 1:
        top += 1
    f = n >> (top - 15) if top > 15 else n << (15 - top)
    f -= 32768
    y = ((720 * f) >> 15) - 3110
    y = ((y * f) >> 15) + 6743
    y = ((y * f) >> 15) - 11588
    y = ((y * f) >> 15) + 23619
    return (top << 14) + ((y * f) >> 15)


@micropython.viper
def n_log2(n: int) -> int:
    """n * log2(n) in Q10 for n <= 32768, 0 for n = 0; the error is below (6 * n + 16) / 16384."""
    if n < 2:
        return 0
    y = int(log2(n))  # <= 15 * 2**14 < 2**18
    # n * y would be up to 2**33: y in two parts, of Q10 and of the 4 bits below
    return n * (y >> 4) + ((n * (y & 15)) >> 4)  # <= 32768 * 15 * 2**10 < 2**29, and < 2**15


@micropython.viper
def square_root(n: int) -> int:
    """The largest r with r * r <= n, for 0 <= n < 2**30 (digit by digit, two bits at a time)."""
    r = 0
    bit = 1 << 28
    while bit > n:
        bit = bit >> 2
    while bit:
        if n >= r + bit:
            n -= r + bit
            r = (r >> 1) + bit
        else:
            r = r >> 1
        bit = bit >> 2
    return r


@micropython.viper
def exp_decay(x: int) -> int:
    """exp(-x) in Q14 for x in Q16, 0 <= x < 2**31; 0 from x = 15 ln(2), about 10.4, on."""
    if x >> 20:
        return 0
    halvings = x * 1477 >> 26  # of ln(2) in Q16, or one less; < 2**20 * 2**11
    x -= halvings * 45426
    if x >= 45426:
        halvings += 1
        x -= 45426
    if halvings > 14:
        return 0
    return int(exp_negative(x)) >> halvings


# The arguments x and y are 0: viper keeps the first arguments in registers.


@micropython.viper
def exp_decays(x: int, y: int, n: int, t, place: int):
    """Replace each of n integers by its exp_decay().

    Their address is at that place of the table t. To call exp_decay() for each would take nearly
    five times as many instructions on a Cortex-M0.
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
