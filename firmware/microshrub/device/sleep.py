"""Light sleep between two readings of the board's own sensor: {"every", "window", "hold", "pin"}.

The board cannot hear its line while it sleeps, so it stays awake for `window` seconds in every
`every`, and for `hold` seconds after its start, after the last byte that came, and after a button
at `pin` was pressed. Seconds asleep are counted; all others of its uptime it was awake.

machine.lightsleep() has faults that are worked round here: it may end at once (MicroPython's
issues 16180 and 17204, or a USB host that keeps the board awake), which is noticed by the clock;
then the board waits awake instead, and nothing is counted as sleep. On some ports no pin wakes it
(issues 7035 and 16442), so with a button it sleeps for at most a second, and looks at it then.
"""

from micropython import const

from ..learner import whole

_TICKS = const(1073741823)
_LEAST = const(10)  # milliseconds that are worth a sleep
_LONGEST = const(60000)  # of one sleep: clocks wrap around, and rp2 cannot sleep for 72 minutes
_LOOK = const(1000)  # between two looks at the button
_IDLE = const(100)  # to wait for input at once
_MOST = const(536870911)  # of a word of the status


def make_sleep(app, sensor, board, say):
    """The Sleep that the configuration of an application asks for; say(words) is for people."""
    configuration = app.configuration
    sleep = Sleep(configuration.sleep, board, configuration.watchdog)
    if configuration.sleep.get("deep") is not None:
        from .deep_sleep import DeepSleep

        DeepSleep(sleep, app, sensor, board, say)
    return sleep


class Sleep:
    """Sleeps on a board, see hardware.py, whose watchdog waits for so many milliseconds, or 0."""

    def __init__(self, options, board, watchdog):
        self._clock = board.milliseconds
        self._sleep = board.of_machine("lightsleep")
        self._every = 1000 * whole("sleep's every", options["every"], 1, 86400)
        self._window = 1000 * whole("sleep's window", options["window"], 0, 86400)
        self._hold = 1000 * whole("sleep's hold", options["hold"], 1, 86400)
        self._longest = min(_LONGEST, watchdog // 2) if watchdog else _LONGEST
        self._button = None
        if options.get("pin") is not None:
            self._button = board.button(options["pin"])
            board.wake_by(self._button)
            self._longest = min(self._longest, _LOOK)
        self.seconds = 0  # asleep
        self._milliseconds = 0  # and what is above
        self._open = self._hold  # milliseconds for which the line is still listened to
        self._shut = self._every  # and until it is again
        self._last = self._clock()

    def heard(self):
        """A byte has come."""
        self._open = self._hold

    def rest(self, wait):
        """Sleep for at most so many milliseconds, if the line is not listened to.

        Returns for how many the input may be waited for. Allocates nothing.
        """
        now = self._clock()
        passed = (now - self._last) & _TICKS
        self._last = now
        self._open = max(self._open - passed, 0)
        self._shut -= passed
        if self._shut <= 0:
            self._shut = self._every
            self._open = max(self._open, self._window)
        if self._button and not self._button.value():
            self._open = self._hold
        n = min(wait, self._shut, self._longest)
        if self._open or n < _LEAST:
            return min(wait, _IDLE)
        self._sleep(n)
        slept = (self._clock() - now) & _TICKS
        if 2 * slept < n:
            return min(n - slept, _IDLE)
        self._milliseconds += slept
        self.seconds = min(self.seconds + self._milliseconds // 1000, _MOST)
        self._milliseconds %= 1000
        return 0
