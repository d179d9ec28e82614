"""A board whose registers and pins replay a recording, under the real program."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from patience import PATIENCE

from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import Observed

READINGS = 400
AXES = ("ax", "ay", "az", "gx", "gy", "gz")

# A board whose registers and pins give the recorded values, one after another, again and again
BOARD = """
import json
from held_clock import Held
from microshrub.device.program import main

with open("recorded.json") as file:
    RECORDED = json.load(file)

class Bus:
    def __init__(self):
        self.at = 0
        self.awake = False
    def writeto_mem(self, address, register, data):
        if address != 104:
            raise OSError(5)
        self.awake = register == 0x6B and data == b"\\0"
    def readfrom_mem_into(self, address, register, buffer):
        if not self.awake or register != 0x3B or len(buffer) != 14:
            raise OSError(5)
        row = RECORDED[self.at % len(RECORDED)]
        self.at += 1
        if row is None:
            raise OSError(110)
        for k in range(7):
            buffer[2 * k] = row[k] >> 8 & 255
            buffer[2 * k + 1] = row[k] & 255

class Input:
    def __init__(self, pin):
        self.pin, self.at = pin, 0
    def read_u16(self):
        self.at += 1
        return (self.at * 100 + self.pin) % 65536
    def value(self):
        self.at += 1
        return self.at // 5 % 2

class Recorded(Held):
    def i2c(self, number, scl, sda):
        return Bus()
    def adc(self, pin):
        return Input(pin)
    def button(self, pin):
        return Input(pin)

main(Recorded())
"""

# A board whose clock advances whenever it is read, up to the microseconds in the file `until`,
# which is read again then; without that file the clock is the real one
HELD_CLOCK = """
from microshrub.device.hardware import Hardware

def read():
    try:
        with open("until") as file:
            return int(file.read() or 0)
    except OSError:
        return -1

class Held(Hardware):
    now = until = 0
    def microseconds(self):
        if self.now >= self.until:
            self.until = read()
        if self.until < 0:
            return super().microseconds()
        self.now = min(self.now + 500, self.until)
        return self.now
"""


class Clock:
    """The clock of a held board in a folder; it does not advance until go() is called."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "until"
        self.go(0)

    def go(self, until: int) -> None:
        """Let the clock advance to this many microseconds after the start."""
        new = self._file.with_suffix(".new")
        new.write_text(str(until))
        new.replace(self._file)


def put_held_clock(folder: Path) -> None:
    """Write the module from which main.py imports Held."""
    (folder / "lib" / "held_clock.py").write_text(HELD_CLOCK)


def recorded() -> list[list[int]]:
    """Return acceleration, temperature, rotation of a device that is shaken, then lies still."""
    rng = np.random.default_rng(4)
    rows = rng.normal(0, 3000, (READINGS, 7))
    rows[READINGS // 2 :] /= 50
    rows[:, 2] += 16384
    return [[int(v) for v in row] for row in np.clip(rows, -32768, 32767)]


def observe(link: HostLink, count: int) -> list[Observed]:
    """Return the next observations, however long they take."""
    seen: list[Observed] = []
    end = time.monotonic() + PATIENCE
    while len(seen) < count:
        assert time.monotonic() < end, f"{len(seen)} of {count} came"
        link.poll(0.02)
        while link.observed and len(seen) < count:
            seen.append(link.observed.popleft())
    return seen
