"""The drivers of the sensors that `build` knows by name: --sensor bh1750 is the class Bh1750.

Each driver is a class like a user's own sensor, see firmware's device/custom_sensor.py. A board
gets the driver that it uses, with the constants and functions that the driver needs, as a file of
that name. The first line of a class's docstring shows the option of `build`.
"""

from array import array
from struct import unpack
from time import sleep_ms

import machine

_TICKS = (1 << 30) - 1  # the last tick of the board's clock before it wraps around

_BH1750_CONTINUOUSLY = b"\x10"  # in steps of 1 lux, a measurement every 180 ms at most


class Bh1750:
    """A BH1750, light in lux (data sheet: ROHM, 2014.8): --sensor bh1750 scl=1 sda=0 rate=1/60."""

    names = ("light",)

    def __init__(self, board, scl, sda, i2c=0, address=35):
        self._bus = board.i2c(i2c, scl, sda)
        self._address = address
        self._data = bytearray(2)
        self._bus.writeto(address, _BH1750_CONTINUOUSLY)

    def read(self, values):
        self._bus.readfrom_into(self._address, self._data)
        values[0] = (self._data[0] << 8 | self._data[1]) * 5 // 6  # 1.2 counts a lux
        return True


_SCD41_STOP = b"\x3f\x86"
_SCD41_START = b"\x21\xb1"  # a reading every five seconds
_SCD41_IS_READY = b"\xe4\xb8"
_SCD41_READ = b"\xec\x05"


def crc8(data, at):
    """Return the CRC of the two bytes at that place."""
    crc = 0xFF
    for k in range(at, at + 2):
        crc ^= data[k]
        for _ in range(8):
            crc = (crc << 1 ^ 0x31 if crc & 0x80 else crc << 1) & 0xFF
    return crc


class Scd41:
    """An SCD40 or SCD41, CO2 in ppm, hundredths of a degree: --sensor scd41 scl=1 sda=0 rate=1/60.

    Data sheet: Sensirion, version 1.4. The sensor gives a reading every five seconds; humidity is
    left out.
    """

    names = ("co2", "temperature")

    def __init__(self, board, scl, sda, i2c=0, address=98):
        self._bus = board.i2c(i2c, scl, sda)
        self._address = address
        self._word = bytearray(3)
        self._data = bytearray(9)
        self._bus.writeto(address, _SCD41_STOP)  # a restart of the board does not stop it
        sleep_ms(500)
        self._bus.writeto(address, _SCD41_START)

    def read(self, values):
        if not self._ask(_SCD41_IS_READY, self._word) & 0x7FF:
            return False
        values[0] = self._ask(_SCD41_READ, self._data)
        warm = self._data[3] << 8 | self._data[4]
        values[1] = 17500 * warm // 65535 - 4500
        return True

    def _ask(self, command, data):
        """Return the first word of the answer. Raises OSError if a checksum is wrong."""
        self._bus.writeto(self._address, command)
        sleep_ms(1)
        self._bus.readfrom_into(self._address, data)
        for at in range(0, len(data), 3):
            if crc8(data, at) != data[at + 2]:
                raise OSError(5)
        return data[0] << 8 | data[1]


_BMP280_ID = 0x58
_BME280_ID = 0x60
_BME280_FACTORY = 0x88  # 26 bytes of factory calibration, and 7 more
_BME280_FACTORY_MORE = 0xE1
_BME280_IDENTITY = 0xD0
_BME280_HUMIDITY = 0xF2
_BME280_MEASURE = 0xF4
_BME280_CONFIGURATION = 0xF5
_BME280_FIRST = 0xF7  # pressure and temperature, 20 bits of 24, humidity, 16; upper byte first
_BME280_NOTHING = 0x80000  # the count before the first measurement


