"""A DHT22, or AM2302: tenths of a degree and of a percent: --sensor dht22 pin=2 rate=1/60.

MicroPython reads its 40 bits; it wants two seconds between two readings.
"""

import machine


class Dht22:
    names = ("temperature", "humidity")

    def __init__(self, board, pin):
        self._pin = machine.Pin(pin)
        self._data = bytearray(5)

    def read(self, values):
        data = self._data
        machine.dht_readinto(self._pin, data)
        if sum(data[:4]) & 0xFF != data[4]:
            return False
        size = (data[2] & 0x7F) << 8 | data[3]
        values[0] = -size if data[2] & 0x80 else size
        values[1] = data[0] << 8 | data[1]
        return True
