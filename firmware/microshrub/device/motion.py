"""An accelerometer and gyroscope of the MPU6050's class on an I2C bus."""

import micropython
from micropython import const

from ..learner import whole
from .hardware import HardwareError
from .pace import Pace

_AXES = 6
_WAKE = 0x6B  # register: power management; 0 ends the sleep after power-on
_DATA = 0x3B  # acceleration x, y, z, temperature, rotation x, y, z; 16 bits each, big-endian
_DATA_BYTES = 14
_TEMPERATURE = const(3)  # its place, and that of the first axis behind it
_LIMIT = const(32767)


@micropython.viper
def unpack(data, values, axes: int, skip: int):
    """values = big-endian values of 16 bits with a sign; those behind the third begin skip later.

    data is bytes, values array('i').
    """
    source = ptr8(data)
    target = ptr32(values)
    at = 0
    for axis in range(axes):
        if axis == _TEMPERATURE:
            at += skip
        v = source[at] << 8 | source[at + 1]
        target[axis] = v - 65536 if v > _LIMIT else v
        at += 2


class Motion:
    """Its readings: acceleration x, y, z, then rotation x, y, z, -32768..32767 each.

    Options: scl, sda, i2c: pins and number of the bus; address; rate: readings a second.
    """

    features = _AXES

    def __init__(self, options, board):
        self.pace = Pace(options["rate"], board.microseconds)
        self.failures = 0  # readings that the sensor did not answer, at most 2**29
        self._address = whole("address", options["address"], 8, 119)
        self._bus = board.i2c(options["i2c"], options["scl"], options["sda"])
        self._data = bytearray(_DATA_BYTES)
        self.set(_WAKE, b"\0")

    def set(self, register, data):
        """Write a register. Raises HardwareError if nobody answers."""
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
        unpack(self._data, values, _AXES, 2)  # 2: the temperature
        return True
