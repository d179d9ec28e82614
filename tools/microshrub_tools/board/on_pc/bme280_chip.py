"""A model of the BME280 after Bosch's data sheet, revision 1.6; for MicroPython, too.

The counts follow from the data sheet's formulas in floating point, with T1..P9 of the example in
the data sheet of the BMP280, which has the same formulas.
"""

from struct import pack

from bus_chips import RegisterChip

T = (27504, 26435, -1000)
P = (36477, -10685, 3024, 2855, 140, -7, 15500, -14600, 6000)
H = (75, 362, 0, 313, 50, 30)
_NOTHING = b"\x80\0\0\x80\0\0\x80\0"


def degrees(count):
    """Return the temperature for a count, in degrees times 5120."""
    near = count / 131072 - T[0] / 8192
    return (count / 16384 - T[0] / 1024) * T[1] + near * near * T[2]


def pascal(count, fine):
    """Return the pressure for a count, in pascal; fine is degrees() of the temperature."""
    p1, p2, p3, p4, p5, p6, p7, p8, p9 = P
    half = fine / 2 - 64000
    offset = (half * half * p6 / 32768 + half * p5 * 2) / 4 + p4 * 65536
    slope = (1 + (p3 * half * half / 524288 + p2 * half) / 524288 / 32768) * p1
    pressure = (1048576 - count - offset / 4096) * 6250 / slope
    return pressure + (p9 * pressure * pressure / 2147483648 + pressure * p8 / 32768 + p7) / 16


def percent(count, fine):
    """Return the humidity for a count, in percent; fine is degrees() of the temperature."""
    h1, h2, h3, h4, h5, h6 = H
    near = fine - 76800
    humidity = count - (h4 * 64 + h5 / 16384 * near)
    humidity *= h2 / 65536 * (1 + h6 / 67108864 * near * (1 + h3 / 67108864 * near))
    return min(max(humidity * (1 - h1 * humidity / 524288), 0), 100)


def count_of(value, function, most):
    """Return the first count at which a rising function reaches the value."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if function(middle) < value:
            low = middle + 1
        else:
            high = middle
    return low


class Bme280Chip(RegisterChip):
    address = 118
    names = ("temperature", "humidity", "pressure")
    first = 0xF7

    def __init__(self, play):
        RegisterChip.__init__(self, play)
        self.humid = False  # whether the chip measures humidity
        factory = pack("<HhhHhhhhhhhhBB", *T, *P, 0, H[0])
        shared = H[3] & 15 | (H[4] & 15) << 4
        more = pack("<hBbBbb", H[1], H[2], H[3] >> 4, shared, H[4] >> 4, H[5])
        self.fixed = {0xD0: 0x60}
        for k, value in enumerate(factory):
            self.fixed[0x88 + k] = value
        for k, value in enumerate(more):
            self.fixed[0xE1 + k] = value

    def at(self, register):
        if register in self.fixed:
            return bytes((self.fixed[register],))
        return RegisterChip.at(self, register)

    def writeto_mem(self, register, data):
        if register == 0xF5 and self.set_to(0xF4) & 3 == 3:
            return  # the chip ignores this register while it measures
        if register == 0xF4:  # this write makes the humidity setting effective
            self.humid = bool(self.set_to(0xF2) & 7)
        RegisterChip.writeto_mem(self, register, data)

    def measure(self):
        control = self.set_to(0xF4)
        if control & 3 != 3 or not control >> 5:
            return _NOTHING
        warm = count_of(self.play("temperature") / 100 * 5120, degrees, 0xFFFFF)
        fine = degrees(warm)
        damp = count_of(self.play("humidity") / 10, lambda n: percent(n, fine), 0xFFFF)
        press = count_of(-self.play("pressure"), lambda n: -pascal(n, fine), 0xFFFFF)
        press = press if control >> 2 & 7 else 0x80000
        damp = damp if self.humid else 0x8000
        return pack(">HBHBH", press >> 4, (press & 15) << 4, warm >> 4, (warm & 15) << 4, damp)
