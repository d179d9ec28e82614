"""Whole stretches are held out: groups, runs of a label or blocks of time;
samples near them are not learned.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from numpy.typing import NDArray

from microshrub_host import Stream, extract_features, simulate
from microshrub_host.evaluation.holdout import held_out
from microshrub_host.evaluation.stretches import (
    BLOCKS,
    GROUPS,
    RUNS,
    Draw,
    Stretches,
    find,
)

WINDOW, HOP = 64, 16
SETTINGS = f"window={WINDOW} hop={HOP} statistics=all bands=auto"


def recording(runs: int, length: int = 400, classes: int = 2, seed: int = 4) -> Stream:
    """Return runs of one label each; each run hums with a frequency that no other run has."""
    chance = np.random.default_rng(seed)
    labels = np.repeat(np.arange(runs) % classes, length).astype(np.uint8)
    hum = np.repeat(chance.permutation(np.linspace(0.05, 0.45, runs)), length)
    loud = np.repeat(chance.uniform(500, 5000, runs), length)
    x = loud * np.sin(2 * np.pi * np.cumsum(hum)) + chance.normal(0, 300, runs * length)
    names = tuple(f"class{c}" for c in range(classes))
    return Stream("hum", np.rint(x)[:, None], labels, ("x",), names)


def of(labels: NDArray[np.int64], classes: int = 0, **given: NDArray[np.int64]) -> Stretches:
    return find(labels.astype(np.uint8), classes or int(labels.max()) + 1, **given)


def some(stretches: Stretches, seed: int = 0) -> list[Draw]:
    return list(islice(stretches.draws(seed), 5))


def assert_whole(stretches: Stretches, draw: Draw) -> None:
    """Check that no stretch is in both training and test data."""
    both = np.intersect1d(stretches.of[draw.learned], stretches.of[draw.asked])
    assert not len(both)
    assert not (draw.learned & (draw.asked | draw.ends)).any()


@pytest.mark.parametrize("shuffle", [None, 3])
@pytest.mark.parametrize(("runs", "length"), [(40, 400), (6, 900), (2, 3000), (300, 50)])
def test_no_reading_is_in_both_training_and_test_data(
    runs: int, length: int, shuffle: int | None
) -> None:
    stream = extract_features(recording(runs, length), SETTINGS, shuffle=shuffle)
    assert stream.times is not None
    known = held_out(stream)
    assert known
    last = known.stretches.last()
    for draw in [*some(known.stretches)[:2], *([last] if last else [])]:
        heard: set[int] = set()
        for end in stream.times[draw.learned]:
            heard.update(range(end - WINDOW + 1, end + 1))
        for end in stream.times[draw.asked | draw.ends]:
            assert heard.isdisjoint(range(end - WINDOW + 1, end + 1))


@pytest.mark.parametrize("runs", [2, 5, 24])
def test_runs_are_held_out_whole_and_each_class_is_in_both_parts(runs: int) -> None:
    labels = np.repeat(np.arange(3 * runs) % 3, 40)
    stretches = of(labels)
    assert (stretches.by, stretches.count) == (RUNS, 3 * runs)
    values = np.zeros(len(labels), np.intp)
    for draw in some(stretches):
        assert_whole(stretches, draw)
        for part in (draw.learned, draw.asked):
            assert set(labels[part]) == {0, 1, 2}
        assert draw.asked.mean() == pytest.approx(max(0.2, 1 / runs), abs=0.05)
        values += draw.asked
    assert values.min() > 0 or runs == 24  # 24 runs in turn: each draw has other runs


def test_draws_depend_only_on_their_seed() -> None:
    stretches = of(np.repeat(np.arange(30) % 2, 40))
    once, again, other = (some(stretches, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a.asked, b.asked) for a, b in zip(once, again, strict=True))
    assert any(not np.array_equal(a.asked, b.asked) for a, b in zip(once, other, strict=True))


def test_a_flicker_within_a_run_is_not_a_run() -> None:
    labels = np.repeat(np.arange(12) % 2, 50)
    labels[[20, 21, 330, 431]] ^= 1
    assert of(labels).count == 12
    rare = np.zeros(3000, np.intp)
    for at in (500, 1300, 2600):
        rare[at : at + 8] = 1  # short, like all runs of the class
    stretches = of(rare)
    assert (stretches.by, stretches.count, stretches.single) == (RUNS, 7, [])


def test_labels_in_random_order_are_held_out_in_blocks_with_gaps() -> None:
    for shares in ((0.5, 0.5), (0.99, 0.01), (0.2, 0.3, 0.5)):
        labels = np.random.default_rng(3).choice(len(shares), 4000, p=shares)
        stretches = of(labels)
        assert stretches.by == BLOCKS
        for draw in some(stretches):
            assert_whole(stretches, draw)
            assert 0.15 < draw.asked.mean() < 0.3
            near = np.convolve(draw.asked, np.ones(21), "same") > 0  # ten samples on either side
            assert not (near & draw.learned).any()


def test_groups_are_held_out_whole_wherever_their_samples_are() -> None:
    chance = np.random.default_rng(5)
    labels = np.repeat(np.arange(40) % 2, 25)
    groups = chance.integers(0, 8, 1000)
    stretches = of(labels, groups=groups)
    assert (stretches.by, stretches.count) == (GROUPS, 8)
    for draw in some(stretches):
        assert_whole(stretches, draw)
        assert len(np.unique(groups[draw.asked])) == 2


def test_a_class_of_one_run_is_tested_on_its_end_with_a_gap() -> None:
    labels = np.repeat([0, 1, 0, 1, 2, 0, 1], 100)
    stretches = of(labels)
    assert stretches.single == [2]
    for draw in some(stretches):
        assert not (draw.asked & (labels == 2)).any()
        assert np.array_equal(np.flatnonzero(draw.ends), np.arange(480, 500))
        assert not draw.learned[475:500].any()
        assert draw.learned[400:475].all()


def test_the_last_stretches_are_tested_after_training_on_the_earlier_ones() -> None:
    labels = np.repeat(np.arange(20) % 4, 50)
    last = of(labels).last()
    assert last
    assert set(labels[last.asked]) == {0, 1, 2, 3}
    assert np.flatnonzero(last.learned).max() < np.flatnonzero(last.asked).min()
    assert last.asked[-1]
    assert of(np.zeros(100, np.intp), 2, groups=np.zeros(100, np.intp)).last() is None


def test_a_shuffle_holds_out_the_same_stretches_of_time() -> None:
    labels = np.repeat(np.arange(20) % 2, 60)
    order = np.random.default_rng(1).permutation(1200)
    plain, mixed = of(labels), of(labels[order], times=order)
    for a, b in zip(some(plain), some(mixed), strict=True):
        assert np.array_equal(a.asked[order], b.asked)
        assert np.array_equal(a.learned[order], b.learned)


def test_labels_without_information_on_other_stretches_are_not_predicted() -> None:
    """A class is nothing but its runs: only windows mixed within a run would seem predictable."""
    readings = recording(20, 1200)
    for shuffle in (None, 1):
        run = simulate(extract_features(readings, SETTINGS, shuffle=shuffle), bytes=16_384)
        assert run.unseen
        assert run.unseen.holdout
        assert run.unseen.holdout.accuracy < 70
