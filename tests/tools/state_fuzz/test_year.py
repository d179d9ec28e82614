"""A simulated year: its checks hold, and they detect faults."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from microshrub_tools.cli.main import main
from microshrub_tools.state_fuzz import year as year_module
from microshrub_tools.state_fuzz.year import Year, YearError


def test_some_days_pass_and_print_their_events(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dev", "simulate-year", "--days", "2", "--rate", "5", "--seed", "11"]) == 0
    output = capsys.readouterr().out
    assert "bit by bit" in output
    counts = re.findall(
        r"([\d,]+) (?:samples|labels late|too late|checkpoints|power cuts|of them|saves)", output
    )
    assert len(counts) == 7
    assert counts[0] == "14,400"
    assert "0" not in counts
    lost = re.findall(r"([\d,]+), at most ([\d,]+) in one cut, the oldest ([\d,]+) sec", output)
    assert len(lost) == 3
    for labels, most, _ in lost:
        assert int(most.replace(",", "")) <= int(labels.replace(",", ""))
    assert int(lost[0][2]) <= 60
    lost = re.findall(r"([\d,]+), at most ([\d,]+) in one cut, the oldest ([\d,]+) sec", output)
    labels, most, oldest = zip(*lost, strict=True)
    assert len(labels) == 3
    assert int(oldest[0]) <= 60
    assert all(0 <= int(most[k]) <= int(labels[k].replace(",", "")) for k in range(3))


def test_a_day_asleep_counts_the_time_awake(capsys: pytest.CaptureFixture[str]) -> None:
    """Two seconds in sixty, a minute after each start and visit; the program counts the same."""
    words = ["--days", "1", "--seed", "3", "--sleep", "--battery", "2000mAh"]
    assert main(["dev", "simulate-year", *words]) == 0
    output = capsys.readouterr().out
    matches = re.findall(
        r"awake for ([\d.]+) of ([\d.]+) hours .* counted ([\d,]+) .*clock ([\d,]+)", output
    )
    awake, hours, printed, clock = (float(word.replace(",", "")) for word in matches[0])
    assert 22 < hours <= 24.01
    assert 2 / 60 < awake / hours < 2 / 60 + 0.02
    assert abs(printed - clock) <= 10
    assert clock == pytest.approx(3600 * (hours - awake), abs=40)
    counted, estimated = map(
        float, re.findall(r"([\d.]+) mW in the mean; .* estimates ([\d.]+)", output)[0]
    )
    assert estimated < counted < 1.2 * estimated
    assert "2000mAh would last for" in output


@pytest.mark.parametrize(
    ("words", "message"),
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
def test_invalid_options_are_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dev", "simulate-year", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_flipped_bit_is_detected() -> None:
    year = Year(seed=5)
    year.day()
    year._device.app.learner.buffers()[0][2][-1] ^= 1
    with pytest.raises(YearError, match="1,441 samples; --seed 5"):
        year.day()


def test_a_checkpoint_with_another_state_is_detected() -> None:
    year = Year(seed=6)
    year.day()
    year._noted[year._device.number].parts[3] ^= 1
    with pytest.raises(YearError, match="another state than was saved"):
        _cut_often(year)


@pytest.mark.parametrize(
    ("left", "is_full", "kept_by", "oldest"),
    [(1000, False, "soon", 60), (0, False, "sparing", 6060), (1000, True, "failed", 12060)],
)
def test_a_lost_label_is_counted_by_its_cause(
    left: int, is_full: bool, kept_by: str, oldest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest is up to 60 s old; a pace of 6,000 s more without saves, two with a full disk."""
    year = _frozen(7)
    monkeypatch.setattr(year_module, "_FULL", 1 if is_full else 1 << 30)
    for _ in range(20):
        year._device.app.store._left = left
        for _ in range(3):
            _live(year)
        _teach(year)
        year._cut()
    lost = {name: getattr(year.report, name) for name in ("soon", "sparing", "failed")}
    assert lost[kept_by].labels > 5
    assert lost[kept_by].oldest <= oldest
    assert sum(each.labels for each in lost.values()) == lost[kept_by].labels


def test_a_label_of_the_first_moment_is_saved_in_time() -> None:
    """The label comes before the program first reads its clock; it is saved 3 seconds later."""
    year = _frozen(8)
    for _ in range(10):
        _teach(year)
        year._tick()
        year._wait(3000)
        year._tick()
        year._cut()
    assert year.report.soon.labels == 0


def test_a_label_that_is_lost_too_late_is_detected() -> None:
    year = _frozen(9)
    with pytest.raises(YearError, match=r"1 labels are lost, .* 6 seconds"):
        _cut_late(year)


def _cut_late(year: Year) -> None:
    """Cut the power too late, ten times: now and then the checkpoint is complete by then."""
    for _ in range(10):
        _teach(year)
        year._wait(6000)
        year._cut()


def _frozen(seed: int) -> Year:
    """Return a year whose first labels are saved, without random cuts and late labels."""
    year = Year(seed=seed)
    year._rng = _Without(seed)
    while not year._device.number:
        _live(year)
    return year


class _Without(random.Random):
    """A random generator that draws no power cut and no late label."""

    def randrange(self, *given: Any) -> int:
        never = given in ((year_module._CUT,), (year_module._LATE,))
        return 1 if never else super().randrange(*given)


def _teach(year: Year) -> None:
    year._sample()
    year._late_labels()


def _live(year: Year) -> None:
    _teach(year)
    year._until_next()


def _cut_often(year: Year) -> None:
    for _ in range(20):
        year._cut()
