"""A board whose registers and pins give what was recorded, under the real program."""

from __future__ import annotations

import numpy as np

from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import Observed

READINGS = 400
AXES = ("ax", "ay", "az", "gx", "gy", "gz")

# A board whose registers and pins give the recorded values, one after another, over and over
BOARD = """
import json
from microshrub.device.hardware import Hardware
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

class Recorded(Hardware):
    def i2c(self, number, scl, sda):
        return Bus()
    def adc(self, pin):
        return Input(pin)
    def button(self, pin):
        return Input(pin)

main(Recorded())
"""


def recorded() -> list[list[int]]:
    """Acceleration, temperature, rotation: a device that is shaken, then lies still."""
    rng = np.random.default_rng(4)
    rows = rng.normal(0, 3000, (READINGS, 7))
    rows[READINGS // 2 :] /= 50
    rows[:, 2] += 16384
    return [[int(v) for v in row] for row in np.clip(rows, -32768, 32767)]


def observe(link: HostLink, count: int) -> list[Observed]:
    for _ in range(200):
        if len(link.observed) >= count:
            break
        link.poll(0.05)
    return list(link.observed)[:count]
