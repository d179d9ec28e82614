"""Light and deep sleep between two readings of the board's own sensor.

config.json's `sleep` is {"every", "window", "hold", "pin", "deep"}. The board cannot hear its line
while it sleeps, so it stays awake for `window` seconds in every `every`, and for `hold` seconds
after its start, after the last byte that came, and after a button at `pin` was pressed. Seconds
asleep are counted; the board was awake for all others of its uptime.

This file works around faults of machine.lightsleep(): it may end at once (MicroPython's issues
16180 and 17204, or a USB host that keeps the board awake), which the clock reveals; then the board
waits awake instead, and nothing is counted as sleep. On some ports no pin wakes it (issues 7035
and 16442), so with a button it sleeps for at most a second at a time, and then looks at the
button.

With "deep": seconds, the board sleeps deeply if the next sample is due in that many seconds or
more. Deep sleep keeps no RAM. So a checkpoint is saved before it, unless one was saved since the
sample's label came, and the board starts again when the next sample is due. A shorter sleep is
light, as deep sleep would take more energy than it saves; a sleep is light, too, if nothing can be
saved before it: while the first samples are only observed, and when the disk is full. If a sensor
has no reading yet, it is read again once a second, a few times. The line is open for `window`
seconds after each deep sleep, and for `hold` seconds after a sleep that the button ended, or after
power-on.

The times in the link's status survive a deep sleep in the clock's own memory, little-endian:

    magic b"mshd" | milliseconds since the start u64 | of them asleep u64 | this sleep's u32
    | samples missed u32

A sleep that the button ended is not counted, since nobody knows how long it was.
"""

import struct

from micropython import const

from ..learner import whole

_TICKS = const(1073741823)
_LEAST = const(10)  # milliseconds that are worth a sleep
_LONGEST = const(60000)  # milliseconds of a sleep: clocks wrap around, and rp2 ends at 72 minutes
_LOOK = const(1000)  # between two looks at the button
_IDLE = const(100)  # milliseconds to wait for input
_MOST = const(536870911)  # the largest value of a word of the status

_KEPT = "<4sQQII"
_MAGIC = b"mshd"
_BYTES = const(28)
_TRIES = const(10)  # readings of a sensor that has none at once
_START = const(10000)  # milliseconds; a start takes less, and the clock counts from there


def make_sleep(app, sensor, board, say):
    """Make the Sleep that the configuration describes; say(text) prints a line for people."""
    configuration = app.configuration
    sleep = Sleep(configuration.sleep, board, configuration.watchdog)
    if configuration.sleep.get("deep") is not None:
        DeepSleep(sleep, app, sensor, board, say)
    return sleep


class Sleep:
    """Sleeps on a board, see hardware.py; its watchdog's time in milliseconds, or 0 for none."""

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
        self.seconds = 0  # asleep,
        self._milliseconds = 0  # milliseconds asleep since the last full second
        self._open = self._hold  # milliseconds for which the board still listens to the line,
        self._shut = self._every  # milliseconds until it listens again
        self._last = self._clock()

    def heard(self):
        """Stay awake for a while, as a byte has arrived."""
        self._open = self._hold

    def rest(self, wait):
        """Sleep for at most `wait` milliseconds, unless the board listens to the line.

        Returns how many milliseconds to wait for input. Allocates nothing.
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


class DeepSleep:
    """Makes an application's Sleep sleep deeply; say(text) prints a line for people."""

    def __init__(self, sleep, app, sensor, board, say):
        options = app.configuration.sleep
        self._least = 1000 * whole("sleep's deep", options["deep"], 1, 86400)
        self._sleep = sleep
        self._app = app
        self._sensor = sensor
        self._say = say
        self._light, sleep._sleep = sleep._sleep, self._fall_asleep
        self._deep = board.of_machine("deepsleep")
        self._memory = board.of_machine("RTC")().memory
        self._start = min(board.milliseconds(), _START)
        self._tries = _TRIES
        self._failures = 0
        self._failed = 0  # milliseconds until the next sample when saving failed
        if options.get("pin") is not None:
            board.wake_by(sleep._button, "DEEPSLEEP")
        if board.of_machine("reset_cause")() == board.of_machine("DEEPSLEEP_RESET"):
            self._wake(board.of_machine("wake_reason")() == board.of_machine("TIMER_WAKE"))

    def _wake(self, in_time):
        """Continue the times from before the sleep; in_time: it ended by itself."""
        kept = self._memory()
        self._memory(b"")
        if len(kept) != _BYTES or kept[:4] != _MAGIC:
            return
        _, passed, asleep, slept, missed = struct.unpack(_KEPT, kept)
        app, sleep = self._app, self._sleep
        if in_time:
            sleep._open = sleep._window
            passed += slept
            asleep += slept
        app.seconds, app._milliseconds = divmod(passed + self._start, 1000)
        sleep.seconds, sleep._milliseconds = divmod(asleep, 1000)
        app.pace.missed = missed

    def _fall_asleep(self, milliseconds):
        """Sleep deeply until the next sample is due, or lightly for `milliseconds`."""
        pace = self._app.pace
        if self._tries and self._sensor.failures > self._failures:
            self._tries -= 1
            self._failures = self._sensor.failures
            pace.left = 1
        left = pace.wait() // 1000 + (pace.left - 1) * (pace.period // 1000) - self._start
        if left < self._least or not self._saved(left):
            self._light(milliseconds)
            return
        app, sleep = self._app, self._sleep
        self._memory(struct.pack(
            _KEPT, _MAGIC, 1000 * app.seconds + app._milliseconds,
            1000 * sleep.seconds + sleep._milliseconds, left, pace.missed,
        ))  # fmt: skip
        self._deep(left)

    def _saved(self, left):
        """Save everything; returns whether that worked. If not, try again a sample later."""
        app, failed = self._app, self._failed
        self._failed = left
        if left < failed or app.trial or not app.quantizer.frozen:
            return False
        app.settle()
        # A sample with neither a label nor an id changes only the state of label queries
        nothing_new = not app.unsaved() and not app.sample_id and not app.queries
        if (nothing_new and app.store.number()) or app.store.save():
            return True
        self._say(app.store.message)
        return False
