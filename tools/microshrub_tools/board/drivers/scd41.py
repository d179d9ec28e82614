"""An SCD40 or SCD41, CO2 in ppm and hundredths of a degree: --sensor scd41 scl=1 sda=0 rate=1/60.

Data sheet: Sensirion, version 1.4. It has a reading every five seconds; its humidity is left out.
"""

from time import sleep_ms

_STOP = b"\x3f\x86"
_START = b"\x21\xb1"  # a reading every five seconds
_IS_READY = b"\xe4\xb8"
_READ = b"\xec\x05"


def crc8(data, at):
    """Of the two bytes at that place."""
    crc = 0xFF
    for k in range(at, at + 2):
        crc ^= data[k]
        for _ in range(8):
            crc = (crc << 1 ^ 0x31 if crc & 0x80 else crc << 1) & 0xFF
    return crc


class Scd41:
    names = ("co2", "temperature")

    def __init__(self, board, scl, sda, i2c=0, address=98):
        self._bus = board.i2c(i2c, scl, sda)
        self._address = address
        self._word = bytearray(3)
        self._data = bytearray(9)
        self._bus.writeto(address, _STOP)  # it runs on while the board starts anew
        sleep_ms(500)
        self._bus.writeto(address, _START)

    def read(self, values):
        if not self._ask(_IS_READY, self._word) & 0x7FF:
            return False
        values[0] = self._ask(_READ, self._data)
        warm = self._data[3] << 8 | self._data[4]
        values[1] = 17500 * warm // 65535 - 4500
        return True

    def _ask(self, command, data):
        """The first word of the answer. Raises OSError if one was not understood."""
        self._bus.writeto(self._address, command)
        sleep_ms(1)
        self._bus.readfrom_into(self._address, data)
        for at in range(0, len(data), 3):
            if crc8(data, at) != data[at + 2]:
                raise OSError(5)
        return data[0] << 8 | data[1]
