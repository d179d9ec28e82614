"""The program's samples on an emulated Cortex-M0, whose heap is not locked, make no garbage."""

from __future__ import annotations

import json

import pytest
from device_support import configuration

from microshrub_host.boards import emulated_boards
from microshrub_host.boards.emulator import EmulatedBoard
from microshrub_host.programs import mpy
from microshrub_tools.link.frames import Frame, pack

SAMPLES = 2000  # test_machine_code.py has twice as many on x86
SHAPE = {"features": 3, "classes": 2}
ON_BOARD = f"""
import gc
gc.threshold(8192)
from binascii import unhexlify
from microshrub.device.config import Configuration
from microshrub.device.application import Application
from microshrub.device.link import STATUS_WORDS, Link

with open("/config.json") as file:
    app = Application(Configuration(file.read().encode()), "/")
app.begin()
hello = bytearray(unhexlify(HELLO))
link = Link(app, lambda buffer, n: None)
link.feed(hello, len(hello))
words = [0] * STATUS_WORDS

def live(first, end):
    state = 1
    values = app.values
    for k in range(first, end):
        for f in range(3):
            state = state * 997 % 1048573
            values[f] = state % 1000 + 300 * (k // 7 % 2)
        if k % 10:
            link.observe(app.sample(k // 7 % 2), k // 7 % 2)
        else:
            link.observe(app.sample(-1), -1)
            if app.sample_id:
                app.label(app.sample_id, k // 7 % 2)
        app.tick(k * 20)
        if k % 50 == 0:
            app.status(words)

live(0, 300)
gc.collect()
gc.threshold(-1)
before = gc.mem_alloc()
live(300, 300 + {SAMPLES})
print(gc.mem_alloc() - before, app.metrics.samples)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("learner", "parameters"),
    [
        ("ShrubEnsemble", SHAPE | {"window": 8, "trees": 2, "depth": 2}),
        ("Thicket", SHAPE | {"bytes": 3000}),
    ],
)
def test_samples_leave_nothing_on_the_heap(learner: str, parameters: dict[str, int]) -> None:
    try:
        emulator = emulated_boards.find_or_build("cortex-m0")
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    alarm = {"detector": "adwin"}
    config = configuration(learner, parameters, warmup=100, alarm=alarm)
    files = {f"/{mpy.in_library(path)}": path.read_bytes() for path in mpy.compiled("armv6m")}
    files["/config.json"] = json.dumps(config).encode()
    hello = pack(Frame(1, 77, 0, b"")).hex()
    with EmulatedBoard(emulator, files) as board:
        output = board.exec(f"HELLO = {hello!r}\n{ON_BOARD}", 300)
    left, learned = map(int, output.split()[-2:])
    assert learned > SAMPLES
    assert left == 0
