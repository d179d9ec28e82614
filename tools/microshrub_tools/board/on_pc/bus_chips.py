"""Models of sensors on an I2C bus and at a pin, after data sheets; for MicroPython, too.

Each chip has the `names` of the columns that it plays, and play(name) returns a column's current
value. A chip takes and returns the bytes of the real one; OSError means no answer.
"""

import math


def _word(value):
    value = min(max(value, -32768), 65535)
    return bytes((value >> 8 & 255, value & 255))


def _counts(value):
    value = min(max(value, -32768), 32767)
    return bytes((value & 255, value >> 8 & 255))


class RegisterChip:
    """A chip whose registers are bytes, or words where `width` is 2.

    The measured values begin at the register `first`; a transfer from there reads the values of
    one moment.
    """

    width = 1
    first = -1

    def __init__(self, play):
        self.play = play
        self.written = {}
        self.measured = b""

    def writeto_mem(self, register, data):
        for k in range(0, len(data), self.width):
            self.written[register + k // self.width] = bytes(data[k : k + self.width])

    def readfrom_mem_into(self, register, buffer):
        if register == self.first:
            self.measured = self.measure()
        for k in range(0, len(buffer), self.width):
            buffer[k : k + self.width] = self.at(register + k // self.width)

    def at(self, register):
        place = register - self.first
        if 0 <= place < len(self.measured):
            return self.measured[place : place + 1]
        return self.written.get(register, b"\0")

    def set_to(self, register):
        """Return the byte that was written to the register, 0 before."""
        return self.written.get(register, b"\0")[0]


class Ina219Chip(RegisterChip):
    """INA219, TI SBOS448G, with a shunt of 100 milliohm."""

    address = 64
    names = ("milliampere", "millivolt")
    width = 2

    def at(self, register):
        if register == 1:
            return _word(self.play("milliampere") * 10)
        if register == 2:
            return _word(self.play("millivolt") // 4 << 3)
        return self.written.get(register, b"\x39\x9f")


class Mpr121Chip(RegisterChip):
    """MPR121, NXP revision 4: filtered data of the electrodes that ELE_EN switches on."""

    address = 90
    names = ("pad0", "pad1", "pad2", "pad3")
    first = 4

    def writeto_mem(self, register, data):
        if register == 0x80:
            self.written = {} if data == b"\x63" else self.written
            return
        if register != 0x5E and self.written.get(0x5E, b"\0") != b"\0":
            raise OSError(5)  # while the chip runs, only this register may be written
        RegisterChip.writeto_mem(self, register, data)

    def measure(self):
        data = b""
        for pad in range(min(self.set_to(0x5E) & 15, 4)):
            data += _counts(min(max(self.play(self.names[pad]), 0), 1023))
        return data


class Adxl345Chip(RegisterChip):
    """ADXL345, Analog Devices revision G: counts of as many bits as its format says."""

    address = 83
    names = ("ax", "ay", "az")
    first = 0x32

    def at(self, register):
        return b"\xe5" if register == 0 else RegisterChip.at(self, register)

    def measure(self):
        if not self.set_to(0x2D) & 8:
            return bytes(6)
        most = 2 << (self.set_to(0x31) & 3)  # g
        per_g = 256 if self.set_to(0x31) & 8 else 512 // most
        data = b""
        for name in self.names:
            count = round(self.play(name) * per_g / 1000)
            data += _counts(min(max(count, -most * per_g), most * per_g - 1))
        return data


class Lsm6ds3Chip(RegisterChip):
    """LSM6DS3, ST revision 10: both halves sleep at first, at 2 g and 245 degrees a second."""

    address = 106
    names = ("ax", "ay", "az", "gx", "gy", "gz")
    first = 0x22

    def at(self, register):
        return b"\x69" if register == 0x0F else RegisterChip.at(self, register)

    def measure(self):
        motion, turns = self.set_to(0x10), self.set_to(0x11)
        milli_g = 0.061 * (1, 8, 2, 4)[motion >> 2 & 3]
        tenths = 0.0875 * (1, 2, 4, 8)[turns >> 2 & 3]
        data = b""
        for name in ("gx", "gy", "gz"):
            data += _counts(round(self.play(name) / tenths) if turns >> 4 else 0)
        for name in ("ax", "ay", "az"):
            data += _counts(round(self.play(name) / milli_g) if motion >> 4 else 0)
        return data


class Bh1750Chip:
    """BH1750, ROHM 2014.8: 1.2 counts a lux, after the command for continuous measurement."""

    address = 35
    names = ("light",)

    def __init__(self, play):
        self.play = play
        self.measures = False

    def writeto(self, data):
        self.measures = data in (b"\x10", b"\x11", b"\x13")

    def readfrom_into(self, buffer):
        lux = self.play("light") if self.measures else 0
        buffer[:] = _word(min((6 * lux + 4) // 5, 65535))


class Scd41Chip:
    """SCD41, Sensirion 1.4: words, each with a CRC of 8 bits behind it.

    The chip does not answer a command that is not allowed while it measures.
    """

    address = 98
    names = ("co2", "temperature")

    def __init__(self, play):
        self.play = play
        self.measures = False
        self.answer = b""

    def writeto(self, data):
        if data == b"\x3f\x86":
            self.measures = False
        elif data == b"\x21\xb1" and not self.measures:
            self.measures = True
        elif data == b"\xe4\xb8":
            self.answer = self._words(0x8006 if self.measures else 0x8000)
        elif data == b"\xec\x05" and self.measures:
            warm = (self.play("temperature") + 4500) * 65535 // 17500 + 1
            self.answer = self._words(self.play("co2"), warm, 0x8000)
        else:
            raise OSError(5)

    def readfrom_into(self, buffer):
        if len(buffer) != len(self.answer):
            raise OSError(5)
        buffer[:] = self.answer
        self.answer = b""

    def _words(self, *values):
        answer = b""
        for value in values:
            word = _word(value)
            answer += word + bytes((self._crc(word),))
        return answer

    def _crc(self, word):
        """Return the CRC with the polynomial 0x31, from 0xff, bit by bit."""
        crc = 0xFF
        for k in range(16):
            bit = word[k >> 3] >> 7 - (k & 7) & 1
            top = crc >> 7 ^ bit
            crc = crc << 1 & 0xFF ^ (0x31 if top else 0)
        return crc


CHIPS = (Ina219Chip, Mpr121Chip, Adxl345Chip, Lsm6ds3Chip, Bh1750Chip, Scd41Chip)


def dht22_bytes(tenths, humidity):
    """Return the five bytes that a DHT22 sends: the first bit is the sign, no two's complement."""
    warm = abs(tenths) | (0x8000 if tenths < 0 else 0)
    data = _word(humidity) + _word(warm)
    return data + bytes((sum(data) & 0xFF,))


def clamp_counts(milliampere, microseconds):
    """Return a pin's count, 0..65535, for a clamp of 30 A for 1 V, with 50 Hz around 1.65 V."""
    volt = milliampere / 30000 * math.sqrt(2) * math.sin(2 * math.pi * 50e-6 * microseconds)
    return round((1.65 + volt) / 3.3 * 65535)


def probe_counts(thousandths, _):
    """Return a pin's count for a capacitive soil probe, 52000 in air and 24000 in water."""
    return 52000 - 28 * thousandths


def tone_counts(loudness, microseconds):
    """Return a pin's count for a microphone at a tone of 430 Hz, around 1.65 V."""
    return round(32768 + loudness * math.pi / 2 * math.sin(2 * math.pi * 430e-6 * microseconds))


# By the driver's module
AT_A_PIN = {"clamp": clamp_counts, "microphone": tone_counts, "soil_probe": probe_counts}
