"""A BH1750, light in lux (data sheet: ROHM, 2014.8): --sensor bh1750 scl=1 sda=0 rate=1/60."""

_CONTINUOUSLY = b"\x10"  # in steps of 1 lux, a measurement every 180 ms at most


class Bh1750:
    names = ("light",)

    def __init__(self, board, scl, sda, i2c=0, address=35):
        self._bus = board.i2c(i2c, scl, sda)
        self._address = address
        self._data = bytearray(2)
        self._bus.writeto(address, _CONTINUOUSLY)

    def read(self, values):
        self._bus.readfrom_into(self._address, self._data)
        values[0] = (self._data[0] << 8 | self._data[1]) * 5 // 6  # 1.2 counts a lux
        return True
