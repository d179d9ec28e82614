"""An accelerometer and gyroscope of the MPU6050's class on an I2C bus."""

import micropython
from micropython import const

from ..learner import choice, whole
from .hardware import HardwareError
from .pace import Pace

_WAKE = 0x6B  # register: power management; 0 ends the sleep after power-on
_DATA = 0x3B  # acceleration x, y, z, temperature, rotation x, y, z; 16 bits each, big-endian
_TEMPERATURE = const(3)  # its place, and that of the first axis behind it
_LIMIT = const(32767)


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
    """Its readings: acceleration x, y, z, then rotation x, y, z, -32768..32767 each.

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
