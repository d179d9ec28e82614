"""A simulated board that sleeps: analog pins, a button and machine.lightsleep(), with faults.

board.json has the settings: the microseconds that a sample takes, the seconds between which the
button is pressed, and the behaviour of lightsleep(): "sleeps", "at once" (it returns, and no time
has passed), "short" (it wakes up after a tenth), "stopped" (it sleeps, and the clock stops). A
deep sleep ends the program; its parent process has to start it again, see sleeping_support.py.
"""

import json
import os
import sys
from time import SETTINGS, WOKEN, clock

import uselect

SLEEP, DEEPSLEEP = 1, 2  # esp32's values
PWRON_RESET, DEEPSLEEP_RESET = 1, 4
EXT0_WAKE, TIMER_WAKE = 2, 4
_BYTES = 2048  # the size of the clock's memory


class Pin:
    """A button that is pressed at times; other pins do nothing."""

    IN, OUT, PULL_UP, IRQ_FALLING = range(4)
    waker = False  # whether a pin ends a deep sleep

    def __init__(self, number, mode=0, pull=0, value=0):
        self.number = number

    def value(self, *new):
        """Return 0 while the button is pressed."""
        return int(not any(a <= clock.seconds < b for a, b in SETTINGS["pressed"]))

    def irq(self, handler=None, trigger=0, wake=None):
        """Enable a wake-up pin as rp2 needs it; on esp32, `wake` names the sleeps that it ends."""
        if handler is None and wake is None:
            raise TypeError("no handler")
        Pin.waker = Pin.waker or bool(wake and wake & DEEPSLEEP)


if SETTINGS["port"] == "esp32":
    Pin.WAKE_LOW = 4


class ADC:
    """A changing voltage; reading it takes the time of the whole sample."""

    turns = WOKEN["turns"] if WOKEN else 0

    def __init__(self, pin):
        self._at = pin.number * 9000

    def read_u16(self):
        """Return 0..65535."""
        clock.add(SETTINGS["sample_us"])
        ADC.turns += 1
        return (self._at + 7919 * ADC.turns) & 65535


class WDT:
    """A watchdog: ends the program if it is not fed in time."""

    def __init__(self, timeout=5000):
        self._timeout = timeout
        self._last = clock.seconds

    def feed(self):
        """Feed the watchdog."""
        if 1000 * (clock.seconds - self._last) > self._timeout + 1000:
            sys.exit("the watchdog bit")
        self._last = clock.seconds


def lightsleep(milliseconds):
    """Sleep; input that arrives during sleep is lost, as on a UART with a stopped clock."""
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


class RTC:
    """A clock with memory that lasts through a deep sleep."""

    kept = bytes(WOKEN["memory"]) if WOKEN else b""

    def memory(self, *new):
        """Return the memory, or set it; at most 2048 bytes."""
        for data in new:
            if len(data) > _BYTES:
                raise ValueError("buffer too long")
            RTC.kept = bytes(data)
        return None if new else RTC.kept


def reset_cause():
    """Return why the board has started."""
    return DEEPSLEEP_RESET if WOKEN else PWRON_RESET


def wake_reason():
    """Return the reason for the end of the deep sleep, 0 without one."""
    return WOKEN["reason"] if WOKEN else 0


class _NoPower(BaseException):
    """Ends the program; no handler in the program catches it, as a chip loses its RAM at once."""


def deepsleep(milliseconds):
    """Sleep without RAM until a press of the wake-up button, or until the timer ends."""
    if clock.ended:
        return
    reason = TIMER_WAKE
    for begin, _ in SETTINGS["pressed"] if Pin.waker else ():
        if clock.seconds < begin < clock.seconds + milliseconds // 1000:
            reason, milliseconds = EXT0_WAKE, 1000 * (begin - clock.seconds)
    left = 1000 * (SETTINGS["seconds"] - clock.seconds)
    clock.add(1000 * min(milliseconds, left), True)
    if clock.ended:
        return
    now = clock.seconds, clock.microseconds, clock.asleep, clock.asleep_microseconds
    with open("asleep.new", "w") as file:
        json.dump(
            {"clock": now, "turns": ADC.turns, "memory": list(RTC.kept), "reason": reason}, file
        )
    os.rename("asleep.new", "asleep.json")
    raise _NoPower
