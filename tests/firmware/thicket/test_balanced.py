"""BalancedThicket: rare classes are detected, and costs of errors decide."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())
SHAPE = {"features": 2, "classes": 2, "bytes": 8192}
WHOLE = 1 << 26


def balanced(**parameters: Any) -> Any:
    return LIBRARY.learners.learner_class("BalancedThicket")(**(SHAPE | parameters))


def buffer(learner: Any, name: str) -> Any:
    (match,) = [content for one, _, content in learner.buffers() if one == name]
    return match


def draw(samples: int, rare: float, seed: int = 1) -> tuple[Any, Any]:
    """Draw codes and labels: the rare class is at 40,000, the usual one at 25,000, both spread."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(samples) < rare).astype(int)
    centre = np.where(labels, 40_000, 25_000)[:, None]
    codes = rng.normal(centre, 6000, (samples, 2)).clip(0, 65_535)
    return codes.astype(np.uint16), labels


def run(learner: Any, codes: Any, labels: Any) -> Any:
    written = bytearray(len(labels))
    learner.run(array("H", codes.tobytes()), bytearray(labels.astype(np.uint8)), written)
    return np.frombuffer(written, dtype=np.uint8)


def recall_and_alarms(predictions: Any, labels: Any) -> tuple[float, float]:
    return float(predictions[labels == 1].mean()), float(predictions[labels == 0].mean())


def test_a_rare_class_is_detected_that_a_thicket_overlooks() -> None:
    codes, labels = draw(8000, 0.01)
    plain, _ = recall_and_alarms(run(LIBRARY.Thicket(**SHAPE), codes, labels), labels)
    recall, alarms = recall_and_alarms(run(balanced(), codes, labels), labels)
    assert plain < 0.8
    assert recall > 0.9
    assert alarms < 0.3


def test_the_higher_the_cost_of_a_class_the_more_samples_are_detected() -> None:
    codes, labels = draw(8000, 0.02)
    rates = [
        recall_and_alarms(run(balanced(costs=(1, cost)), codes, labels), labels)
        for cost in (1, 5, 30, 200)
    ]
    for (few, few_alarms), (more, more_alarms) in pairwise(rates):
        assert few <= more
        assert few_alarms <= more_alarms
    assert rates[0][1] < 0.01
    assert rates[-1][0] > 0.85


def test_it_learns_the_usual_class_at_most_sixteen_times_as_often() -> None:
    learner = balanced()
    run(learner, *draw(6000, 0.02))
    usual, rare = buffer(learner, "balanced.learned")
    assert 8 < usual / rare < 32
    usual, rare = buffer(learner, "balanced.seen")
    assert usual / rare > 25


def test_with_equal_classes_all_samples_are_learned() -> None:
    learner = balanced()
    codes, labels = draw(500, 0.5)
    run(learner, codes, labels)
    plain = LIBRARY.Thicket(features=2, classes=2, bytes=8192)
    run(plain, codes, labels)
    assert buffer(learner, "softmax.weight") == buffer(plain, "softmax.weight")


def test_a_class_without_samples_slows_nothing_down() -> None:
    """Of three classes, one has no samples: the others are not thinned out for it."""
    learner = balanced(classes=3)
    codes, labels = draw(1500, 0.5)
    run(learner, codes, labels)
    plain = LIBRARY.Thicket(features=2, classes=3, bytes=8192)
    run(plain, codes, labels)
    assert buffer(learner, "softmax.weight") == buffer(plain, "softmax.weight")


@settings(max_examples=examples(200))
@given(
    parts=st.lists(st.integers(0, 1000), min_size=2, max_size=6).filter(any),
    data=st.data(),
    given_costs=st.booleans(),
)
def test_the_choice_follows_elkan(parts: list[int], data: Any, given_costs: bool) -> None:
    """The class has the most votes times cost times prior, relative to its learned share.

    Factors have twelve bits: a gain of up to 8,192 votes for the heaviest class is undecided.
    """
    classes, votes = len(parts), [part * 65536 * 255 // sum(parts) for part in parts]
    shares = st.lists(st.integers(WHOLE // 64, WHOLE // 2), min_size=classes, max_size=classes)
    seen, learned = data.draw(shares), data.draw(shares)
    costs = data.draw(st.lists(st.integers(1, 255), min_size=classes, max_size=classes))
    learner = balanced(classes=classes, costs=tuple(costs) if given_costs else ())
    for name, values in (("votes", votes), ("seen", seen), ("learned", learned)):
        owner = "thicket" if name == "votes" else "balanced"
        buffer(learner, f"{owner}.{name}")[:] = array("i", values)
    module = LIBRARY.thicket.balanced
    thicket = learner._addresses[4]
    module.weigh(thicket, 0)
    chosen = module.choose(thicket)
    counts = [c * s if given_costs else 1 for c, s in zip(costs, seen, strict=True)]
    worth = [v * k / share for v, k, share in zip(votes, counts, learned, strict=True)]
    assert worth[chosen] >= 0.9 * max(worth) - max(counts) / min(learned) * 8192
    assert votes[chosen]
    after = list(buffer(learner, "thicket.votes"))
    assert 0 < sum(after) <= 65536 * 255
    assert after[chosen] == max(after)


def test_late_labels_are_learned() -> None:
    learner = balanced()
    codes, labels = draw(300, 0.5)
    rows = [array("H", row.tolist()) for row in codes]
    for i, row in enumerate(rows):
        learner.predict(row)
        if i >= 20:
            learner.learn(rows[i - 20], int(labels[i - 20]))
    right = sum(learner.predict(row) == label for row, label in zip(rows, labels, strict=True))
    assert right > 270


@pytest.mark.parametrize("costs", [(1,), (1, 2, 3), (0, 1), (1, 256), (1.5, 1), "12", 5])
def test_wrong_costs_are_refused(costs: Any) -> None:
    with pytest.raises(ValueError, match="costs has to be"):
        balanced(costs=costs)


def test_a_saved_state_continues_and_one_with_other_costs_is_refused() -> None:
    codes, labels = draw(600, 0.05)
    learner, other = balanced(costs=(1, 9)), balanced(costs=(1, 9))
    run(learner, codes[:300], labels[:300])
    other.load(learner.save())
    assert list(run(other, codes[300:], labels[300:])) == list(
        run(learner, codes[300:], labels[300:])
    )
    assert other.state_crc32() == learner.state_crc32()
    with pytest.raises(ValueError, match="the saved state is of"):
        balanced(costs=(1, 8)).load(learner.save())
