"""A simulated clock, advanced by machine.py, in place of MicroPython's."""

import json

with open("board.json") as _file:
    SETTINGS = json.load(_file)
try:
    with open("asleep.json") as _file:
        WOKEN = json.load(_file)  # the board's state before its deep sleep
except OSError:
    WOKEN = None

_TICKS = (1 << 30) - 1


class Clock:
    """Seconds and microseconds since power-on, in total and asleep."""

    seconds = asleep = started = 0
    microseconds = asleep_microseconds = started_microseconds = 0
    ended = False

    def add(self, microseconds, asleep=False):
        """Let time pass."""
        self.microseconds += microseconds
        while self.microseconds >= 1000000:
            self.microseconds -= 1000000
            self.seconds += 1
        if asleep:
            self.asleep_microseconds += microseconds
            while self.asleep_microseconds >= 1000000:
                self.asleep_microseconds -= 1000000
                self.asleep += 1
        if not self.ended and self.seconds >= SETTINGS["seconds"]:
            self.ended = True
            with open("ended.json", "w") as file:
                json.dump({"seconds": self.seconds, "asleep": self.asleep}, file)


clock = Clock()
if WOKEN:
    clock.seconds, clock.microseconds, clock.asleep, clock.asleep_microseconds = WOKEN["clock"]
    clock.add(1000 * SETTINGS["wake_ms"])
    clock.started, clock.started_microseconds = clock.seconds, clock.microseconds  # of its ticks
    clock.add(1000 * SETTINGS["start_ms"])


def ticks_ms():
    """Return milliseconds; a call takes some microseconds, as on a board."""
    clock.add(10)
    passed = (clock.microseconds - clock.started_microseconds) // 1000
    return ((clock.seconds - clock.started) * 1000 + passed) & _TICKS


def ticks_us():
    """Return microseconds; a call takes some, as on a board."""
    clock.add(10)
    passed = clock.microseconds - clock.started_microseconds
    return ((clock.seconds - clock.started) % 1073 * 1000000 + passed) & _TICKS


def sleep_ms(milliseconds):
    """Wait awake."""
    clock.add(1000 * milliseconds)
