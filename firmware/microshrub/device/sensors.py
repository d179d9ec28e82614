"""The board's sensors: each writes a sample's raw values when it is due.

A sensor has `features`, the number of its values; `pace`, which knows when to read it; and
`read(values)`, which is called then and returns whether values, array('i'), now has a sample.
sensor_start.py makes those that the configuration names.
"""

import micropython
from micropython import const

from ..learner import choice, whole
from .config import ConfigurationError

_TICKS = (1 << 30) - 1
_HALF = 1 << 29
_WAKE = 0x6B  # register: power management; 0 ends the sleep after power-on
_DATA = 0x3B  # acceleration x, y, z, temperature, rotation x, y, z; 16 bits each, big-endian
_TEMPERATURE = const(3)  # its place, and that of the first axis behind it
_LIMIT = const(32767)


def periods(rate):
    """Return a period in microseconds, at most a second, and how many of them there are per
    sample. Raises ValueError.
    """
    if not isinstance(rate, str):
        return 1000000 // whole("rate", rate, 1, 1000), 1
    one, _, seconds = rate.partition("/")
    if one != "1" or not seconds.isdigit():
        raise ValueError('rate has to be a whole number, or like "1/300", not %r' % rate)
    return 1000000, whole("the seconds of rate", int(seconds), 1, 86400)


class Pace:
    """The times of samples: rate is 1..1000 a second, or "1/300" for one every 300 s, up to 86400.

    The clock counts microseconds from 0 to 2**30 - 1 and starts again, as time.ticks_us() does.
    Call wait() or due() at least every nine minutes. Allocates nothing.

    `left` is the number of periods until the next sample; `missed` counts samples that fell due
    while the program was busy, at most 2**29.
    """

    def __init__(self, rate, clock):
        self.period, self._every = periods(rate)
        self.left = 1
        self.missed = 0
        self._clock = clock
        self._next = clock()

    def wait(self):
        """Return the microseconds until due() has to be called; 0 or less: now."""
        return ((self._next - self._clock() + _HALF) & _TICKS) - _HALF

    def due(self):
        """Return whether a sample is due; if so, start the next wait. Drops missed samples."""
        late = -self.wait()
        if late < 0:
            return False
        passed = late // self.period
        self._next = (self._next + (passed + 1) * self.period) & _TICKS
        self.left -= passed + 1
        if self.left > 0:
            return False
        passed = -self.left // self._every
        self.missed = min(self.missed + passed, _HALF)
        self.left += (passed + 1) * self._every
        return True


class AnalogPins:
    """Voltages at pins, 0..65535 each: {"kind": "adc", "pins": [26, 27], "rate": 50}."""

    def __init__(self, options, board):
        pins = options["pins"]
        if not isinstance(pins, list) or not pins:
            raise ConfigurationError("the sensor adc: pins has to be a list of pins")
        self.pace = Pace(options["rate"], board.microseconds)
        self.features = len(pins)
        self.failures = 0
        self._inputs = [board.adc(pin) for pin in pins]

    def read(self, values):
        """Read all pins. Allocates nothing, if the port's read_u16() does not."""
        for i in range(self.features):
            values[i] = self._inputs[i].read_u16()
        return True


@micropython.viper
def unpack(data, at: int, values, axes: int, skip: int):
    """Unpack signed big-endian values of 16 bits, from data[at] on, into values, array('i').

    After the third value, `skip` bytes are left out.
    """
    source = ptr8(data)
    target = ptr32(values)
    for axis in range(axes):
        if axis == _TEMPERATURE:
            at += skip
        v = source[at] << 8 | source[at + 1]
        target[axis] = v - 65536 if v > _LIMIT else v
        at += 2


class Motion:
    """An accelerometer and gyroscope of the MPU6050's class on an I2C bus.

    Its readings: acceleration x, y, z, then rotation x, y, z, -32768..32767 each.

    Options: scl, sda, i2c: pins and number of the bus; address; rate: readings a second; axes: 6,
    or 3 without the rotation.
    """

    def __init__(self, options, board):
        self.pace = Pace(options["rate"], board.microseconds)
        self.failures = 0  # readings that failed, at most 2**29
        self._address = whole("address", options["address"], 8, 119)
        self._bus = board.i2c(options["i2c"], options["scl"], options["sda"])
        self.features = choice("axes", options["axes"], (3, 6))
        self._data = bytearray(14 if self.features > 3 else 6)
        self.set(_WAKE, b"\0")

    def set(self, register, data):
        """Write a register. Raises HardwareError if no sensor answers."""
        try:
            self._bus.writeto_mem(self._address, register, data)
        except OSError:
            from .hardware import HardwareError  # a Button alone does not need the module

            raise HardwareError(
                "no sensor answers at I2C address %d: check the wiring and the pins in config.json"
                % self._address
            ) from None

    def read(self, values):
        """Take a reading; False if the sensor does not answer."""
        try:
            self._bus.readfrom_mem_into(self._address, _DATA, self._data)
        except OSError:
            self.failures = min(self.failures + 1, 1 << 29)
            return False
        unpack(self._data, 0, values, self.features, 2)  # 2: the temperature
        return True


class Button:
    """Labels by hand: one class while a button is pressed, another class while it is not."""

    def __init__(self, options, board):
        self._pin = board.button(options["pin"])
        both = options["pressed"], options["released"]
        self._pressed, self._released = [-1 if c is None else c for c in both]

    def label(self):
        """Return the class of a sample taken now, -1 if it is not known."""
        return self._released if self._pin.value() else self._pressed
