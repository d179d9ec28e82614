"""A thicket's rehearsal between labels: growth of trees, pseudo-labels, no allocation."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from pool_support import buffer_of

from microshrub_host.evaluation import prequential
from microshrub_host.library import loader
from microshrub_host.simulation import engines
from microshrub_host.simulation.label_budget import LabelBudget

library = loader.load(loader.fastest())


def blobs(samples: int, seed: int = 1) -> tuple[list[array[int]], list[int]]:
    """Return rows of two features and their classes, which are two, far apart."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, samples)
    codes = rng.integers(0, 9000, (samples, 2)) + 40000 * labels[:, None]
    return [array("H", row) for row in codes.tolist()], labels.tolist()


def taught(**options: Any) -> Any:
    model = library.Thicket(features=2, classes=2, bytes=16384, **options)
    for x, label in zip(*blobs(120), strict=True):
        model.learn(x, label)
    return model


def between(samples: int) -> list[array[int]]:
    """Return rows between the two classes."""
    rng = np.random.default_rng(4)
    return [array("H", row) for row in rng.integers(23500, 25500, (samples, 2)).tolist()]


def held(model: Any) -> int:
    """Return the number of samples in the ring."""
    return int(buffer_of(model, "ring.shape")[3])


def rehearsed(model: Any, strategy: Any, rows: list[array[int]]) -> Any:
    rehearsal = library.Rehearsal(model, strategy)
    for x in rows:
        rehearsal.rehearse(x, model.predict(x))
    return model


def test_trees_grow_and_the_softmax_regression_learns_without_a_label() -> None:
    model = taught()
    before = {name: bytes(memoryview(b)) for name, _, b in model.buffers()}
    rehearsed(model, library.QueryStrategy(2, 1, 10), between(200))  # uncertain ones
    after = {name: bytes(memoryview(b)) for name, _, b in model.buffers()}
    changed = {name for name in after if after[name] != before[name]}
    assert {"grove.accuracy", "softmax.weight"} <= changed
    assert not {"ring.codes", "ring.labels", "thicket.accuracy", "softmax.mean"} & changed


def test_certain_samples_are_stored_with_their_predicted_class() -> None:
    """At most three are stored for each label, and no uncertain one."""
    rows = blobs(300, seed=3)[0]
    some = held(rehearsed(taught(), library.QueryStrategy(2, 1, 10), rows)) - 120
    assert 0.2 * 300 < some < 0.4 * 300
    model = rehearsed(taught(), library.QueryStrategy(2, 1, 3), rows)
    assert held(model) > 120 + 0.7 * 300
    assumed = np.array(buffer_of(model, "ring.labels"))[120 : held(model)]
    codes = np.array(buffer_of(model, "ring.codes")).reshape(-1, 2)[120 : held(model)]
    assert (assumed == (codes[:, 0] > 128)).all()
    assert held(rehearsed(taught(), library.QueryStrategy(2, 1, 3), between(100))) == 120


def test_a_misled_model_stores_no_predictions_of_its_own() -> None:
    model, strategy = taught(), library.QueryStrategy(2, 1, 3)
    rows = blobs(40, seed=3)[0]
    for wrong, taken in ((True, False), (False, True)):
        for x in rows:
            model.predict_next(x)
            strategy.note(model.votes, wrong)
        before = held(model)
        assert (held(rehearsed(model, strategy, rows)) > before) == taken


def test_with_very_few_labels_nothing_is_rehearsed() -> None:
    model = rehearsed(taught(), library.QueryStrategy(2, 1, 20), between(5))
    assert buffer_of(model, "softmax.weight") != buffer_of(taught(), "softmax.weight")
    model = rehearsed(taught(), library.QueryStrategy(2, 1, 21), between(50))
    assert buffer_of(model, "softmax.weight") == buffer_of(taught(), "softmax.weight")
    assert held(model) == 120


def test_after_a_drift_only_the_newest_samples_are_held() -> None:
    """The existing trees count little; with one label in 21, all stays as it is."""
    for samples, left in ((20, 32), (21, 120)):
        model = taught()
        grown = list(buffer_of(model, "grove.grown"))
        newest = list(buffer_of(model, "ring.labels"))[120 - left : 120]
        library.Rehearsal(model, library.QueryStrategy(2, 1, samples)).let_go()
        assert held(model) == left
        assert list(buffer_of(model, "ring.labels"))[:left] == newest
        assert max(grown) > 1
        assert (max(buffer_of(model, "grove.grown")) > 1) == (left == 120)


def test_while_labels_come_in_runs_nothing_is_dropped() -> None:
    model = library.Thicket(features=2, classes=2, bytes=16384)
    rows, labels = blobs(200)
    for x, label in sorted(zip(rows, labels, strict=True), key=lambda pair: pair[1]):
        model.learn(x, label)
    before = held(model)
    library.Rehearsal(model, library.QueryStrategy(2, 1, 10)).let_go()
    assert held(model) == before > 100


def test_a_sample_that_is_learned_after_a_drop_has_other_neighbours() -> None:
    """The neighbours that were stored before are no longer in their places."""
    results = []
    for asked_before in (True, False):
        model = taught()
        x = blobs(1, seed=6)[0][0]
        model.predict_next(x)
        library.Rehearsal(model, library.QueryStrategy(2, 1, 10)).let_go()
        if not asked_before:
            model.predict_next(x)
        model.learn(x, 0)
        results.append({name: bytes(memoryview(b)) for name, _, b in model.buffers()})
    assert results[0] == results[1]


def test_it_can_start_before_anything_was_learned() -> None:
    model = library.Thicket(features=2, classes=2, bytes=16384)
    rehearsed(model, library.QueryStrategy(2), blobs(20)[0])
    assert held(model) == 0


def test_all_engines_agree_and_nothing_is_allocated() -> None:
    """A session locks the heap of the real MicroPython while it learns."""
    shape = {"features": 2, "classes": 2, "bytes": 4096}
    results, codes = [], [list(x) for x in blobs(900)[0]]
    rows, labels = np.array(codes, dtype=np.int32), np.array(blobs(900)[1], dtype=np.uint8)
    labels[600:] = 1 - labels[600:]  # a drift, after which it forgets
    for name in ("checked", "c", "micropython"):
        budget = LabelBudget(0.2, delay=3, unanswered=6000 / 32768)
        with engines.start(name, "Thicket", shape, [budget]) as engine:
            prequential.fit(engine, rows, 20)
            values = engine.run(rows, labels).tolist()
            results.append((values, engine.outputs(), engine.buffers()))
    assert results[0] == results[1] == results[2]
    assert 1 in results[0][1]
