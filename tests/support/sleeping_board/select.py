"""Waiting for input takes the simulated clock's time, not the PC's."""

import uselect
from time import clock

POLLIN = uselect.POLLIN


class poll:  # noqa: N801, MicroPython's name
    """Of the standard input."""

    def __init__(self):
        self._real = uselect.poll()

    def register(self, stream, events):
        """Wait for that."""
        self._real.register(stream, events)

    def ipoll(self, milliseconds):
        """Whether something has come; if not, so much time passes, and nothing comes."""
        if clock.ended:
            return self._real.ipoll(milliseconds)
        for event in self._real.ipoll(0):
            return (event,)
        clock.add(1000 * milliseconds)
        return ()
