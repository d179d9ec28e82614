"""Several sensors whose values form one reading."""

from array import array

import micropython

_ABSENT = -(1 << 29)  # stands for a value that has not come yet


@micropython.viper
def join(source, target, at: int, count: int):
    """Copy `count` values to target[at :]; both are array('i')."""
    values = ptr32(source)
    out = ptr32(target)
    for k in range(count):
        out[at + k] = values[k]


class CombinedSensor:
    """The first sensor sets the pace. Slower sensors are read less often, and their newest values
    are used again.

    every: for each sensor, how many readings of the first sensor come per reading of this one.
    """

    def __init__(self, sensors, every):
        self._sensors = tuple(sensors)
        self._every = tuple(every)
        self._wait = [1] * len(self._sensors)
        self._values = tuple([array("i", [_ABSENT] * each.features) for each in self._sensors])
        self.features = sum([each.features for each in self._sensors])
        self.first = self._sensors[0]
        self.pace = self.first.pace

    @property
    def failures(self):
        """How many readings failed, of all sensors."""
        return min(sum([each.failures for each in self._sensors]), 1 << 29)

    def read(self, values):
        """Read the first sensor and others that are due; returns whether there is a reading."""
        at = k = 0
        while k < len(self._sensors):
            if not self._is_read(k):
                return False
            join(self._values[k], values, at, self._sensors[k].features)
            at += self._sensors[k].features
            k += 1
        return True

    def _is_read(self, k):
        """Read sensor k if it is due; returns whether its values can be used."""
        self._wait[k] -= 1
        if self._wait[k]:
            return True
        self._wait[k] = self._every[k]
        if self._sensors[k].read(self._values[k]) or k:
            return True
        self._wait[k] = 1
        return False
