"""The clock of a virtual board, which stops while this PC has no time for the board.

A busy PC lets a process wait for many milliseconds, in which a real board would go on and miss no
reading. So the clock counts the processor time that the board has used, and the time that it has
waited. A board that is behind real time catches up as it waits, and with each look at its clock; a
lag beyond one second is dropped.
"""

import select
import time

_MOST_BEHIND = 1000000  # microseconds of real time
_LOOK = 100  # microseconds that a board takes from one look at the clock to the next, about
_LOOKS = 8  # looks at the clock without computing in between, beyond which a board just waits
_NAP = 250  # microseconds of the board's time that each further look takes, to spare the core
_WRAPS = 0x7FFFFFFF


def _processor_time():
    """Return a function for the processor's microseconds, modulo 2**31; real time without ffi."""
    try:
        import ffi

        return ffi.open("libc.so.6").func("i", "clock", "")
    except (ImportError, OSError):
        return lambda: time.time_ns() // 1000


class BoardClock:
    """Microseconds since the board was switched on, `speed` times as fast as real time."""

    def __init__(self, speed):
        self.speed = speed
        self._used = _processor_time()
        self._last = self._used()
        self._now = 0
        self._begin = time.time_ns()
        self._is_behind = False
        self._looked = self._last  # the processor time at the program's last look
        self._looks = 0

    def now(self):
        used = self._used()
        self._now += ((used - self._last) & _WRAPS) * self.speed
        self._last = used
        ours = (time.time_ns() - self._begin) // 1000 * self.speed
        self._is_behind = self._now < ours
        if self._is_behind:
            self._now = min(self._now + _LOOK * self.speed, ours)
        return self._now

    def look(self):
        """Return the time for a look at the clock; sleep a little if the program only looks."""
        now = self.now()
        computed = (self._last - self._looked) & _WRAPS
        self._looked = self._last
        self._looks = self._looks + 1 if computed < _LOOK else 0
        if self._looks > _LOOKS and not self._is_behind:
            time.sleep_us(_NAP // self.speed)
            now += _NAP
            self._set(now)
        return now

    def sleep(self, microseconds):
        """Let that much of the board's time pass."""
        now = self.look()
        time.sleep_us(self._ours(now + microseconds))
        self._set(now + microseconds)

    def poll(self, line, milliseconds):
        """Return the line's events within these milliseconds of board time; -1: wait forever."""
        if milliseconds < 0:
            return line.poll(-1)
        now, begin = self.look(), time.time_ns()
        events = line.poll(self._ours(now + 1000 * milliseconds) // 1000)
        waited = 1000 * milliseconds
        if events:
            waited = min((time.time_ns() - begin) // 1000 * self.speed, waited)
        if waited:
            self._looks = 0
        self._set(now + waited)
        return events

    def _set(self, now):
        self._now = now
        self._last = self._used()

    def _ours(self, then):
        """Return the real microseconds until the board's time `then`; 0 if the board is behind."""
        ahead = then // self.speed - (time.time_ns() - self._begin) // 1000
        if ahead < -_MOST_BEHIND:
            self._begin += 1000 * (-ahead - _MOST_BEHIND)
        return max(ahead, 0)


def _copy(module, names):
    """Return a module's attributes but for these names, with their values."""
    return [(name, getattr(module, name)) for name in dir(module) if name not in names]


class BoardTime:
    """The module `time` with a board's clock."""

    def __init__(self, clock):
        # As attributes, since `from time import sleep_ms` refuses methods
        self.ticks_us = lambda: clock.look() & 0x3FFFFFFF
        self.ticks_ms = lambda: clock.look() // 1000 & 0x3FFFFFFF
        self.sleep = lambda seconds: clock.sleep(int(seconds * 1000000))
        self.sleep_ms = lambda milliseconds: clock.sleep(1000 * milliseconds)
        self.sleep_us = clock.sleep
        for name, value in _copy(time, dir(self)):
            setattr(self, name, value)


class _Poll:
    """The object that select.poll() returns: waiting for input takes the board's time."""

    def __init__(self, clock):
        self._clock = clock
        self._poll = select.poll()
        self.register = self._poll.register
        self.unregister = self._poll.unregister
        self.modify = self._poll.modify

    def poll(self, milliseconds=-1):
        return self._clock.poll(self._poll, milliseconds)

    def ipoll(self, milliseconds=-1):
        return iter(self._clock.poll(self._poll, milliseconds))


class BoardSelect:
    """The module `select` with a board's clock."""

    def __init__(self, clock):
        self.poll = lambda: _Poll(clock)
        for name, value in _copy(select, ("poll",)):
            setattr(self, name, value)
