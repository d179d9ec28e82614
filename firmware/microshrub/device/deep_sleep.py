"""Deep sleep between two samples, where the options of sleep.py have "deep": seconds.

Deep sleep keeps no RAM. So a checkpoint is saved before it, and behind it the board starts anew,
when the next sample is due. If that is in less than `deep` seconds, deep sleep takes more than it
spares, and the board sleeps lightly; likewise where nothing can be saved: while the first samples
are only observed, and when the disk is full. A sensor that has no reading at once is asked again,
each second, a few times.

The line is open for `window` seconds after each deep sleep, and for `hold` seconds after one that
the button ended, or after power-on.

What the state tells of the time goes on in the clock's own memory, little-endian:

    magic b"mshd" | milliseconds since the start u64 | of them asleep u64 | this sleep's u32
    | samples missed u32

A sleep that the button ended is not counted, since nobody knows how long it was.
"""

import struct

from micropython import const

from ..learner import whole

_KEPT = "<4sQQII"
_MAGIC = b"mshd"
_BYTES = const(28)
_TRIES = const(10)  # readings of a sensor that has none at once
_START = const(10000)  # milliseconds; a start takes less, and the clock counts from there


class DeepSleep:
    """Has a Sleep of an application sleep deeply; say(words) is for whoever looks."""

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
        self._failed = 0  # milliseconds that were left until the sample when nothing was saved
        if options.get("pin") is not None:
            board.wake_by(sleep._button, "DEEPSLEEP")
        if board.of_machine("reset_cause")() == board.of_machine("DEEPSLEEP_RESET"):
            self._wake(board.of_machine("wake_reason")() == board.of_machine("TIMER_WAKE"))

    def _wake(self, in_time):
        """Go on with the time from before the sleep, if it ended in time."""
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
        """Sleep deeply until the next sample is due, or lightly for so long."""
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
        """Save all; returns whether it is safe. What went wrong is tried again a sample later."""
        app, failed = self._app, self._failed
        self._failed = left
        if left < failed or app.trial or not app.quantizer.frozen:
            return False
        if app.saving:
            app.saving.settle()
        if app.store.save():
            return True
        self._say(app.store.message)
        return False
