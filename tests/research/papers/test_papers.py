"""The claims of the papers on Hoeffding trees, on similar streams, at 100,000 samples.

"theirs" is the papers' setting: delta 1e-7, tie 0.05, a check every 200 samples, and no effective
limit on nodes and leaves.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests_support import stream_of

from microshrub_host.evaluation import prequential

SAMPLES = 100_000
pytestmark = pytest.mark.long
THEIRS: dict[str, Any] = {
    "depth": 30, "nodes": 2047, "leaves": 256, "split_confidence": 1e-7, "tie_threshold": 0.05,
    "grace_period": 200, "leaf": "nba", "adaptive": False, "bins": 16,
}  # fmt: skip


@cache
def run(source: str, **parameters: Any) -> tuple[float, int]:
    """Return the accuracy in percent, and the nodes at the end."""
    stream = stream_of(source, SAMPLES)
    shape = {"features": stream.values.shape[1], "classes": len(stream.class_names)}
    done = prequential.evaluate(stream, "hoeffding", shape | THEIRS | parameters)
    return done.accuracy, done.progress["nodes_used"]


# HT-REG and HAT (Barddal, Enembreck 2019): sections 5.2 and 5.3


def test_regularization_needs_a_fifth_of_the_nodes() -> None:
    """This ratio is the mean over two streams, at a cost of at most 1.1 points on each.

    The streams depend on 4 features of 49 and on 3 of 50.
    """
    sizes = []
    for source in ("synth:agrawal_8_irrelevant_40", "synth:bg1_0_irrelevant_44"):
        plain, nodes = run(source)
        accuracy, fewer = run(source, regularization=0.5)
        assert accuracy >= plain - 1.1
        sizes.append((nodes, fewer))
    assert sum(fewer for _, fewer in sizes) <= sum(nodes for nodes, _ in sizes) / 5


@pytest.mark.parametrize("turns", ["8_to_2", "8_to_0", "2_to_0", "0_to_2"])
def test_adaptive_trees_are_better_where_the_concept_changes(turns: str) -> None:
    """Adaptive trees are better by at least 3 points; in the paper by 4."""
    source = f"synth:agrawal_{turns}_at_{SAMPLES // 2}"
    assert run(source, adaptive=True)[0] >= run(source)[0] + 3


# SVFDT (Turrisi da Costa, de Carvalho, Barbon 2018)

STREAMS = ("elec", "weather", "synth:agrawal_a", "synth:led_a", "synth:rbf_m", "synth:sea_a")
# A leaf needs as many samples as others had on average: on 100,000 samples, SVFDT-I needs
# frequent checks and splits of leaves that are about as good, so that there are many moments.
OFTEN = {"grace_period": 50, "tie_threshold": 0.2}


@pytest.mark.parametrize(
    ("policy", "setting"), [("svfdt1", OFTEN), ("svfdt2", OFTEN), ("svfdt2", {})]
)
def test_strict_trees_are_smaller_and_about_as_good(policy: str, setting: dict[str, Any]) -> None:
    """Strict trees have fewer nodes on every stream, at a cost of at most a point on average."""
    lost = []
    for source in STREAMS:
        plain, nodes = run(source, **setting)
        accuracy, fewer = run(source, policy=policy, **setting)
        assert fewer < nodes, source
        lost.append(plain - accuracy)
    assert np.mean(lost) <= 1


def test_svfdt1_is_the_smaller_of_the_two() -> None:
    for source in STREAMS:
        one, two = (run(source, policy=p, **OFTEN)[1] for p in ("svfdt1", "svfdt2"))
        assert one < two, source


# OLBoost (Turrisi da Costa, Mastelini, de Carvalho, Barbon 2019): figures 2 and 3


@pytest.mark.parametrize("leaf", ["nba", "nb", "mc"])
@pytest.mark.parametrize("source", ["elec", "weather", "synth:led_a"])
def test_boosting_helps_small_trees(source: str, leaf: str) -> None:
    plain, boosted = (run(source, depth=3, leaf=leaf, boost=boost)[0] for boost in (False, True))
    assert boosted > plain
    assert leaf == "mc" or boosted > plain + 1
