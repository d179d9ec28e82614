"""A simulated year: that it holds, and that it would notice if it did not."""

from __future__ import annotations

import re

import pytest

from microshrub_tools.cli.main import main
from microshrub_tools.state_fuzz.year import Year, YearError


def test_some_days_hold_and_say_what_happened(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate-year", "--days", "2", "--rate", "5", "--seed", "11"]) == 0
    said = capsys.readouterr().out
    assert "After every sample the state was the simulator's, bit by bit" in said
    counts = re.findall(
        r"([\d,]+) (?:samples|labels late|too late|checkpoints|power cuts|of them|saves)", said
    )
    assert len(counts) == 7
    assert counts[0] == "14,400"
    assert "0" not in counts


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
