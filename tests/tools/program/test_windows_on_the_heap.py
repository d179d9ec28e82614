"""Features of windows allocate nothing on the heap, not even for a moment.

This covers filters, statistics and frequency bands, also of a sensor with a FIFO.
test_moments_on_the_heap.py says why it matters.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from microshrub_host.simulation.feature_options import FeatureOptions

AXES = ("x", "y", "z")
RATE = 100
READINGS = """
from array import array
from micropython import mem_total
from microshrub.device.feature_extractor import ExtractingFifo, ExtractingSensor

class Sensor:
    features, pace, gap = 3, None, False
    state = 1

    def read(self, values):
        for f in range(3):
            self.state = self.state * 997 % 1048573
            values[f] = self.state % 4000
        return True

sensor = Sensor()
options = OPTIONS
for made in (ExtractingSensor(sensor, options), ExtractingFifo(sensor, options, sensor)):
    values = array("i", [0] * made.features)
    most = samples = 0
    for k in range(200):
        before = mem_total()
        samples += made.read(values)
        if k > 70:
            most = max(most, mem_total() - before)
    print(samples, most)
"""


@pytest.mark.parametrize(
    "words",
    [
        ["window=32", "hop=4"],
        ["window=32", "hop=4", "statistics=min,max", "bands=1-9,10-20", "low-pass=20"],
        ["window=32", "hop=4", "statistics=none", "bands=auto", "high-pass=1"],
        ["window=32", "hop=4", "plain=z", "band-pass=1-9"],
        ["window=1", "hop=1", "statistics=none", "low-pass=9"],
    ],
)
def test_nothing_is_allocated(words: list[str], run_micropython: Callable[[str], str]) -> None:
    options = FeatureOptions.of(words).extraction(AXES, RATE).options
    output = run_micropython(READINGS.replace("OPTIONS", repr(options)))
    for line in output.splitlines():
        samples, most = map(int, line.split())
        assert samples > 40
        assert most == 0
