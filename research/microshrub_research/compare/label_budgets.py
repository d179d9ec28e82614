"""Learners under a label budget.

Ours query the labels of samples whose class is uncertain. The others query nothing: they get the
labels of as many samples, drawn at random, the same ones for all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from microshrub_host.simulation.label_budget import LabelBudget
from microshrub_host.streams.stream import Stream

from .contender import SEED

UNKNOWN = -1  # in place of a label

GivenLabels = NDArray[np.int16]


def given_labels(stream: Stream, budget: LabelBudget | None) -> GivenLabels:
    """Return the labels for the peers, shape (samples,); the others are UNKNOWN."""
    labels = stream.labels.astype(np.int16)
    if budget is None:
        return labels
    share = budget.most(len(labels)) / max(len(labels), 1)
    drawn = np.random.default_rng(SEED).random(len(labels)) < share
    return np.where(drawn, labels, UNKNOWN).astype(np.int16)


def note(budget: LabelBudget) -> str:
    """Return a text on the labels that each learner got."""
    return (
        f"Labels: ours ask for those of samples that they are unsure of, at most "
        f"{budget.percent:.3g} %, of which {budget.advance:,} may be asked for in advance; all "
        f"others, the two baselines included, learn those of as many samples, drawn at random."
    )
