"""A board that sleeps: analog pins, a button and machine.lightsleep(), with all its faults.

board.json has the settings: how many microseconds a sample takes the board, between which seconds
the button is pressed, and what lightsleep() does: "sleeps", "at once" (it returns, and no time has
passed), "short" (it wakes up after a tenth), "stopped" (it sleeps, and the clock stands still).
"""

import sys
from time import SETTINGS, clock

import uselect

SLEEP = 2


class Pin:
    """A button that is pressed at times; no other pin does anything."""

    IN, OUT, PULL_UP, IRQ_FALLING = range(4)

    def __init__(self, number, mode=0, pull=0, value=0):
        self.number = number

    def value(self, *new):
        """0 while it is pressed."""
        return int(not any(a <= clock.seconds < b for a, b in SETTINGS["pressed"]))

    def irq(self, handler=None, trigger=0):
        """What rp2 needs for a pin to wake it."""
        if handler is None:
            raise TypeError("no handler")


class ADC:
    """A voltage that changes; reading it takes the time of the whole sample."""

    def __init__(self, pin):
        self._at = pin.number * 9000

    def read_u16(self):
        """0..65535."""
        clock.add(SETTINGS["sample_us"])
        self._at = (self._at + 7919) & 65535
        return self._at


class WDT:
    """Ends the program if it is not fed for so long."""

    def __init__(self, timeout=5000):
        self._timeout = timeout
        self._last = clock.seconds

    def feed(self):
        """It is there."""
        if 1000 * (clock.seconds - self._last) > self._timeout + 1000:
            sys.exit("the watchdog bit")
        self._last = clock.seconds


def lightsleep(milliseconds):
    """Sleep; what comes meanwhile is lost, as it is to a UART whose clock stands still."""
    if clock.ended or SETTINGS["lightsleep"] == "at once":
        return
    waiting = uselect.poll()
    waiting.register(sys.stdin, uselect.POLLIN)
    while waiting.poll(0):
        if not sys.stdin.buffer.read(1):
            break
    if SETTINGS["lightsleep"] != "stopped":
        part = 100 if SETTINGS["lightsleep"] == "short" else 1000
        clock.add(part * milliseconds, True)
