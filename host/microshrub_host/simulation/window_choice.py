"""Whether the classes of a recording are recognised better in longer windows.

Slow changes show in a long window; but where classes change often, fewer long windows hold a
single class. A linear discriminant on the features weighs both: it learns the windows of every
other run of each class and predicts the others, then the other way round. Windows across the end
of a run are included, with the class of their last reading.
"""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from ..streams.stream import Stream
from .feature_extraction import extracted
from .feature_options import FeatureOptions
from .window_gain import LEAST, Floats, runs_of

_MOST = 60_000  # readings
_AHEAD = 0.03  # least gain in mean recall, which exceeds chance
_SHRINKAGE = 0.2  # shrinkage of the covariance towards uncorrelated features


def shows_more(stream: Stream, usual: FeatureOptions, longer: FeatureOptions) -> bool:
    """Return whether the classes have a higher mean recall in windows by `longer` than by `usual`.

    Raises UserError if a board could not have given these readings.
    """
    first = dataclasses.replace(
        stream,
        values=stream.values[:_MOST],
        labels=stream.labels[:_MOST],
        groups=None,
        starts=tuple(start for start in stream.starts if start < _MOST),
    )
    if len(first.values) < 2 * longer.window:
        return False
    scores = [_score(first, options) for options in (usual, longer)]
    return bool(scores[1] - scores[0] > _AHEAD)


def _score(stream: Stream, options: FeatureOptions) -> float:
    """Return the mean recall, with each half of the runs learned once; NaN for too few."""
    made = extracted(stream, options)
    assert made.times is not None
    other = _every_other_run(stream)[made.times]
    parts = [_recall(made.values, np.asarray(made.labels), learned) for learned in (other, ~other)]
    return float(np.mean(parts))


def _every_other_run(stream: Stream) -> NDArray[np.bool_]:
    """Return a mask of the readings in the second, the fourth ... run of their class."""
    result = np.zeros(len(stream.labels), np.bool_)
    seen = Counter[int]()
    for begin, end, label in runs_of(stream):
        result[begin:end] = seen[label] % 2 == 1
        seen[label] += 1
    return result


def _recall(values: Floats, labels: NDArray[np.uint8], learned: NDArray[np.bool_]) -> float:
    """Return a discriminant's mean recall on unseen windows; NaN without enough windows."""
    asked = ~learned
    able = [
        label
        for label in np.unique(labels)
        if np.count_nonzero(labels[learned] == label) >= LEAST and label in labels[asked]
    ]
    if len(able) < 2:
        return float("nan")
    spread = values[learned].std(axis=0)
    rows = (values - values[learned].mean(axis=0)) / np.where(spread > 0, spread, 1)
    means = np.array([rows[learned & (labels == label)].mean(axis=0) for label in able])
    away = np.concatenate(
        [rows[learned & (labels == label)] - mean for label, mean in zip(able, means, strict=True)]
    )
    together = away.T @ away / len(away)
    apart = np.eye(len(together)) * max(np.trace(together) / len(together), 1e-9)
    weights = np.linalg.solve((1 - _SHRINKAGE) * together + _SHRINKAGE * apart, means.T)
    scores = rows[asked] @ weights - 0.5 * (means.T * weights).sum(axis=0)
    answers = np.array(able)[scores.argmax(axis=1)]
    right = [np.mean(answers[labels[asked] == label] == label) for label in able]
    return float(np.mean(right))
