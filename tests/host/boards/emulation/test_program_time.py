"""The time of a thicket of another shape matches the estimate, on an emulated Cortex-M0."""

from __future__ import annotations

import numpy as np
import pytest

from microshrub_host.boards import board_files, counted_times, emulated_boards, sample_time
from microshrub_host.boards.counted_models import clustered
from microshrub_host.boards.instruction_counts import Counter

BOARD = "cortex-m0"


@pytest.fixture(scope="module")
def emulator() -> emulated_boards.Emulator:
    try:
        return emulated_boards.find_or_build(BOARD)
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))


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
    assert estimate.asleep_us() < estimate.served()[0] < estimate.served(sensor=True)[0]
    assert estimate.record()["served_us"] == list(estimate.served())
    assert sample_time.sample_time(pico, "thicket", shape | {"bytes": 131_072}) is None
