"""The time of a model that no board file lists: counted on a real MicroPython, emulated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from emulated_support import stands_still

from microshrub_host.boards import board_files, emits, emulated_boards
from microshrub_host.boards.counted_models import stream as made
from microshrub_host.boards.latency import Clock, can_count
from microshrub_host.boards.sample_time import sample_time
from microshrub_host.evaluation import trials
from microshrub_host.evaluation.splits import StreamSplit
from microshrub_host.evaluation.trials import Candidate, Limits
from microshrub_host.library.learners import defaults, specification
from microshrub_host.streams.stream import Stream

BOARD = board_files.load("rpi_pico")


@pytest.fixture(scope="module")
def stream() -> Stream:
    """The stream of the cost measurements, shortened."""
    codes, labels = made(8, 2, 700)
    return Stream("made", codes.astype(np.float64), labels, tuple("abcdefgh"), ("no", "yes"))


@pytest.fixture(scope="module")
def emulator() -> None:
    try:
        emulated_boards.find("cortex-m0")
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))


@pytest.mark.usefixtures("emulator")
def test_the_count_is_near_the_board_files_figure(stream: Stream) -> None:
    _, shape = specification("shrub window=32 trees=8 depth=5")
    parameters = {"features": 8, "classes": 2, **shape}
    known = sample_time(BOARD, "shrub", parameters, "viper")
    assert known is not None
    with Clock(BOARD, stream, 256) as clock:
        counted = clock.milliseconds("shrub", parameters, most=100)
        assert clock._counter
        assert stands_still(clock._counter._board)  # so that other work has a core
        assert counted == pytest.approx((known.predict[1] + known.learn[1]) / 1000, rel=0.1)
        assert clock.milliseconds("shrub", {**parameters, "step": 2.0}, most=100) == counted


def size_of(split: StreamSplit, candidate: Candidate, limits: Limits) -> trials.Size | None:
    return trials.size_within(
        candidate.model, limits.deployment(candidate.model, split.parameters(candidate)), limits
    )


@pytest.mark.usefixtures("emulator")
def test_a_model_beyond_the_limit_is_refused_before_it_runs(stream: Stream) -> None:
    split = StreamSplit(stream, 256, 350)
    small = {**defaults("shrub"), "window": 16, "trees": 2, "depth": 2, "train_every": 2}
    large = {**small, "window": 512, "depth": 6}
    with Clock(BOARD, stream, 256) as clock:
        limits = Limits(BOARD, 60_000, 3.0, clock)
        size = size_of(split, Candidate(0, "shrub", small), limits)
        assert size is not None
        assert size.latency is not None
        assert 0.1 < size.latency < 3.0
        assert size_of(split, Candidate(1, "shrub", large), limits) is None
        again = Clock(BOARD, stream, 256)  # a new clock, with no running board
        again.remember("shrub", split.parameters(Candidate(1, "shrub", large)), 1.25)
        known = Limits(BOARD, 60_000, 3.0, again)
        size = size_of(split, Candidate(1, "shrub", large), known)
        assert size is not None
        assert size.latency == 1.25


@pytest.mark.long
@pytest.mark.usefixtures("emulator")
def test_a_native_module_takes_less_time_and_ram(
    stream: Stream, native_tools_for: Callable[[str], object]
) -> None:
    """Each kind of model has its own module; the board file has viper's figures alone."""
    native_tools_for("armv6m")
    split = StreamSplit(stream, 256, 350)
    shrub = Candidate(0, "shrub", {**defaults("shrub"), "window": 16, "trees": 2, "depth": 2})
    tree = Candidate(1, "hoeffding", {**defaults("hoeffding"), "nodes": 7, "leaves": 2, "bins": 4})
    with Clock(BOARD, stream, 256) as viper, Clock(BOARD, stream, 256, native=True) as native:
        for candidate in (shrub, tree):
            slow = size_of(split, candidate, Limits(BOARD, 60_000, 100.0, viper, emits.VIPER))
            fast = size_of(split, candidate, Limits(BOARD, 60_000, 100.0, native))
            assert slow is not None
            assert fast is not None
            assert fast.model_bytes == slow.model_bytes
            assert fast.ram_bytes < slow.ram_bytes - 5_000
            assert fast.latency is not None
            assert slow.latency is not None
            assert 0 < fast.latency < 0.7 * slow.latency


def test_all_boards_with_a_cost_table_and_no_others_can_be_counted() -> None:
    """A board with its heap in PSRAM has no such table."""
    assert {name for name in board_files.names() if can_count(board_files.load(name))} == {
        name for name in board_files.names() if board_files.load(name).cost
    }
