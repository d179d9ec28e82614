"""A microphone with an amplifier at an analog pin: --sensor microphone pin=26 rate=20.

Such as a MAX4466 or MAX9814, whose output swings around the middle of 3.3 V. A reading is how loud
it is, 0..32767: the mean distance of 128 samples from their mean, as the pin reads 0..65535. They
are a quarter of a millisecond apart, so the board waits for 32 ms.
"""

from array import array

_SAMPLES = 128
_STEP = 250  # microseconds
_TICKS = (1 << 30) - 1


class Microphone:
    names = ("loudness",)

    def __init__(self, board, pin):
        self._input = board.adc(pin)
        self._clock = board.microseconds
        self._heard = array("H", bytes(2 * _SAMPLES))

    def read(self, values):
        heard = self._heard
        total = away = 0  # < 2**23
        begin = self._clock()
        for k in range(_SAMPLES):
            while (self._clock() - begin) & _TICKS < k * _STEP:
                pass
            heard[k] = self._input.read_u16()
            total += heard[k]
        mean = total // _SAMPLES
        for sample in heard:
            away += abs(sample - mean)
        values[0] = away // _SAMPLES
        return True
