"""An ensemble of soft decision trees of a fixed shape, trained by gradient descent with torch.

A tree is h(x) = sum over its leaves i of g_i * prod over the path of s_j(x), where s_j(x) is
sigmoid(<w_j, x> + b_j) to the right and 1 minus that to the left; f(x) is the mean of the trees.
Buschjaeger, Hess, Morik: Shrub Ensembles for Online Classification, AAAI 2022, section 2, eq. 1;
Irsoy, Yildiz, Alpaydin: Soft decision trees, ICPR 2012. A leaf's g_i is the softmax of its own
scores, the loss is the cross-entropy of f(x), and the optimiser is Adam.

As the field does, every feature is standardised by the mean and the variance of all its values
up to the sample itself (Welford 1962).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microshrub_host.streams.stream import Stream

from .contender import SEED
from .label_budgets import UNKNOWN, GivenLabels, given_labels

DEFAULTS = {"trees": 8, "depth": 4, "step": 0.01, "batch": 16}
_TINY = 1e-12  # the lowest probability in a logarithm
_FLOAT = 4  # bytes

_Samples = tuple[NDArray[np.float64], GivenLabels]


class SoftTrees:
    """`trees` trees with 2**depth leaves each, and a gradient step after every batch of samples.

    Settings are trees, depth, step (Adam's) and batch (samples whose mean loss makes a step; they
    do not overlap). The seed draws the weights; with one thread all is deterministic.
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        values: NDArray[np.float64],
        stream: Stream,
        labels: GivenLabels | None = None,
    ) -> None:
        import torch

        chosen = DEFAULTS | dict(settings)
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        features, classes = values.shape[1], len(stream.class_names)
        self._torch = torch
        self._values = values
        self._labels = given_labels(stream, None) if labels is None else labels
        self._depth = int(chosen["depth"])
        self._batch = int(chosen["batch"])
        inner, leaves = 2**self._depth - 1, 2**self._depth
        trees = int(chosen["trees"])
        generator = torch.Generator().manual_seed(SEED)

        def drawn(*shape: int, scale: float) -> Any:
            numbers = torch.randn(*shape, generator=generator) * scale
            return numbers.requires_grad_()

        self.weights = drawn(trees, inner, features, scale=features**-0.5)
        self.biases = drawn(trees, inner, scale=0.1)
        self.scores = drawn(trees, leaves, classes, scale=0.1)
        self.parameters = [self.weights, self.biases, self.scores]
        self._optimiser = torch.optim.Adam(self.parameters, lr=float(chosen["step"]))
        self._waiting: list[tuple[Any, int]] = []
        self._seen = 0
        self._means = np.zeros(features)
        self._squares = np.zeros(features)  # sums of squared distances from the mean

    def prepare(self, part: slice) -> _Samples:
        """Return the values and labels unchanged."""
        return self._values[part], self._labels[part]

    def run(self, samples: _Samples) -> list[int]:
        """Predict, then learn each of the samples."""
        torch = self._torch
        predicted = []
        for x, label in zip(samples[0], samples[1].tolist(), strict=True):
            row = torch.from_numpy(self._standardised(x).astype(np.float32))
            with torch.no_grad():
                predicted.append(int(self.probabilities(row[None])[0].argmax()))
            if label == UNKNOWN:
                continue
            self._waiting.append((row, label))
            if len(self._waiting) == self._batch:
                self._step()
        return predicted

    def probabilities(self, rows: Any) -> Any:
        """Return f(x) of all rows: from shape (samples, features) to shape (samples, classes)."""
        torch = self._torch
        right = torch.sigmoid(torch.einsum("sf,tif->sti", rows, self.weights) + self.biases)
        reach = rows.new_ones(*right.shape[:2], 1)  # chance to reach a level's nodes
        for level in range(self._depth):
            first = 2**level - 1
            here = right[:, :, first : 2 * first + 1]
            both = torch.stack([reach * (1 - here), reach * here], dim=-1)
            reach = both.flatten(start_dim=2)
        leaves = torch.softmax(self.scores, dim=-1)
        return torch.einsum("stl,tlc->sc", reach, leaves) / self.weights.shape[0]

    def loss(self, rows: Any, labels: Any) -> Any:
        """Return the mean cross-entropy of the rows."""
        result = self.probabilities(rows).gather(1, labels[:, None])
        return -result.clamp_min(_TINY).log().mean()

    def nbytes(self) -> int:
        """Return the bytes of the state between two samples, at 4 bytes per number:

        the parameters, Adam's two moments of each, the features' means and variances,
        and the batch with its labels.
        """
        features = len(self._means)
        parameters = sum(int(parameter.numel()) for parameter in self.parameters)
        numbers = 3 * parameters + 2 * features + self._batch * (features + 1)
        return _FLOAT * numbers

    def shape(self) -> None:
        """Return None: the size of the trees is fixed."""

    def _step(self) -> None:
        torch = self._torch
        rows = torch.stack([row for row, _ in self._waiting])
        labels = torch.tensor([label for _, label in self._waiting])
        self._waiting.clear()
        self._optimiser.zero_grad()
        self.loss(rows, labels).backward()
        self._optimiser.step()

    def _standardised(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        self._seen += 1
        before = x - self._means
        self._means += before / self._seen
        self._squares += before * (x - self._means)
        deviations = np.sqrt(self._squares / self._seen)
        result: NDArray[np.float64] = (x - self._means) / np.where(deviations > 0, deviations, 1)
        return result
