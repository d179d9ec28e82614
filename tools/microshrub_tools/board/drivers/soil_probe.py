"""A capacitive soil probe at an analog pin: --sensor soil_probe pin=26 dry=52000 wet=24000.

A reading is in thousandths: 0 for what the pin reads in air, `dry`, and 1000 in water, `wet`.
"""

_READINGS = 16  # of which the mean counts


class SoilProbe:
    names = ("moisture",)

    def __init__(self, board, pin, dry=52000, wet=24000):
        self._input = board.adc(pin)
        self._dry = dry
        self._span = dry - wet

    def read(self, values):
        total = 0
        for _ in range(_READINGS):
            total += self._input.read_u16()
        values[0] = (self._dry - total // _READINGS) * 1000 // self._span
        return True
