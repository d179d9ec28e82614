"""The times of a sensor's readings: a fixed rate, by ticks that wrap around."""

from ..learner import whole

_TICKS = (1 << 30) - 1
_HALF = 1 << 29


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