class Bme280:
    """A BME280, temperature, humidity, pressure: --sensor bme280 scl=1 sda=0 rate=1/60.

    Data sheet: Bosch, BST-BME280-DS002, revision 1.6. Hundredths of a degree, tenths of a percent
    and pascal, measured eight times a second. Modules have the address 118 or 119.
    """

    names = ("temperature", "humidity", "pressure")

    def __init__(self, board, scl, sda, i2c=0, address=118):
        self._bus = bus = board.i2c(i2c, scl, sda)
        self._address = address
        self._data = bytearray(8)
        result = bus.readfrom_mem(address, _BME280_IDENTITY, 1)[0]
        if result == _BMP280_ID:
            raise OSError("what answers is a BMP280, which does not measure humidity")
        if result != _BME280_ID:
            raise OSError("what answers is no BME280")
        low = bus.readfrom_mem(address, _BME280_FACTORY, 26)
        more = bus.readfrom_mem(address, _BME280_FACTORY_MORE, 7)
        self._t = unpack("<Hhh", low[:6])
        self._p = unpack("<Hhhhhhhhh", low[6:24])
        second, third, fourth, middle, fifth, sixth = unpack("<hBbBbb", more)
        self._h = (low[25], second, third, fourth << 4 | middle & 15, fifth << 4 | middle >> 4,
                   sixth)  # fmt: skip
        bus.writeto_mem(address, _BME280_MEASURE, b"\x00")  # asleep, or the next write is ignored
        bus.writeto_mem(address, _BME280_CONFIGURATION, b"\x40")  # 125 ms between two measurements
        bus.writeto_mem(address, _BME280_HUMIDITY, b"\x01")
        bus.writeto_mem(address, _BME280_MEASURE, b"\x27")  # measure all three continuously

    def read(self, values):
        data = self._data
        self._bus.readfrom_mem_into(self._address, _BME280_FIRST, data)
        warm = data[3] << 12 | data[4] << 4 | data[5] >> 4
        if warm == _BME280_NOTHING:
            return False
        fine = self._fine(warm)
        values[0] = fine * 5 + 128 >> 8
        values[1] = self._damp(data[6] << 8 | data[7], fine) * 10 + 512 >> 10
        values[2] = self._pressure(data[0] << 12 | data[1] << 4 | data[2] >> 4, fine) + 128 >> 8
        return True

    def _fine(self, warm):
        """Return the temperature in degrees times 5120."""
        t1, t2, t3 = self._t
        near = (warm >> 4) - t1
        return (((warm >> 3) - 2 * t1) * t2 >> 11) + ((near * near >> 12) * t3 >> 14)

    def _pressure(self, pressure, fine):
        """Return the pressure in pascal times 256."""
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
        """Return the humidity in percent times 1024."""
        h1, h2, h3, h4, h5, h6 = self._h
        fine -= 76800
        scale = ((fine * h6 >> 10) * ((fine * h3 >> 11) + 32768) >> 10) + 2097152
        result = (damp << 14) - (h4 << 20) - h5 * fine + 16384 >> 15
        result *= scale * h2 + 8192 >> 14
        square = (result >> 15) * (result >> 15) >> 7
        return min(max(result - (square * h1 >> 4), 0), 100 << 22) >> 12


class Dht22:
    """A DHT22, or AM2302: tenths of a degree and of a percent: --sensor dht22 pin=2 rate=1/60.

    MicroPython reads the 40 bits; the sensor needs two seconds between two readings.
    """

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


_ADXL345_IDENTITY = 0x00
_ADXL345_PACE = 0x2C  # 10 is 100 Hz, and each step doubles it
_ADXL345_POWER = 0x2D
_ADXL345_FORMAT = 0x31
_ADXL345_FIRST = 0x32  # two bytes for each axis, the lower one first
_ADXL345_PACES = (100, 200, 400, 800)


class Adxl345:
    """An ADXL345, acceleration in thousandths of g: --sensor adxl345 scl=1 sda=0 rate=100.

    Data sheet: Analog Devices, revision G. The range is 16 g. `hz` is the chip's measuring rate:
    100, 200, 400, 800; the chip damps frequencies above half of the rate.
    """

    names = ("ax", "ay", "az")

    def __init__(self, board, scl, sda, i2c=0, address=83, hz=100):
        if hz not in _ADXL345_PACES:
            raise ValueError("hz of an ADXL345 has to be 100, 200, 400 or 800")
        self._bus = board.i2c(i2c, scl, sda)
        self._address = address
        self._data = bytearray(6)
        if self._bus.readfrom_mem(address, _ADXL345_IDENTITY, 1) != b"\xe5":
            raise OSError("what answers is no ADXL345")
        self._bus.writeto_mem(address, _ADXL345_PACE, bytes((10 + _ADXL345_PACES.index(hz),)))
        self._bus.writeto_mem(address, _ADXL345_FORMAT, b"\x0b")  # 16 g, 256 counts a g
        self._bus.writeto_mem(address, _ADXL345_POWER, b"\x08")  # measure

    def read(self, values):
        data = self._data
        self._bus.readfrom_mem_into(self._address, _ADXL345_FIRST, data)
        for axis in range(3):
            count = data[2 * axis] | data[2 * axis + 1] << 8
            count = count - 65536 if count & 0x8000 else count
            values[axis] = count * 125 + 16 >> 5
        return True


