"""An INA219, direct current and voltage: --sensor ina219 scl=1 sda=0 shunt=100 rate=10.

Data sheet: TI, SBOS448G. Milliampere of either sign, up to 3200 with the usual shunt of 100
milliohm, and millivolt, up to 26000. It is not for the mains: see clamp.py.
"""

_CONFIGURATION = 0
_SHUNT = 1  # 10 microvolt
_BUS = 2  # 4 millivolt, from bit 3 on


class Ina219:
    names = ("milliampere", "millivolt")

    def __init__(self, board, scl, sda, i2c=0, address=64, shunt=100):
        self._bus = board.i2c(i2c, scl, sda)
        self._address = address
        self._shunt = shunt
        self._data = bytearray(2)
        # 32 V, 320 mV, the mean of 128 measurements of both, without end
        self._bus.writeto_mem(address, _CONFIGURATION, b"\x3f\xff")

    def read(self, values):
        across = self._word(_SHUNT)
        across = across - 65536 if across & 0x8000 else across
        values[0] = across * 10 // self._shunt
        values[1] = (self._word(_BUS) >> 3) * 4
        return True

    def _word(self, register):
        self._bus.readfrom_mem_into(self._address, register, self._data)
        return self._data[0] << 8 | self._data[1]
