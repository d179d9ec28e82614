"""An MPR121 with four touch pads: --sensor mpr121 scl=1 sda=0 rate=20.

Data sheet: NXP, revision 4. A count of 0..1023 for each pad, the smaller the nearer a finger is.
"""

_RESET = 0x80
_ELECTRODES = 0x5E  # 0 stops
_FIRST = 0x04  # two bytes for each pad, the lower one first


class Mpr121:
    names = ("pad0", "pad1", "pad2", "pad3")

    def __init__(self, board, scl, sda, i2c=0, address=90):
        self._bus = board.i2c(i2c, scl, sda)
        self._address = address
        self._data = bytearray(8)
        self._bus.writeto_mem(address, _RESET, b"\x63")
        self._bus.writeto_mem(address, _ELECTRODES, b"\x84")  # the first four, from a baseline

    def read(self, values):
        data = self._data
        self._bus.readfrom_mem_into(self._address, _FIRST, data)
        for pad in range(4):
            values[pad] = data[2 * pad] | (data[2 * pad + 1] & 3) << 8
        return True
