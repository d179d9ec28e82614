"""Soft decision trees: their output, their learning, and the error without torch."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
import pytest
from compare_support import make_stream

from microshrub_host.base.errors import UserError
from microshrub_host.streams.stream import Stream
from microshrub_research.compare import catalogue
from microshrub_research.compare.catalogue import PEERS
from microshrub_research.compare.comparison_runner import compare
from microshrub_research.compare.contender import Contender

_NAME = "torch:SoftTrees"
_MISSING = catalogue.missing_for("torch")
needs_torch = pytest.mark.skipif(bool(_MISSING), reason=f"{_NAME} needs {_MISSING}")


def make_trees(stream: Stream, **settings: Any) -> Any:
    from microshrub_research.compare.soft_trees import SoftTrees

    return SoftTrees(settings, stream.values, stream)


def slow_probabilities(rows: Any, weights: Any, biases: Any, scores: Any, depth: int) -> Any:
    """Return the sum over all leaves of eq. 1, computed path by path."""
    values = np.zeros((len(rows), scores.shape[-1]))
    for row, x in enumerate(rows):
        for w, b, g in zip(weights, biases, scores, strict=True):
            for leaf, turns in enumerate(itertools.product((0, 1), repeat=depth)):
                node, reach = 0, 1.0
                for turn in turns:
                    right = 1 / (1 + np.exp(-(w[node] @ x + b[node])))
                    reach *= right if turn else 1 - right
                    node = 2 * node + 1 + turn
                values[row] += reach * np.exp(g[leaf]) / np.exp(g[leaf]).sum() / len(weights)
    return values


@needs_torch
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_the_gradient_equals_finite_differences(depth: int) -> None:
    import torch

    trees = make_trees(make_stream(20), trees=2, depth=depth)
    rng = np.random.default_rng(depth)
    rows = rng.normal(size=(5, 3))
    labels = rng.integers(0, 3, size=5)
    for parameter in trees.parameters:
        parameter.data = torch.from_numpy(rng.normal(size=tuple(parameter.shape)))

    def slow_loss(numbers: list[Any]) -> float:
        probabilities = slow_probabilities(rows, *numbers, depth)
        return float(-np.log(probabilities[np.arange(5), labels]).mean())

    numbers = [parameter.detach().numpy().copy() for parameter in trees.parameters]
    probabilities = trees.probabilities(torch.from_numpy(rows)).detach().numpy()
    assert probabilities == pytest.approx(slow_probabilities(rows, *numbers, depth))
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(5))
    loss = trees.loss(torch.from_numpy(rows), torch.from_numpy(labels))
    loss.backward()
    assert loss.item() == pytest.approx(slow_loss(numbers))
    for parameter, array in zip(trees.parameters, numbers, strict=True):
        for place in np.ndindex(array.shape):
            there = array[place]
            array[place] = there + 1e-6
            above = slow_loss(numbers)
            array[place] = there - 1e-6
            below = slow_loss(numbers)
            array[place] = there
            gradient = parameter.grad[place].item()
            assert gradient == pytest.approx((above - below) / 2e-6, abs=1e-7)


@needs_torch
def test_a_separable_stream_is_learned_in_any_units() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(4000, 3))
    labels = (values[:, 0] + values[:, 1] > 0).astype(np.uint8)
    values = values * (1e-3, 1e-3, 1e4) + (5, 0, -1e5)
    stream = Stream("separable", values, labels, ("x", "y", "z"), ("a", "b"))
    result = make_trees(stream).run((values, labels))
    assert np.mean(np.array(result[2000:]) == labels[2000:]) > 0.95
    assert result == make_trees(stream).run((values, labels)), "it is deterministic"


@needs_torch
def test_values_are_standardised_by_the_values_so_far() -> None:
    stream = make_stream(50)
    trees = make_trees(stream)
    for seen, row in enumerate(stream.values, 1):
        scaled = trees._standardised(row)
        so_far = stream.values[:seen]
        deviations = so_far.std(axis=0) if seen > 1 else np.ones(3)
        assert scaled == pytest.approx((row - so_far.mean(axis=0)) / deviations)


@needs_torch
def test_samples_are_predicted_before_they_are_learned() -> None:
    """A prediction depends on earlier labels, but not on labels of its own batch."""
    stream = make_stream(320)
    result = make_trees(stream, batch=16).run((stream.values, stream.labels))
    other = stream.labels.copy()
    other[160:] = 2 - other[160:]
    changed = make_trees(stream, batch=16).run((stream.values, other))
    assert result[:176] == changed[:176]
    assert result != changed


@needs_torch
def test_a_cell_has_the_trees_bytes() -> None:
    stream = make_stream(300)
    contender = Contender(_NAME, "torch", "SoftTrees", {"trees": 2, "depth": 2, "batch": 8})
    cell = next(compare([contender], stream))
    parameters = 2 * (3 * 3 + 3 + 4 * 3)
    assert cell.model_bytes == 4 * (3 * parameters + 2 * 3 + 8 * (3 + 1))
    assert cell.model_bytes_by == "4 bytes per number"
    assert not cell.failure
    learner = catalogue.start(contender, stream, 256)
    result = learner.run(learner.prepare(slice(0, 300)))
    assert cell.accuracy == pytest.approx(100 * np.mean(result == stream.labels), abs=1e-4)


def test_without_torch_an_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it fails
    with pytest.raises(UserError, match=r"torch:SoftTrees needs .*'microshrub\[bench\]'"):
        catalogue.select(_NAME)
    assert PEERS[_NAME].system == "torch"
