"""The broker's share of a sample's time, counted on an emulated Cortex-M0.

The emulated board has no network: a stand-in line accepts all bytes at once, as a radio with room
does, and answers like a broker.
"""

from __future__ import annotations

import json

import pytest
from device_support import configuration

from microshrub_host.boards import board_files, emulated_boards
from microshrub_host.boards.emulator import EmulatedBoard
from microshrub_host.boards.instruction_counts import TICKS
from microshrub_host.programs import mpy
from microshrub_tools.board import discovery_messages

BOARD = "cortex-m0"
QUIET_MS, TELLING_MS = 1.6, 4.5  # limits for a Pico: usually, and for a sample with a state
ON_BOARD = """
import gc
gc.threshold(8192)
from array import array
import sys
from machine import mem32

mem32[0x40008508], mem32[0x40008510], mem32[0x40008000] = 3, 0, 1

def now():
    mem32[0x40008040] = 1
    return mem32[0x40008540]

class Line:
    "What of a broker's answers has not been read is in `output`."

    output = b""

    def write(self, data, at, n):
        if data[at] == 0x10:
            self.output += b"\\x20\\x02\\0\\0"
        elif data[at] == 0x82:
            self.output += b"\\x90\\x03\\0\\1\\0"
        elif data[at] & 0xF6 == 0x32 and b"/event" in bytes(data[at : at + n]):
            start = at + 2 + (data[at + 1] >> 7)
            start += 2 + (data[start] << 8 | data[start + 1])
            self.output += b"\\x40\\x02" + data[start : start + 2]
        return n

    def readinto(self, buffer, n):
        if not self.output:
            return None
        n = min(n, len(self.output))
        buffer[:n] = self.output[:n]
        self.output = self.output[n:]
        return n

    def setblocking(self, to):
        pass

    connect = register = setblocking

line = Line()

class Network:
    "The modules socket and select."

    SOCK_STREAM, POLLOUT, POLLERR, POLLHUP = 1, 4, 8, 16

    def getaddrinfo(self, *_):
        return [(0, 0, 0, "", "here")]

    def socket(self, family):
        return line

    def poll(self):
        return self

    def register(self, line, flags):
        pass

    def ipoll(self, wait):
        return [(line, 4)]

class System:
    "The module os, which has no urandom() there."

    def urandom(self, n):
        return bytes(n)

    def __getattr__(self, name):
        return getattr(real, name)

import os as real
sys.modules["os"] = System()
sys.modules["socket"] = sys.modules["select"] = Network()

from microshrub.device.config import Configuration
from microshrub.device.application import Application
from microshrub.device.companions import join
from microshrub.device.network_start import make_mqtt

class Board:
    now = 0

    def milliseconds(self):
        return self.now

class Wifi:
    def joined(self):
        return True

with open("/config.json") as file:
    app = Application(Configuration(file.read().encode()), "/")
app.begin()
for k in range(20):
    app.sample(k & 1)

class Sure:
    votes, votes_change = array("i", [60000, 5535]), False

    def learn(self, x, label):
        return label

class Pace:
    "Of a sensor whose next reading is due: there is no time to count the heap."

    missed = 0

    def wait(self):
        return 0

app.learner = Sure()
app.pace = Pace()
board = Board()

def samples(n):
    "Instructions of each of n samples, 20 ms apart; the class changes once a second."
    times = []
    for k in range(n):
        board.now += 20
        label = k // 55 & 1
        begin = now()
        app.sample(label)
        app.tick(board.now)
        times.append(now() - begin)
    return times

gc.collect()
alone = sorted(samples(60))[30]
def opened(path, mode="r"):
    "A file that reads as many bytes as it is told, as those on a board's flash do."
    with real_open(path, mode) as file:
        return io.BytesIO(file.read())

import builtins, io
real_open, builtins.open = open, opened
(mqtt,) = make_mqtt(app, board, None, "/", print, Wifi(), ("board", "sesame"))
join(app, mqtt)
gc.collect()
app.tick(board.now)
while mqtt._client.state != 3:
    board.now += 500
    app.tick(board.now)
gc.collect()
while mqtt.publisher._discovery or mqtt.publisher._announces:
    samples(10)
gc.collect()
gc.threshold(-1)
telling = samples(550)
print(alone, sorted(telling)[275], max(telling), mqtt.events.held, mqtt.labels)
"""


def test_a_broker_takes_little_of_a_samples_time() -> None:
    try:
        emulator = emulated_boards.find_or_build(BOARD)
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    shape = {"features": 3, "classes": 2, "nodes": 7, "leaves": 2, "bins": 4}
    mqtt = {"host": "10.0.0.1", "port": 1883, "name": "kitchen", "settle": [3, 230], "events": 64}
    alarm = {"detector": "page_hinkley"}
    config = configuration("HoeffdingTree", shape, warmup=5, alarm=alarm, mqtt=mqtt)
    messages = discovery_messages.messages(config, config["learner"], "1.0")
    files = {f"/{mpy.in_library(path)}": path.read_bytes() for path in mpy.compiled("armv6m")}
    files["/config.json"] = json.dumps(config).encode()
    files["/discovery.bin"] = discovery_messages.packed(config, messages, config["class_names"])
    with EmulatedBoard(emulator, files) as board:
        output = board.exec(ON_BOARD, 100)
    *ticks, held, labels = map(int, output.split()[-5:])
    assert labels == 50
    assert held <= 1  # the others were sent
    pico = board_files.load("rpi_pico")
    assert pico.cost
    alone, quiet, telling = (
        1000 * count / TICKS[BOARD] * pico.cost.cycles / pico.clock_hz for count in ticks
    )
    print(f"{quiet - alone:.1f} ms of a sample, {telling - alone:.1f} where a state is told")
    assert 0 < quiet - alone < QUIET_MS
    assert quiet + 1 < telling < alone + TELLING_MS  # sent, as the class has changed
