"""The size of trees: ours, and as River counts its own."""

from __future__ import annotations

from typing import Any

import pytest
from river import tree

from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream
from microshrub_research.compare import catalogue, our_learners, river_peers
from microshrub_research.compare.comparison_runner import Cell, compare, compare_here

TREE = "hoeffding leaf=nba split_confidence=1e-3 tie_threshold=0.1 grace_period=100 depth=20"


@pytest.fixture(scope="module")
def stream() -> Stream:
    return open_stream("synth:random_tree_5_2_1", limit=6000)


def run_of(stream: Stream, rules: str) -> tuple[Any, Any]:
    """Return the predictions for all samples, and the final shape."""
    contender = our_learners.ours(f"{TREE} {rules}")
    model = catalogue.start(contender, stream, 256)
    return model.run(model.prepare(slice(0, len(stream.labels)))), model.shape()


@pytest.mark.parametrize(
    "rules", ["policy=vfdt", "policy=efdt", "adaptive=true", "boost=true policy=svfdt2"]
)
def test_the_bytes_are_those_of_the_smallest_sufficient_pool(stream: Stream, rules: str) -> None:
    output, shape = run_of(stream, f"nodes=511 leaves=300 {rules}")
    assert shape["nodes"] > 3
    assert shape["depth"] >= 2
    assert 1 <= shape["features"] <= 5
    pool = f"nodes={shape['most_nodes']} leaves={shape['most_leaves']} {rules}"
    assert shape["bytes"] == our_learners.model_bytes(
        our_learners.ours(f"{TREE} {pool}"), stream, 256
    )
    again, same = run_of(stream, pool)
    assert again == output
    assert same == shape


def test_a_tree_of_one_leaf_has_a_shape(stream: Stream) -> None:
    _, shape = run_of(stream, "depth=0 nodes=1 leaves=1")
    assert (shape["nodes"], shape["depth"], shape["features"]) == (1, 0, 0)


def test_shrubs_have_no_shape(stream: Stream) -> None:
    model = catalogue.start(our_learners.ours("shrub window=16 trees=2 depth=2"), stream, 256)
    assert model.shape() is None


@pytest.mark.parametrize(
    "class_name",
    ["HoeffdingTreeClassifier", "ExtremelyFastDecisionTreeClassifier",
     "HoeffdingAdaptiveTreeClassifier"],
)  # fmt: skip
def test_river_counts_the_same(stream: Stream, class_name: str) -> None:
    settings = {"grace_period": 100, "delta": 1e-3, "tau": 0.1}
    values = stream.values[:3000]
    model = river_peers.RiverLearner(f"tree.{class_name}", settings, values, stream.labels[:3000])
    assert model.shape()["nodes"] == 1
    model.run(model.prepare(slice(0, 3000)))
    shape = model.shape()
    theirs = model._model
    assert isinstance(theirs, getattr(tree, class_name))
    assert shape["nodes"] == theirs.n_nodes > 1
    text = theirs._root.iter_dfs()
    tested = {node.feature for node in text if hasattr(node, "feature")}
    assert shape["features"] == len(tested)
    assert shape["depth"] == deepest(theirs._root)


def deepest(node: Any) -> int:
    return 1 + max(map(deepest, node.children)) if hasattr(node, "children") else 0


def test_naive_bayes_of_river_has_no_shape(stream: Stream) -> None:
    model = river_peers.RiverLearner("naive_bayes.GaussianNB", {}, stream.values, stream.labels)
    assert model.shape() is None


def without_times(cell: Cell) -> dict[str, Any]:
    return {name: v for name, v in cell.record().items() if "second" not in name}


def test_runs_here_and_in_a_process_are_the_same(stream: Stream) -> None:
    contender = our_learners.ours(f"{TREE} policy=efdt")
    (apart,) = compare([contender], stream, sizes=4)
    here = compare_here(contender, stream, sizes=4)
    assert without_times(here) == without_times(apart)
    assert [samples for samples, _ in here.shapes] == [samples for samples, _ in here.sizes]
    assert here.shapes[0][1]["nodes"] == 1
    assert here.shapes[-1] == (6000, run_of(stream, "policy=efdt")[1])
    nodes = [shape["nodes"] for _, shape in here.shapes]
    assert nodes == sorted(nodes)


def test_a_run_here_has_a_time_limit_too(stream: Stream) -> None:
    cell = compare_here(our_learners.ours(TREE), stream, limit=0)
    assert "time limit of 0 s" in cell.failure
    assert cell.accuracy is None


def test_without_sizes_there_are_no_shapes(stream: Stream) -> None:
    assert compare_here(our_learners.ours(TREE), stream).shapes == ()
