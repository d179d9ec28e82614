"""The interval between two samples from which deep sleep takes less power."""

from __future__ import annotations

import pytest

from microshrub_host.boards import board_files
from microshrub_host.boards.energy import START_S, Currents, DeepSleepCurrent, trade

DEEP = DeepSleepCurrent(0.01, 0.7, "somebody")


def test_both_kinds_of_sleep_take_as_much_at_that_interval() -> None:
    """2.5 s awake at 100 mW against 5 mW more in light sleep: 50 seconds."""
    choices = trade(Currents("x", 10.0, 10.0, 0.51, DEEP), 2.5 - 0.7 - START_S)
    assert choices
    assert choices.seconds == pytest.approx(50)
    assert choices.milliwatts(50) == pytest.approx(5.1)
    assert choices.milliwatts(500) == pytest.approx(0.1 + 0.5)
    assert "from one sample in 50 seconds on" in str(choices)
    assert "somebody" in str(choices)


def test_a_listening_board_wakes_once_a_minute_or_once_a_sample() -> None:
    """4.5 s awake at 100 mW; light sleep with 2 s in 60 awake draws 5.1 and 3.2 mW more."""
    choices = trade(Currents("x", 10.0, 10.0, 0.51, DEEP), 2.5 - 0.7 - START_S, 2, 60)
    assert choices
    light = 5.1 * 58 / 60 + 100 * 2 / 60
    assert choices.seconds == pytest.approx(450 / (light - 0.1))
    assert "+ 2 s to listen" in str(choices)


@pytest.mark.parametrize(
    "currents",
    [
        Currents("x", 5.0, 20.0, 1.0),
        Currents("x", 5.0, 20.0, None, DEEP),
        Currents("x", 5.0, 20.0, 0.01, DEEP),
    ],
)
def test_there_is_no_advice_without_figures_or_without_a_gain(currents: Currents) -> None:
    assert trade(currents, 0.1) is None


def test_deep_sleep_never_pays_at_a_sample_per_second() -> None:
    for name in board_files.names():
        currents = board_files.load(name).currents
        best = trade(currents, 0.1) if currents else None
        assert best is None or 30 < best.seconds < 600
