"""Variable uncertainty, a query strategy as its authors describe it, for comparison.

Zliobaite, Bifet, Pfahringer, Holmes: Active learning with drifting streaming data, IEEE
Transactions on Neural Networks and Learning Systems 2014, section IV-C, with their constants.
"""

from __future__ import annotations

import random
from array import array
from typing import Any

from microshrub_host.library import loader
from microshrub_host.library.learners import DEFAULT, MODELS, defaults
from microshrub_host.simulation import engines
from microshrub_host.streams.stream import Stream

from .family_members import WARMUP

_STEP = 0.01
_DEVIATION = 1.0
_WINDOW = 100  # samples in the estimate of the spent budget
_ALL_VOTES = 65536 * 255


class VariableUncertainty:
    """Variable uncertainty with randomisation; the budget is a share, 0..1."""

    def __init__(self, budget: float, seed: int) -> None:
        self._budget = budget
        self._random = random.Random(seed)
        self._threshold = 1.0
        self._spent = 0.0  # labels spent within the window

    def ask(self, confidence: float) -> bool:
        """Return whether to query the label of a sample whose predicted class has this
        probability.
        """
        asks = False
        if self._spent / _WINDOW < self._budget:
            asks = confidence < self._threshold * self._random.gauss(1, _DEVIATION)
            factor = 1 - _STEP if asks else 1 + _STEP
            self._threshold = min(self._threshold * factor, 1.0)
        self._spent += asks - self._spent / _WINDOW
        return asks


def accuracy_with(stream: Stream, budget: float, seed: int) -> float:
    """Return the accuracy in percent of a default learner with this query strategy,
    over all samples.
    """
    strategy = VariableUncertainty(budget, seed)
    features, right = stream.values.shape[1], 0
    shape = {"features": features, "classes": len(stream.class_names)}
    parameters = {**shape, **defaults(DEFAULT), "seed": seed}
    model = getattr(loader.load(loader.fastest()), MODELS[DEFAULT])(**parameters)
    codes = _codes(stream)
    for i, label in enumerate(stream.labels.tolist()):
        x = codes[i * features : (i + 1) * features]
        right += model.predict(x) == label
        if strategy.ask(max(model.votes) / _ALL_VOTES):
            model.learn(x, label)
    return 100 * right / len(stream.labels)


def _codes(stream: Stream) -> Any:
    """Return the codes of all samples, from a quantizer that has observed the first ones."""
    raw = engines.ints(stream.scale.apply(stream.values))
    features = stream.values.shape[1]
    quantizer = loader.load(loader.fastest()).Quantizer(features)
    quantizer.observe(raw[: WARMUP * features])
    quantizer.freeze()
    codes = array("H", bytes(2 * len(raw)))
    quantizer.encode(raw, codes)
    return codes
