"""The clock of a virtual board: it does not go on while this PC has no time for the board.

A busy PC lets a process wait for many milliseconds, in which a real board would have gone on and
missed no reading. So what counts is the processor's time that the board has had, and what it has
waited for. A board that is behind our time catches up where it waits, and with each look at its
clock; it gives up what is more than a second.
"""

import select
import time

_MOST_BEHIND = 1000000  # microseconds of ours
_LOOK = 100  # microseconds that a board takes from one look at the clock to the next, about
_LOOKS = 8  # at the clock with nothing computed in between, before a board only waits
_NAP = 250  # microseconds of the board's time that each further look takes, to spare the core
_WRAPS = 0x7FFFFFFF


def _processor_time():
    """What gives the microseconds that this process has had, modulo 2**31; ours without ffi."""
    try:
        import ffi

        return ffi.open("libc.so.6").func("i", "clock", "")
    except (ImportError, OSError):
        return lambda: time.time_ns() // 1000


class BoardClock:
    """Microseconds since the board was switched on, `speed` times as fast as ours."""

    def __init__(self, speed):
        self.speed = speed
        self._used = _processor_time()
        self._last = self._used()
        self._now = 0
        self._begin = time.time_ns()
        self._is_behind = False
        self._looked = self._last  # what the processor's time was at the program's last look
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
        """The time, for a program that looks at the clock; one that only looks takes a nap."""
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
        """Let so much of the board's time pass."""
        now = self.look()
        time.sleep_us(self._ours(now + microseconds))
        self._set(now + microseconds)

    def poll(self, line, milliseconds):
        """What comes, within so many milliseconds of the board's; -1: however long it takes."""
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
        """Microseconds of ours until the board's time is that; 0 if it is behind."""
        ahead = then // self.speed - (time.time_ns() - self._begin) // 1000
        if ahead < -_MOST_BEHIND:
            self._begin += 1000 * (-ahead - _MOST_BEHIND)
        return max(ahead, 0)


def _copy(module, names):
    """What a module has besides these names, as attributes of an object."""
    return [(name, getattr(module, name)) for name in dir(module) if name not in names]


class BoardTime:
    """The module `time` by that clock."""

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
    """What select.poll() gives: who waits for input waits in the board's time."""

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
    """The module `select` by that clock."""

    def __init__(self, clock):
        self.poll = lambda: _Poll(clock)
        for name, value in _copy(select, ("poll",)):
            setattr(self, name, value)
