"""When the next sample of a sensor is due: a fixed rate, by ticks that wrap around."""

from ..learner import whole

_TICKS = (1 << 30) - 1
_HALF = 1 << 29


class Pace:
    """So many samples a second, 1..1000, by a clock that counts microseconds from 0 to 2**30 - 1
    and starts again, as time.ticks_us() does. Look at least every nine minutes. Allocates nothing.

    `missed` counts samples that were due while the program did something else, at most 2**29.
    """

    def __init__(self, rate, clock):
        self.period = 1000000 // whole("rate", rate, 1, 1000)  # microseconds
        self.missed = 0
        self._clock = clock
        self._next = clock()

    def wait(self):
        """Microseconds until the next sample is due; 0 or less if it is."""
        return ((self._next - self._clock() + _HALF) & _TICKS) - _HALF

    def due(self):
        """Is a sample due? A yes starts the wait for the next one; those missed do not pile up."""
        late = -self.wait()
        if late < 0:
            return False
        passed = late // self.period
        self.missed = min(self.missed + passed, _HALF)
        self._next = (self._next + (passed + 1) * self.period) & _TICKS
        return True
