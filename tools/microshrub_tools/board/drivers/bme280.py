"""A BME280, temperature, humidity, pressure: --sensor bme280 scl=1 sda=0 rate=1/60.

Data sheet: Bosch, BST-BME280-DS002, revision 1.6. Hundredths of a degree, tenths of a percent and
pascal, measured eight times a second. Modules have the address 118 or 119.
"""

from struct import unpack

_BMP280 = 0x58
_BME280 = 0x60
_FACTORY = 0x88  # 26 bytes that it was calibrated with, and 7 more
_FACTORY_MORE = 0xE1
_IDENTITY = 0xD0
_HUMIDITY = 0xF2
_MEASURE = 0xF4
_CONFIGURATION = 0xF5
_FIRST = 0xF7  # pressure and temperature, 20 bits of 24, and humidity, 16; the upper byte first
_NOTHING = 0x80000  # before the first measurement


class Bme280:
    names = ("temperature", "humidity", "pressure")

    def __init__(self, board, scl, sda, i2c=0, address=118):
        self._bus = bus = board.i2c(i2c, scl, sda)
        self._address = address
        self._data = bytearray(8)
        result = bus.readfrom_mem(address, _IDENTITY, 1)[0]
        if result == _BMP280:
            raise OSError("what answers is a BMP280, which does not measure humidity")
        if result != _BME280:
            raise OSError("what answers is no BME280")
        low = bus.readfrom_mem(address, _FACTORY, 26)
        more = bus.readfrom_mem(address, _FACTORY_MORE, 7)
        self._t = unpack("<Hhh", low[:6])
        self._p = unpack("<Hhhhhhhhh", low[6:24])
        second, third, fourth, middle, fifth, sixth = unpack("<hBbBbb", more)
        self._h = (low[25], second, third, fourth << 4 | middle & 15, fifth << 4 | middle >> 4,
                   sixth)  # fmt: skip
        bus.writeto_mem(address, _MEASURE, b"\x00")  # asleep: else it ignores the next one
        bus.writeto_mem(address, _CONFIGURATION, b"\x40")  # 125 ms between two measurements
        bus.writeto_mem(address, _HUMIDITY, b"\x01")
        bus.writeto_mem(address, _MEASURE, b"\x27")  # all three, without end

    def read(self, values):
        data = self._data
        self._bus.readfrom_mem_into(self._address, _FIRST, data)
        warm = data[3] << 12 | data[4] << 4 | data[5] >> 4
        if warm == _NOTHING:
            return False
        fine = self._fine(warm)
        values[0] = fine * 5 + 128 >> 8
        values[1] = self._damp(data[6] << 8 | data[7], fine) * 10 + 512 >> 10
        values[2] = self._pressure(data[0] << 12 | data[1] << 4 | data[2] >> 4, fine) + 128 >> 8
        return True

    def _fine(self, warm):
        """Temperature in degrees times 5120."""
        t1, t2, t3 = self._t
        near = (warm >> 4) - t1
        return (((warm >> 3) - 2 * t1) * t2 >> 11) + ((near * near >> 12) * t3 >> 14)

    def _pressure(self, pressure, fine):
        """In pascal times 256."""
        p1, p2, p3, p4, p5, p6, p7, p8, p9 = self._p
        fine -= 128000
        offset = fine * fine * p6 + (fine * p5 << 17) + (p4 << 35)
        slope = (1 << 47) + (fine * fine * p3 >> 8) + (fine * p2 << 12)
        slope = slope * p1 >> 33
        if not slope:
            raise OSError(5)
        result = ((1048576 - pressure << 31) - offset) * 3125 // slope
        square = (result >> 13) * (result >> 13) * p9 >> 25
        return (result + square + (result * p8 >> 19) >> 8) + (p7 << 4)

    def _damp(self, damp, fine):
        """In percent times 1024."""
        h1, h2, h3, h4, h5, h6 = self._h
        fine -= 76800
        scale = ((fine * h6 >> 10) * ((fine * h3 >> 11) + 32768) >> 10) + 2097152
        result = (damp << 14) - (h4 << 20) - h5 * fine + 16384 >> 15
        result *= scale * h2 + 8192 >> 14
        square = (result >> 15) * (result >> 15) >> 7
        return min(max(result - (square * h1 >> 4), 0), 100 << 22) >> 12