_LSM6DS3_IDENTITY = 0x0F
_LSM6DS3_ACCELERATION = 0x10
_LSM6DS3_ROTATION = 0x11
_LSM6DS3_CONTROL = 0x12
_LSM6DS3_FIRST = 0x22  # first byte of the rotation; two bytes for each axis, the lower one first
_LSM6DS3_PACES = (104, 208, 416, 833)


class Lsm6ds3:
    """An LSM6DS3, acceleration and rotation: --sensor lsm6ds3 scl=1 sda=0 rate=100.

    Data sheets: ST, LSM6DS3 (revision 10); the LSM6DS3TR-C, LSM6DSL, LSM6DSM, LSM6DSR, LSM6DSO and
    LSM6DSOX have the same registers. Thousandths of g, up to 16 g, and tenths of a degree a
    second, up to 2000 degrees. `hz` is the chip's measuring rate: 104, 208, 416, 833; the chip
    damps frequencies of the acceleration above half of the rate.
    """

    names = ("ax", "ay", "az", "gx", "gy", "gz")

    def __init__(self, board, scl, sda, i2c=0, address=106, hz=104):
        if hz not in _LSM6DS3_PACES:
            raise ValueError("hz of an LSM6DS3 has to be 104, 208, 416 or 833")
        self._bus = board.i2c(i2c, scl, sda)
        self._address = address
        self._data = bytearray(12)
        if not 0x69 <= self._bus.readfrom_mem(address, _LSM6DS3_IDENTITY, 1)[0] <= 0x6C:
            raise OSError("what answers is no LSM6DS3, nor one of its family")
        pace = 4 + _LSM6DS3_PACES.index(hz) << 4
        self._bus.writeto_mem(address, _LSM6DS3_CONTROL, b"\x44")  # both bytes of one measurement
        self._bus.writeto_mem(address, _LSM6DS3_ACCELERATION, bytes((pace | 4,)))  # 16 g
        self._bus.writeto_mem(address, _LSM6DS3_ROTATION, bytes((pace | 12,)))  # 2000 degrees/s

    def read(self, values):
        data = self._data
        self._bus.readfrom_mem_into(self._address, _LSM6DS3_FIRST, data)
        for k in range(6):
            count = data[2 * k] | data[2 * k + 1] << 8
            count = count - 65536 if count & 0x8000 else count
            if k < 3:
                values[k + 3] = (count * 7 + 5) // 10  # 70 thousandths of a degree a second
            else:
                values[k - 3] = (count * 61 + 62) // 125  # 0.488 thousandths of g
        return True


_INA219_CONFIGURATION = 0
_INA219_SHUNT = 1  # 10 microvolt
_INA219_BUS = 2  # 4 millivolt, from bit 3 on


class Ina219:
    """An INA219, direct current and voltage: --sensor ina219 scl=1 sda=0 shunt=100 rate=10.

    Data sheet: TI, SBOS448G. Milliampere of either sign, up to 3200 with the usual shunt of 100
    milliohm, and millivolt, up to 26000. The chip is not for the mains: see Clamp.
    """

    names = ("milliampere", "millivolt")

    def __init__(self, board, scl, sda, i2c=0, address=64, shunt=100):
        self._bus = board.i2c(i2c, scl, sda)
        self._address = address
        self._shunt = shunt
        self._data = bytearray(2)
        # 32 V, 320 mV, the mean of 128 measurements of both, without end
        self._bus.writeto_mem(address, _INA219_CONFIGURATION, b"\x3f\xff")

    def read(self, values):
        across = self._word(_INA219_SHUNT)
        across = across - 65536 if across & 0x8000 else across
        values[0] = across * 10 // self._shunt
        values[1] = (self._word(_INA219_BUS) >> 3) * 4
        return True

    def _word(self, register):
        self._bus.readfrom_mem_into(self._address, register, self._data)
        return self._data[0] << 8 | self._data[1]


_CLAMP_SAMPLES = 200
_CLAMP_STEP = 500  # microseconds


