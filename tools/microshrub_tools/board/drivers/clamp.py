"""A current clamp around one wire of the mains: --sensor clamp pin=26 ampere=30 rate=1.

One that gives 1 V at so many ampere, such as an SCT-013-030, from the middle of 3.3 V: two equal
resistors there, and a capacitor. A reading is the root of the mean square over a tenth of a
second, which is five periods of 50 Hz and six of 60 Hz, in milliampere. The board waits meanwhile.
"""

_SAMPLES = 200
_STEP = 500  # microseconds
_TICKS = (1 << 30) - 1


def root(square):
    """The whole part of its square root."""
    result, bit = 0, 1 << 28
    while bit:
        if square >= result + bit:
            square -= result + bit
            result = (result >> 1) + bit
        else:
            result >>= 1
        bit >>= 2
    return result


class Clamp:
    names = ("milliampere",)

    def __init__(self, board, pin, ampere=30):
        self._input = board.adc(pin)
        self._clock = board.microseconds
        self._ampere = ampere

    def read(self, values):
        total = squares = 0
        begin = self._clock()
        for k in range(_SAMPLES):
            while (self._clock() - begin) & _TICKS < k * _STEP:
                pass
            count = (self._input.read_u16() >> 4) - 2048
            total += count
            squares += count * count
        mean = 16 * total // _SAMPLES
        eighths = root(max(64 * squares // _SAMPLES - mean * mean // 4, 0))  # of a count
        values[0] = eighths * self._ampere * 3300 >> 15
        return True
