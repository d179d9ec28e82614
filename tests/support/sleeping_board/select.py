"""Waiting for input takes the simulated clock's time, not the PC's."""

import uselect
from time import clock

POLLIN = uselect.POLLIN


class poll:  # noqa: N801, MicroPython's name
    """Poll the standard input."""

    def __init__(self):
        self._real = uselect.poll()

    def register(self, stream, events):
        """Register a stream."""
        self._real.register(stream, events)

    def ipoll(self, milliseconds):
        """Return an event if there is input; otherwise let the time pass and return none."""
        if clock.ended:
            return self._real.ipoll(milliseconds)
        for event in self._real.ipoll(0):
            return (event,)
        clock.add(1000 * milliseconds)
        return ()