def root(square):
    """Return the integer part of the square root."""
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
    """A current clamp around one wire of the mains: --sensor clamp pin=26 ampere=30 rate=1.

    The clamp gives 1 V at `ampere`, as an SCT-013-030 does at 30. Two equal resistors and a
    capacitor hold its middle at half of 3.3 V. A reading is the root of the mean square over a
    tenth of a second, which is five periods of 50 Hz and six of 60 Hz, in milliampere. The board
    waits meanwhile.
    """

    names = ("milliampere",)

    def __init__(self, board, pin, ampere=30):
        self._input = board.adc(pin)
        self._clock = board.microseconds
        self._ampere = ampere

    def read(self, values):
        total = squares = 0
        begin = self._clock()
        for k in range(_CLAMP_SAMPLES):
            while (self._clock() - begin) & _TICKS < k * _CLAMP_STEP:
                pass
            count = (self._input.read_u16() >> 4) - 2048
            total += count
            squares += count * count
        mean = 16 * total // _CLAMP_SAMPLES
        # in eighths of a count
        eighths = root(max(64 * squares // _CLAMP_SAMPLES - mean * mean // 4, 0))
        values[0] = eighths * self._ampere * 3300 >> 15
        return True


_MICROPHONE_SAMPLES = 128
_MICROPHONE_STEP = 250  # microseconds


class Microphone:
    """A microphone with an amplifier at an analog pin: --sensor microphone pin=26 rate=20.

    The amplifier is a MAX4466, a MAX9814 or the like, whose output swings around the middle of 3.3
    V. A reading is the loudness, 0..32767: the mean distance of 128 samples, 0..65535, from their
    mean. The samples are a quarter of a millisecond apart, so the board waits for 32 ms.
    """

    names = ("loudness",)

    def __init__(self, board, pin):
        self._input = board.adc(pin)
        self._clock = board.microseconds
        self._heard = array("H", bytes(2 * _MICROPHONE_SAMPLES))

    def read(self, values):
        heard = self._heard
        total = away = 0  # < 2**23
        begin = self._clock()
        for k in range(_MICROPHONE_SAMPLES):
            while (self._clock() - begin) & _TICKS < k * _MICROPHONE_STEP:
                pass
            heard[k] = self._input.read_u16()
            total += heard[k]
        mean = total // _MICROPHONE_SAMPLES
        for sample in heard:
            away += abs(sample - mean)
        values[0] = away // _MICROPHONE_SAMPLES
        return True


_SOIL_READINGS = 16  # readings of the pin, which are averaged


class SoilProbe:
    """A capacitive soil probe at an analog pin: --sensor soil_probe pin=26 dry=52000 wet=24000.

    A reading is in thousandths: 0 in air, where the pin reads `dry`, and 1000 in water, where the
    pin reads `wet`.
    """

    names = ("moisture",)

    def __init__(self, board, pin, dry=52000, wet=24000):
        self._input = board.adc(pin)
        self._dry = dry
        self._span = dry - wet

    def read(self, values):
        total = 0
        for _ in range(_SOIL_READINGS):
            total += self._input.read_u16()
        values[0] = (self._dry - total // _SOIL_READINGS) * 1000 // self._span
        return True


_MPR121_RESET = 0x80
_MPR121_ELECTRODES = 0x5E  # 0 stops the chip
_MPR121_FIRST = 0x04  # two bytes for each pad, the lower one first


class Mpr121:
    """An MPR121 with four touch pads: --sensor mpr121 scl=1 sda=0 rate=20.

    Data sheet: NXP, revision 4. A reading is a count of 0..1023 for each pad, which falls as a
    finger comes near.
    """

    names = ("pad0", "pad1", "pad2", "pad3")

    def __init__(self, board, scl, sda, i2c=0, address=90):
        self._bus = board.i2c(i2c, scl, sda)
        self._address = address
        self._data = bytearray(8)
        self._bus.writeto_mem(address, _MPR121_RESET, b"\x63")
        # the first four electrodes, from a baseline
        self._bus.writeto_mem(address, _MPR121_ELECTRODES, b"\x84")

    def read(self, values):
        data = self._data
        self._bus.readfrom_mem_into(self._address, _MPR121_FIRST, data)
        for pad in range(4):
            values[pad] = data[2 * pad] | (data[2 * pad + 1] & 3) << 8
        return True
