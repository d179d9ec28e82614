"""A balanced thicket weighs its members by their accuracy on each class."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())
MEMBERS = ("grove", "neighbours", "softmax", "shrubs", "last", "bayes")


def balanced(**parameters: Any) -> Any:
    shape = {"features": 2, "classes": 2, "bytes": 8192}
    return LIBRARY.learners.learner_class("BalancedThicket")(**(shape | parameters))


def shares(learner: Any) -> dict[str, int]:
    figures = learner.progress()
    return {member: figures[f"share_{member}"] for member in MEMBERS}


def accuracies(learner: Any) -> dict[str, int]:
    figures = learner.progress()
    return {member: figures[f"accuracy_{member}"] for member in MEMBERS}


def learn(learner: Any, codes: Any, labels: Any) -> None:
    rows = array("H", np.ascontiguousarray(codes, dtype=np.uint16).tobytes())
    written = bytearray(len(labels))
    learner.run(rows, bytearray(np.asarray(labels, dtype=np.uint8).tobytes()), written)


def stripe(samples: int, seed: int = 1) -> tuple[Any, Any]:
    """Draw samples, one in fifty of a rare class, which is a stripe between the others."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(samples) < 0.02).astype(int)
    aside = rng.choice([12_000, 52_000], samples)
    middle = np.where(labels, 32_000, aside)
    codes = np.stack([rng.normal(middle, 5000), rng.uniform(0, 65_535, samples)], 1)
    return codes.clip(0, 65_535), labels


def test_before_any_label_all_members_have_equal_skill() -> None:
    assert set(accuracies(balanced()).values()) == {75}


def test_the_only_member_that_knows_the_rare_class_has_weight() -> None:
    """A member that never predicts the rare class is nearly always right, but weighs little."""
    learner = balanced()
    learn(learner, *stripe(8000))
    known, counts = accuracies(learner), shares(learner)
    assert known["last"] < 60
    assert known["softmax"] < 85
    assert min(known["grove"], known["neighbours"]) > 90
    assert counts["grove"] + counts["neighbours"] + counts["bayes"] > 80
    plain = LIBRARY.Thicket(features=2, classes=2, bytes=8192)
    learn(plain, *stripe(8000))
    assert min(accuracies(plain).values()) > 90


@pytest.mark.parametrize("costs", [(), (1, 1), (1, 200)])
def test_costs_of_errors_change_no_skill(costs: tuple[int, ...]) -> None:
    learner, other = balanced(costs=costs), balanced()
    for one in (learner, other):
        learn(one, *stripe(1000))
    assert accuracies(learner) == accuracies(other)


def test_a_class_without_samples_has_no_influence() -> None:
    learner = balanced(classes=5)
    learn(learner, *stripe(8000))
    assert accuracies(learner)["last"] < 60
    assert min(accuracies(learner)["grove"], accuracies(learner)["neighbours"]) > 90


def test_an_abstaining_member_is_not_judged() -> None:
    """The last label is unknown where all labels are late."""
    codes, labels = stripe(300)
    rows = [array("H", row) for row in codes.astype(np.uint16).tolist()]
    learner = balanced()
    for i, row in enumerate(rows):
        learner.predict(row)
        if i >= 5:
            learner.learn(rows[i - 5], int(labels[i - 5]))
    assert accuracies(learner)["last"] == 75
    assert accuracies(learner)["grove"] != 75


def test_a_saved_state_with_too_many_judgements_is_refused() -> None:
    learner = balanced()
    learn(learner, *stripe(100))
    (judged,) = [content for name, _, content in learner.buffers() if name == "balanced.judged"]
    judged[1] = 57
    with pytest.raises(ValueError, match="saved state"):
        balanced().load(learner.save())
