"""Low-pass and high-pass filters of second order, Butterworth's, in integers.

Each is a trapezoidal state-variable filter (Zavalishin 2012, "The Art of VA Filter Design", 3.10):
unlike a biquad, it stays precise where the cut-off is a small part of the rate, as nothing in it
depends on a small difference of large coefficients. With g = tan(pi * cut-off / rate), k = 2**0.5
and d = 1 + g * (g + k), its coefficients are

    1 - 1 / d,  g / d,  g * g / d

Each is in 0..1 and is kept as a mantissa, at most 32767, and a shift: m / 2**(15 + shift).
`build` computes them, so that all boards and the simulator have the same integers.

Two words of state a channel: the sums of the two integrators in 1/2048 of a reading's unit. They
stay below 2**28 for any readings of 16 bits.
"""

from array import array

import micropython
from micropython import const

from ..learner import choice, whole

FORMS = ("low", "high")
WORDS = 2  # of state for each channel
_DOWN = const(11)  # bits behind the point
_ROUNDING = const(1024)
_LIMIT = const(32767)
_BITS = const(13)  # a product is made of the upper bits of a factor and these
_PART = const(8191)
_ROOT = const(13573)  # 2**0.5 - 1 in Q15


@micropython.viper
def run_filter(signal, state, at: int, words, channels: int, fresh: int):
    """Filter the values of all channels, array('i') of 16 bits with a sign, in place.

    The filter's state begins at state[at]. fresh: it starts as after a long time of these values.
    """
    values = ptr32(signal)
    states = ptr32(state)
    f = ptr32(words)
    high = f[0]
    for channel in range(channels):
        x = values[channel] << _DOWN  # 2**26
        one = states[at]
        two = states[at + 1]
        if fresh:
            one = 0
            two = x
        d = x - two  # < 2**29: its upper part is below 2**16, each product below 2**31
        # band = one - one * f1 + d * f2
        band = one - (
            ((one >> _BITS) * f[1] + ((one & _PART) * f[1] >> _BITS) + ((1 << f[2]) >> 1)) >> f[2]
        )
        band += ((d >> _BITS) * f[3] + ((d & _PART) * f[3] >> _BITS) + ((1 << f[4]) >> 1)) >> f[4]
        # low = two + one * f2 + d * f3
        low = two + (
            ((one >> _BITS) * f[3] + ((one & _PART) * f[3] >> _BITS) + ((1 << f[4]) >> 1)) >> f[4]
        )
        low += ((d >> _BITS) * f[5] + ((d & _PART) * f[5] >> _BITS) + ((1 << f[6]) >> 1)) >> f[6]
        states[at] = band + band - one
        states[at + 1] = low + low - two
        at += 2
        if high:  # x - low - 2**0.5 * band
            low = x - low - band
            low -= ((band >> _BITS) * _ROOT + ((band & _PART) * _ROOT >> _BITS)) >> 2
        low = (low + _ROUNDING) >> _DOWN
        if low > _LIMIT:
            low = _LIMIT
        elif low < 0 - _LIMIT - 1:
            low = 0 - _LIMIT - 1
        values[channel] = low


def filter_words(form, coefficients):
    """A filter for run_filter(): array('i') of the form and of each coefficient's two numbers.

    form is one of FORMS; coefficients are three pairs, mantissa and shift. Raises ValueError.
    """
    words = array("i", [FORMS.index(choice("a filter's form", form, FORMS))])
    if len(coefficients) != 3:
        raise ValueError("a filter has three coefficients, not %d" % len(coefficients))
    for mantissa, shift in coefficients:
        words.append(whole("a filter's mantissa", mantissa, 0, _LIMIT))
        words.append(2 + whole("a filter's shift", shift, 0, 14))
    return words
