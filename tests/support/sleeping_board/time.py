"""A clock that passes as the simulated board's machine.py says; it stands for MicroPython's."""

import json

with open("board.json") as _file:
    SETTINGS = json.load(_file)

_TICKS = (1 << 30) - 1


class Clock:
    """Seconds and microseconds since the start, and those of them asleep."""

    seconds = asleep = 0
    microseconds = asleep_microseconds = 0
    ended = False

    def add(self, microseconds, asleep=False):
        """So much time passes."""
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


def ticks_ms():
    """Milliseconds; a look takes some microseconds, as on a board."""
    clock.add(10)
    return (clock.seconds * 1000 + clock.microseconds // 1000) & _TICKS


def ticks_us():
    """Microseconds; a look takes some, as on a board."""
    clock.add(10)
    return (clock.seconds % 1073 * 1000000 + clock.microseconds) & _TICKS


def sleep_ms(milliseconds):
    """Wait awake."""
    clock.add(1000 * milliseconds)
