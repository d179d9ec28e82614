"""The program's time around a sample, counted on an emulated Cortex-M0, matches the estimate."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from device_support import configuration

from microshrub_host.boards import board_files, counted_times, emulated_boards, sample_time
from microshrub_host.boards.counted_models import clustered
from microshrub_host.boards.emulator import EmulatedBoard
from microshrub_host.boards.instruction_counts import TICKS, Counter
from microshrub_host.programs import mpy
from microshrub_tools.link.frames import Frame, pack
from microshrub_tools.link.messages import sample

BOARD = "cortex-m0"
ON_BOARD = """
import gc
gc.threshold(8192)
from binascii import unhexlify
from machine import mem32
from microshrub.device.config import Configuration
from microshrub.device.application import Application
from microshrub.device.link import Link

mem32[0x40008508], mem32[0x40008510], mem32[0x40008000] = 3, 0, 1

def now():
    mem32[0x40008040] = 1
    return mem32[0x40008540]

with open("/config.json") as file:
    app = Application(Configuration(file.read().encode()), "/")
app.begin()
with open("/frames") as file:
    frames = [bytearray(unhexlify(line)) for line in file.read().split()]
link = Link(app, lambda buffer, n: None)
for frame in frames[:30]:
    link.feed(frame, len(frame))

class Nothing:
    votes, votes_change = app.learner.votes, False
    def learn(self, x, label):
        return 0

app.learner = Nothing()
gc.collect()
gc.threshold(-1)

def least(do):
    times = []
    for k in range(8):
        begin = now()
        do(k)
        times.append(now() - begin)
    return min(times)

nothing = least(lambda k: None)
print(least(lambda k: link.feed(frames[30 + k], len(frames[30 + k]))) - nothing)
print(least(lambda k: link.observe(app.sample(1), 1)) - nothing)
print(app.metrics.samples)
"""


@pytest.fixture(scope="module")
def emulator() -> emulated_boards.Emulator:
    try:
        return emulated_boards.find_or_build(BOARD)
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("features", [3, 14, 36])
def test_the_programs_time_around_a_sample_matches(
    features: int, emulator: emulated_boards.Emulator
) -> None:
    shape = {"features": features, "classes": 2}
    model = shape | {"nodes": 7, "leaves": 2, "bins": 4}
    alarm = {"detector": "page_hinkley"}
    config = configuration("HoeffdingTree", model, warmup=5, alarm=alarm)
    rng = np.random.default_rng(1)
    frames = [pack(Frame(1, 77, 0, b""))]
    for k in range(1, 40):
        request = sample(rng.integers(0, 1000, features).tolist(), k % 2)
        frames.append(pack(Frame(request.kind, 77, k, request.payload)))
    files = {f"/{mpy.in_library(path)}": path.read_bytes() for path in mpy.compiled("armv6m")}
    files["/config.json"] = json.dumps(config).encode()
    files["/frames"] = "\n".join(frame.hex() for frame in frames).encode()
    with EmulatedBoard(emulator, files) as board:
        output = board.exec(ON_BOARD, 100)
    link, sensor, learned = map(int, re.findall(r"\d+", output)[-3:])
    assert learned > 30
    for ticks, (fixed, each) in ((link, counted_times.LINK), (sensor, counted_times.SENSOR)):
        assert ticks / TICKS[BOARD] == pytest.approx(fixed + each * features, rel=0.2)


def test_a_thicket_between_the_counted_ones_matches(emulator: emulated_boards.Emulator) -> None:
    shape = (10, 5, 49_152)
    what = clustered(*shape, seed=7)
    with Counter(BOARD, [what]) as counter:
        cost = counter.count(0, what.learner, what.parameters)
    counted = counted_times.instructions("armv6m", shape[2], *shape[:2], "viper")
    assert counted
    for counts, (median, _) in zip((cost.predict, cost.learn), counted, strict=True):
        assert float(np.median(counts)) == pytest.approx(median, rel=0.2)


def test_the_estimate_for_a_pico_with_a_thicket_matches_a_measurement() -> None:
    """A thicket of 48 KB took 11.1 ms over the link on an emulated Pico with MicroPython 1.28.

    At that time, a learn took 88,760 instructions more.
    """
    pico = board_files.load("rpi_pico")
    assert pico.cost
    seen = 11.1 - 88_760 * pico.cost.cycles * 1000 / pico.clock_hz
    shape = {"features": 14, "classes": 2, "bytes": 49_152}
    estimate = sample_time.sample_time(pico, "thicket", shape, "viper")
    assert estimate
    assert estimate.served()[0] / 1000 == pytest.approx(seen, rel=0.1)
    assert estimate.served(sensor=True)[0] < estimate.served()[0]
    assert estimate.record()["served_us"] == list(estimate.served())
    assert sample_time.sample_time(pico, "thicket", shape | {"bytes": 131_072}) is None
