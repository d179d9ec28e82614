"""A custom sensor: a user's class in a file beside the library.

    class Light:
        names = ("light", "dark")             # the names of a reading's values

        def __init__(self, board, gain=1):    # board: see hardware.py; then the sensor's settings
            ...

        def read(self, values):               # array('i'), a place for each name
            values[0] = ...
            return True                       # False: there is no reading now

read() is called `rate` times a second; it may raise OSError.
"""

import micropython
from micropython import const

from .hardware import HardwareError
from .sensors import Pace

_MOST = const(536870911)  # 2**29 - 1
_ABSENT = const(-536870912)
_MISTAKES = (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError)


@micropython.viper
def keep_within(values, count: int):
    """Keep values, array('i'), within 30 bits; -2**29 stands for a missing value."""
    v = ptr32(values)
    for k in range(count):
        if v[k] > _MOST:
            v[k] = _MOST
        elif v[k] < _ABSENT:
            v[k] = 0 - _MOST


class CustomSensor:
    """The sensor that options describe: module, class, number of values, rate, its settings."""

    def __init__(self, options, board):
        name = self._name = options["module"]
        self.pace = Pace(options["rate"], board.microseconds)
        self.failures = 0  # readings that failed, at most 2**29
        try:
            sensor_class = getattr(__import__(name), options["class"])
            self.features = len(sensor_class.names)
            self._sensor = sensor_class(board, **options["options"])
        except (ImportError, AttributeError, OSError, TypeError) as error:
            raise HardwareError("the sensor of %s.py: %s" % (name, error)) from None
        if self.features != options["values"]:
            raise HardwareError(
                "the sensor of %s.py has %d values, and the program is for %d: build it again"
                % (name, self.features, options["values"])
            )

    def read(self, values):
        """Take a reading, if there is one."""
        if not self._is_read(values):
            self.failures = min(self.failures + 1, 1 << 29)
            return False
        keep_within(values, self.features)
        return True

    def _is_read(self, values):
        try:
            return self._sensor.read(values)
        except OSError:
            return False
        except _MISTAKES as error:
            words = self._name, type(error).__name__, error
            raise HardwareError("the sensor of %s.py, in read(): %s: %s" % words) from None
