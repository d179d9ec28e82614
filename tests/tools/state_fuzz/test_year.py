"""A simulated year: that it holds, and that it would notice if it did not."""

from __future__ import annotations

import re

import pytest

from microshrub_tools.cli.main import main
from microshrub_tools.state_fuzz.year import Year, YearError


def test_some_days_hold_and_say_what_happened(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dev", "simulate-year", "--days", "2", "--rate", "5", "--seed", "11"]) == 0
    said = capsys.readouterr().out
    assert "After every sample the state was the simulator's, bit by bit" in said
    counts = re.findall(
        r"([\d,]+) (?:samples|labels late|too late|checkpoints|power cuts|of them|saves)", said
    )
    assert len(counts) == 7
    assert counts[0] == "14,400"
    assert "0" not in counts


def test_a_day_asleep_counts_the_time_awake(capsys: pytest.CaptureFixture[str]) -> None:
    """Two seconds in sixty, a minute after each start and visit; the program counts the same."""
    words = ["--days", "1", "--seed", "3", "--sleep", "--battery", "2000mAh"]
    assert main(["dev", "simulate-year", *words]) == 0
    said = capsys.readouterr().out
    found = re.findall(
        r"awake for ([\d.]+) of ([\d.]+) hours .* counted ([\d,]+) .*clock ([\d,]+)", said
    )
    awake, hours, told, clock = (float(word.replace(",", "")) for word in found[0])
    assert 22 < hours <= 24.01
    assert 2 / 60 < awake / hours < 2 / 60 + 0.02
    assert abs(told - clock) <= 10
    assert clock == pytest.approx(3600 * (hours - awake), abs=40)
    counted, estimated = map(
        float, re.findall(r"([\d.]+) mW in the mean; .* estimates ([\d.]+)", said)[0]
    )
    assert estimated < counted < 1.2 * estimated
    assert "2000mAh would last for" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--battery", "2000mAh"], "add --sleep"),
        (["--sleep", "--rate", "7"], "--rate 7 is not a whole number of seconds"),
        (["--sleep", "window=60"], "would never sleep"),
        (["--sleep", "pin=15"], "nobody presses a button here"),
        (["--sleep", "deep=yes"], "the board of the simulated year keeps its RAM"),
        (["--sleep", "--board", "teensy41"], "cannot sleep"),
        (["--sleep", "--board", "rpi_pico2"], "nothing is known of what"),
        (["--days", "0"], "--days has to be at least 1"),
    ],
)
def test_what_cannot_sleep_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dev", "simulate-year", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_flipped_bit_is_noticed() -> None:
    year = Year(seed=5)
    year.day()
    year._device.app.learner.buffers()[0][2][-1] ^= 1
    with pytest.raises(YearError, match=r"after 1,441 samples; --seed 5 repeats it"):
        year.day()


def test_a_checkpoint_with_another_state_is_noticed() -> None:
    year = Year(seed=6)
    year.day()
    year._noted[year._device.number].parts[3] ^= 1
    with pytest.raises(YearError, match="another state than was saved"):
        _cut_often(year)


def _cut_often(year: Year) -> None:
    for _ in range(20):
        year._cut()
