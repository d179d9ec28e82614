"""machine.lightsleep() of a virtual board."""

import select
import sys


class LightSleep:
    """A light sleep by the board's clock; bytes that arrive meanwhile are lost."""

    def __init__(self, sleep_ms):
        self._sleep_ms = sleep_ms
        self._line = select.poll()
        self._line.register(sys.stdin, select.POLLIN)

    def __call__(self, milliseconds):
        self._sleep_ms(milliseconds)
        while any(self._line.ipoll(0)):
            if not sys.stdin.buffer.read(1):
                break
