"""The program's time around a sample, counted on an emulated Cortex-M0, matches the estimate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from script_support import run

from microshrub_host.boards import board_files, counted_times, emulated_boards
from microshrub_research.benchmarks import served_cost
from microshrub_research.benchmarks.served_cost import BOARD, LIKE, ServedCost

FEATURES = 5  # between the counted ones


@pytest.fixture(scope="module", autouse=True)
def emulator() -> emulated_boards.Emulator:
    try:
        return emulated_boards.find_or_build(BOARD)
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))


def slow_board() -> board_files.Board:
    board = board_files.load(LIKE)
    assert board.cost
    return replace(board, clock_hz=1_000_000, cost=replace(board.cost, cycles=1.0))


def estimated(sensor: bool, emit: str, config: dict[str, Any]) -> float:
    """Return instructions: the time of a board that takes a microsecond for each."""
    like = slow_board()
    us = counted_times.outside_learner_us(
        like, FEATURES, emit, sensor=sensor, saves="checkpoint" not in config
    )
    return us + (counted_times.line_us(like, FEATURES) if "text" in config else 0.0)


@pytest.mark.parametrize(
    ("sensor", "emit", "config"),
    [
        (False, "native", {}),
        (False, "viper", {"checkpoint": None}),
        (True, "native", {"text": True}),
        (True, "viper", {}),
    ],
)
def test_the_estimate_matches_the_counted_program(
    monkeypatch: pytest.MonkeyPatch, sensor: bool, emit: str, config: dict[str, Any]
) -> None:
    monkeypatch.setattr(counted_times, "USB_BYTE_US", 0.0)
    counted = served_cost.count(served_cost.program_of(FEATURES, sensor, **config), emit)
    assert counted.sample == pytest.approx(estimated(sensor, emit, config), rel=0.15)
    assert counted.turn < counted.sample / 2


def test_the_estimate_of_a_reading_without_a_sample_matches() -> None:
    program = served_cost.program_of(FEATURES, True, served_cost.WINDOW, text=False)
    window = counted_times.window_of(slow_board(), program.config["extraction"])
    assert window
    assert served_cost.count(program, "native").sample == pytest.approx(
        window.reading_us, rel=0.15
    )
    assert window.turn_us > 0.8 * window.reading_us
    assert window.us < 4 * window.reading_us  # the turn of the last one is the sample's


def test_with_a_real_learner_a_sample_takes_longer() -> None:
    program = served_cost.program_of(FEATURES, False)
    assert served_cost.count(program, "native", stub=False).sample > 1.1 * estimated(
        False, "native", {}
    )


def test_a_row_has_a_fixed_part_and_one_for_each_feature() -> None:
    costs = [ServedCost(100_000 + 1000 * n, 5_000) for n in served_cost.FEATURES]
    row = served_cost._row("LINK", costs)
    assert row == ("LINK", "103,000", "106,000", "114,000", "100,000", "1,000", "5,000")
    line = [*costs[:2], costs[1]]  # which has no more features than it shows
    assert served_cost._row("LINE", line)[-3:] == row[-3:]


def test_other_boards_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("costs", "--served", "--board", "rv32") == 2
    assert f"--served counts on the {BOARD} alone" in capsys.readouterr().err
