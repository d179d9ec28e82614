"""Hoeffding trees in integers and fixed memory, compared with River's and with each other."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from river import tree
from tests_support import stream_of

from microshrub_host.evaluation import prequential
from microshrub_host.library import loader
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream

LARGE: dict[str, Any] = {
    "depth": 20, "nodes": 2047, "leaves": 255, "grace_period": 200, "split_confidence": 1e-7,
    "tie_threshold": 0.05, "adaptive": False, "bins": 16,
}  # fmt: skip
MARGIN = 1.5  # points: 16 bins per feature instead of a Gaussian per class


def accuracy_of_river(stream: Stream) -> float:
    model = tree.HoeffdingTreeClassifier(
        grace_period=200, delta=1e-7, tau=0.05, leaf_prediction="nba", max_depth=None
    )
    right = 0
    for values, label in zip(stream.values.tolist(), stream.labels.tolist(), strict=True):
        x = dict(enumerate(values))
        right += model.predict_one(x) == label
        model.learn_one(x, label)
    return 100 * right / len(stream.labels)


@pytest.mark.parametrize(
    ("source", "limit"),
    [
        pytest.param("elec", None, marks=pytest.mark.long),
        ("weather", None),
        ("synth:sea_a", 20_000),
    ],
)
def test_vfdt_is_at_most_slightly_less_accurate_than_rivers(
    source: str, limit: int | None
) -> None:
    stream = stream_of(source, limit)
    shape = {"features": stream.values.shape[1], "classes": len(stream.class_names)}
    ours = prequential.evaluate(stream, "hoeffding", shape | {"leaf": "nba"} | LARGE)
    assert ours.accuracy > accuracy_of_river(stream) - MARGIN


@pytest.mark.parametrize("leaf", ["mc", "nba"])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_efdt_makes_far_fewer_errors_than_vfdt(seed: int, leaf: str) -> None:
    """EFDT makes at most two thirds of VFDT's errors in 20,000 samples of a stationary stream."""
    stream = open_stream(f"synth:random_tree_5_2_{seed}", limit=20_000)
    codes, labels = stream.values.astype(int) * 65535, stream.labels
    wrong = {}
    for policy in ("vfdt", "efdt"):
        model = loader.load(loader.fastest()).HoeffdingTree(
            5, 5, policy=policy, leaf=leaf, two_valued=range(5), **LARGE
        )
        written = bytearray(len(labels))
        model.run(array("H", codes.ravel().tolist()), bytearray(labels.tolist()), written)
        wrong[policy] = int((np.frombuffer(written, np.uint8) != labels).sum())
    assert wrong["efdt"] < wrong["vfdt"] * 2 / 3
