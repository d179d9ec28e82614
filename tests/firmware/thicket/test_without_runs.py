"""Without labels: as accurate as with them, never below guessing, in runs or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from microshrub_host.library import loader
from microshrub_host.simulation import engines

TAUGHT = 3000
ASKED = 1000
BLOCK = 20
FARTHEST = 2**29 - 1
Draw = Callable[[np.random.Generator], NDArray[np.float64]]


def taught_and_asked(
    rows: NDArray[Any], labels: NDArray[Any], seed: int, classes: int = 3
) -> tuple[float, float]:
    """Return the accuracies on the last samples, in percent: with labels, and without them."""
    raw, known = rows.astype(np.int32), labels.astype(np.uint8)
    shape = {"features": rows.shape[1], "classes": classes, "bytes": 65536, "seed": seed}
    unseen, taught = [], []
    with engines.start(loader.fastest(), "Thicket", shape, growing=True) as run:
        run.run(raw[:TAUGHT], known[:TAUGHT])
        for at in range(TAUGHT, len(raw), BLOCK):
            block = slice(at, at + BLOCK)
            unseen.append(run.ask(raw[block]) == known[block])
            taught.append(run.run(raw[block], known[block]) == known[block])
    return 100 * float(np.mean(taught)), 100 * float(np.mean(unseen))


@pytest.mark.parametrize("share", [0.9, 0.7])
@pytest.mark.parametrize("spread", [1000, 0])
def test_uninformative_features_are_no_worse_than_guessing(share: float, spread: int) -> None:
    """This holds whether features are noise or constant; two seeds each."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        rows = rng.normal(7, spread, (TAUGHT + ASKED, 2))
        labels = rng.random(len(rows)) > share
        _, unseen = taught_and_asked(rows, labels, seed)
        assert unseen > 100 * (1 - labels[TAUGHT:].mean()) - 1


@pytest.mark.parametrize(
    ("shares", "spread", "worse"),
    [((0.6, 0.2, 0.15, 0.05), 1000, 1), ((0.6, 0.2, 0.15, 0.05), 0, 1), ((0.61, 0.39), 0, 3)],
)
def test_of_several_classes_the_most_frequent_one_is_guessed(
    shares: tuple[float, ...], spread: int, worse: float
) -> None:
    """An almost equally frequent class costs little; the figure is the mean of three seeds."""
    gaps = []
    for seed in range(3):
        rng = np.random.default_rng((48, seed))
        rows = rng.normal(7, spread, (TAUGHT + ASKED, 3))
        labels = rng.choice(len(shares), len(rows), p=shares)
        _, unseen = taught_and_asked(rows, labels, seed, len(shares))
        gaps.append(unseen - 100 * float(np.mean(labels[TAUGHT:] == 0)))
    assert np.mean(gaps) > -worse


@pytest.mark.parametrize("size", [16384, 65536])
@pytest.mark.parametrize("run", [10, 40])
@pytest.mark.parametrize(
    ("shares", "spread"), [((0.9, 0.1), 1000), ((0.6, 0.25, 0.15), 1000), ((0.7, 0.3), 0)]
)
def test_after_runs_of_a_label_the_most_frequent_class_is_guessed(
    shares: tuple[float, ...], spread: int, run: int, size: int
) -> None:
    """Test rows and lengths of runs are random. The figure is the mean of four seeds."""
    gaps = []
    for seed in range(4):
        rng = np.random.default_rng((54, seed))
        taught = np.repeat(
            rng.choice(len(shares), TAUGHT, p=shares), rng.geometric(1 / run, TAUGHT)
        )
        taught = taught[:2000].astype(np.uint8)
        rows = rng.normal(7, spread, (2000 + ASKED, 2)).astype(np.int32)
        labels = rng.choice(len(shares), ASKED, p=shares)
        shape = {"features": 2, "classes": len(shares), "bytes": size, "seed": seed}
        with engines.start(loader.fastest(), "Thicket", shape, growing=True) as model:
            model.run(rows[:2000], taught)
            right = model.ask(rows[2000:]) == labels
        gaps.append(
            100 * float(np.mean(right)) - 100 * np.mean(labels == np.bincount(taught).argmax())
        )
    assert np.mean(gaps) > -3


@pytest.mark.parametrize("size", [16384, 65536])
def test_slightly_informative_features_are_used_in_runs(size: int) -> None:
    """With eight equally frequent classes, guessing is right in one of eight cases."""
    right = []
    for seed in range(3):
        rng = np.random.default_rng((55, seed))
        taught = np.repeat(rng.integers(0, 8, TAUGHT), rng.geometric(1 / 40, TAUGHT))[:2000]
        labels = np.concatenate([taught, rng.integers(0, 8, ASKED)])
        middle = rng.normal(0, 500, (8, 4))
        rows = (middle[labels] + rng.normal(0, 1000, (len(labels), 4))).astype(np.int32)
        shape = {"features": 4, "classes": 8, "bytes": size, "seed": seed}
        with engines.start(loader.fastest(), "Thicket", shape, growing=True) as model:
            model.run(rows[:2000], taught.astype(np.uint8))
            right.append(np.mean(model.ask(rows[2000:]) == labels[2000:]))
    assert np.mean(right) > 0.25


TAILS: dict[str, Draw] = {
    "lognormal": lambda rng: rng.lognormal(0, 4, (TAUGHT + ASKED, 3)),
    "pareto": lambda rng: rng.pareto(1, (TAUGHT + ASKED, 3)),
    "cauchy": lambda rng: rng.standard_cauchy((TAUGHT + ASKED, 3)),
}


@pytest.mark.parametrize("tail", TAILS)
def test_heavy_tails_are_as_accurate_without_labels(tail: str) -> None:
    """The figure is the mean of five seeds, and of fifty times at which the labels end."""
    result = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        values = TAILS[tail](rng)
        labels = (values[:, 0] > np.median(values[:, 0])) + 1 * (values[:, 1] > 1)
        rows = np.rint(1000 * values).clip(-FARTHEST, FARTHEST)
        result.append(taught_and_asked(rows, labels, seed))
    taught, unseen = np.mean(result, axis=0)
    assert unseen > taught - 2
    assert unseen > 85, "some member has to know"


@pytest.mark.parametrize("tail", TAILS)
def test_a_row_has_one_prediction_with_and_without_its_label(tail: str) -> None:
    """Where features are informative, each sample is first predicted, and then learned."""
    values = TAILS[tail](np.random.default_rng(48))[:1500]
    labels = ((values[:, 0] > np.median(values[:, 0])) + 1 * (values[:, 1] > 1)).astype(np.uint8)
    raw = np.rint(1000 * values).clip(-FARTHEST, FARTHEST).astype(np.int32)
    shape = {"features": 3, "classes": 3, "bytes": 16384, "seed": 0}
    with engines.start(loader.fastest(), "Thicket", shape, growing=True) as run:
        run.run(raw[:500], labels[:500])
        for at in range(500, len(raw)):
            one = slice(at, at + 1)
            assert run.ask(raw[one]) == run.run(raw[one], labels[one])
