"""After a change of a sensor's unit, samples in the first unit do no harm."""

from __future__ import annotations

import numpy as np
import pytest

from microshrub_host.evaluation import holdout
from microshrub_host.library.learners import DEFAULT, defaults
from microshrub_host.streams.units import Scale

BEFORE, AFTER, ASKED = 2000, 500, 1000


@pytest.mark.parametrize("size", [8192, 65536])
@pytest.mark.parametrize(("classes", "features"), [(2, 4), (3, 6), (3, 10)])
def test_500_samples_in_the_new_unit_are_as_good_as_without_the_first(
    classes: int, features: int, size: int
) -> None:
    """The classes are Gaussian clouds, on which naive Bayes reaches 96 % after as many samples."""
    rng = np.random.default_rng((3, classes, features))
    middles = rng.normal(size=(classes, features))
    apart = np.sqrt(((middles[:, None] - middles) ** 2).sum(axis=2))
    middles *= 3.8 / apart[np.triu_indices(classes, 1)].min()
    labels = rng.integers(0, classes, BEFORE + AFTER + ASKED).astype(np.uint8)
    values = middles[labels] + rng.normal(size=(len(labels), features))
    values[BEFORE:] *= 0.001
    rows = Scale.fit(values).apply(values)
    shape = {"features": features, "classes": classes}
    parameters = {**shape, **defaults(DEFAULT), "bytes": size, "seed": 0}
    right = []
    for begin in (0, BEFORE):
        taught = slice(begin, BEFORE + AFTER)
        asked = rows[BEFORE + AFTER :]
        answers = holdout.answers(
            DEFAULT, parameters, rows[taught], labels[taught], asked, warmup=0
        )
        right.append(np.mean(answers == labels[BEFORE + AFTER :]))
    assert right[1] > 0.95
    assert right[0] > max(0.94, right[1] - 0.025)
