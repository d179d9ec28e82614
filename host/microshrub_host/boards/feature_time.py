"""How long a board takes for the features of a window, and for the learner behind them.

Counted as by `microshrub costs --features`: the transform and the statistics are about linear in
the readings of the window.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..features.feature_choice import Time, Work
from . import thicket_time
from .board_files import Board

# Instructions of a reading, and for each of its values; for each reading of a window and each
# channel, of the statistics and of the transform with its bands
_COUNTED = {"armv6m": (4_500, 900, 820, 1_240), "armv7emsp": (3_400, 800, 720, 1_160)}
_LIKE = {"rv32imc": "armv7emsp"}


def time_on(board: Board, classes: int, size: int) -> Time | None:
    """A function that gives the microseconds of a reading, and those of a sample that a thicket
    of that size predicts and learns, 99th percentile; None if nothing is known of the board."""
    if features_us(board, Work(0, 0, False, False, 0)) is None:
        return None

    def time(work: Work) -> tuple[float, float]:
        assert board.cost is not None
        reading, made = features_us(board, work) or (0.0, 0.0)
        learner = thicket_time.instructions(board.arch, size, work.features, classes)
        taught = sum(pair[1] for pair in learner) if learner else 0.0
        return reading, made + taught * board.cost.cycles * 1e6 / board.clock_hz

    return time


def features_us(board: Board, work: Work) -> tuple[float, float] | None:
    """Microseconds of a reading, and of the features of a window; None if nothing is known."""
    counted = _COUNTED.get(_LIKE.get(board.arch, board.arch))
    if counted is None or board.cost is None:
        return None
    unit = board.cost.cycles * 1e6 / board.clock_hz
    fixed, each, statistics, bands = counted
    per_reading = statistics * work.statistics + bands * work.bands
    made = work.channels * work.window * per_reading
    return (fixed + each * work.channels) * unit, made * unit


def work_of(extraction: Mapping[str, Any]) -> Work:
    """What config.json's extraction makes of a window; its plain values take nothing."""
    channels = len(extraction["zero"]) - len(extraction["plain"])
    some = bool(extraction["statistics"]), bool(extraction["bands"])
    return Work(channels, extraction["window"], *some, 0)
