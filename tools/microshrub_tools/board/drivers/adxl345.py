"""An ADXL345, acceleration in thousandths of g: --sensor adxl345 scl=1 sda=0 rate=100.

Data sheet: Analog Devices, revision G. Up to 16 g. `hz` is how often the chip measures: 100, 200,
400, 800; it damps what is faster than half of that.
"""

_IDENTITY = 0x00
_PACE = 0x2C  # 10 is 100 Hz, and each step doubles it
_POWER = 0x2D
_FORMAT = 0x31
_FIRST = 0x32  # two bytes for each axis, the lower one first
_PACES = (100, 200, 400, 800)


class Adxl345:
    names = ("ax", "ay", "az")

    def __init__(self, board, scl, sda, i2c=0, address=83, hz=100):
        if hz not in _PACES:
            raise ValueError("hz of an ADXL345 has to be 100, 200, 400 or 800")
        self._bus = board.i2c(i2c, scl, sda)
        self._address = address
        self._data = bytearray(6)
        if self._bus.readfrom_mem(address, _IDENTITY, 1) != b"\xe5":
            raise OSError("what answers is no ADXL345")
        self._bus.writeto_mem(address, _PACE, bytes((10 + _PACES.index(hz),)))
        self._bus.writeto_mem(address, _FORMAT, b"\x0b")  # 16 g, 256 counts a g
        self._bus.writeto_mem(address, _POWER, b"\x08")  # measure

    def read(self, values):
        data = self._data
        self._bus.readfrom_mem_into(self._address, _FIRST, data)
        for axis in range(3):
            count = data[2 * axis] | data[2 * axis + 1] << 8
            count = count - 65536 if count & 0x8000 else count
            values[axis] = count * 125 + 16 >> 5
        return True
