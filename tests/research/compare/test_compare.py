"""Learners side by side: the same figures as in separate runs, and failures do no harm."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from compare_support import make_stream, start_odd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from patience import PATIENCE
from river import ensemble, tree
from sklearn.neighbors import KNeighborsClassifier

from microshrub_host.base import worker_process
from microshrub_host.base.errors import UserError
from microshrub_host.evaluation import prequential
from microshrub_host.streams.stream import Stream
from microshrub_research.compare import catalogue, our_learners, tree_set
from microshrub_research.compare.catalogue import PEERS
from microshrub_research.compare.comparison_runner import Cell, compare
from microshrub_research.compare.contender import NO_ANSWER, SEED, Contender
from microshrub_research.compare.label_budgets import UNKNOWN
from microshrub_research.compare.window_neighbours import NEIGHBOURS, WINDOW


def cells_of(contenders: list[Contender], stream: Stream, **options: Any) -> dict[str, Cell]:
    """Return the cells by the contenders' names."""
    return {cell.name: cell for cell in compare(contenders, stream, **options)}


@pytest.fixture(scope="module")
def stream() -> Stream:
    return make_stream(2000, missing=True)


def test_ours_and_the_baselines_equal_those_of_simulate(stream: Stream) -> None:
    names = ["shrub window=16 trees=4", "hoeffding policy=efdt leaf=mc"]
    contenders = [*map(our_learners.ours, names), PEERS["nochange"], PEERS["majority"]]
    cells = cells_of(contenders, stream, warmup=100)
    for contender in contenders[:2]:
        parameters = our_learners.all_parameters(contender, stream, 100)
        result = prequential.evaluate(stream, contender.learner, parameters, warmup=100)
        cell = cells[contender.name]
        assert (cell.accuracy, cell.kappa, cell.kappa_temporal) == pytest.approx(
            (result.accuracy, result.kappa, result.kappa_temporal)
        )
        assert cell.model_bytes == our_learners.model_bytes(contender, stream, 100)
        assert cell.model_bytes_by == "nbytes"
        assert (cell.samples, cell.failure) == (2000, "")
    assert cells["nochange"].accuracy == pytest.approx(result.accuracy_nochange)
    assert cells["majority"].accuracy == pytest.approx(result.accuracy_majority)
    assert cells["nochange"].kappa_temporal == 0


@pytest.mark.long
def test_rivers_learners_equal_a_run_by_hand(stream: Stream) -> None:
    names = ["river:HoeffdingTree", "river:Bagging"]
    cells = cells_of([PEERS[name] for name in names], stream, jobs=2)
    models = [
        tree.HoeffdingTreeClassifier(),
        ensemble.BaggingClassifier(tree.HoeffdingTreeClassifier(), n_models=10, seed=SEED),
    ]
    values = catalogue.filled(stream.values, 256)
    for name, model in zip(names, models, strict=True):
        right = 0
        for row, label in zip(values.tolist(), stream.labels.tolist(), strict=True):
            x = dict(enumerate(row))
            right += model.predict_one(x) == label
            model.learn_one(x, label)
        assert cells[name].accuracy == pytest.approx(100 * right / 2000, abs=1e-4)
        assert cells[name].model_bytes == pytest.approx(model._raw_memory_usage, rel=0.05)
        assert cells[name].model_bytes_by == "_raw_memory_usage"
        assert cells[name].samples_per_second > 0


@pytest.mark.parametrize("name", [name for name in PEERS if name.startswith("river:")])
def test_every_peer_of_river_learns(name: str) -> None:
    stream = make_stream(300)
    learner = catalogue.start(PEERS[name], stream, 256)
    result = learner.run(learner.prepare(slice(0, 150)))
    result = [*result, *learner.run(learner.prepare(slice(150, 300)))]
    assert set(result) <= {NO_ANSWER, 0, 1, 2}
    assert len(set(result[150:])) > 1
    size = learner.nbytes()
    assert size is not None
    assert size > 1000


def test_failures_cost_only_their_own_cell(capfd: pytest.CaptureFixture[str]) -> None:
    odd = ["raises", "is killed", "leaves"]
    contenders = [PEERS["nochange"], *(Contender(name, "odd", name) for name in odd)]
    cells = cells_of([*contenders, PEERS["majority"]], make_stream(400), jobs=3, start=start_odd)
    assert cells["nochange"].accuracy is not None
    assert cells["majority"].accuracy is not None
    assert cells["raises"].failure.startswith("crashed: ZeroDivisionError: ")
    assert cells["is killed"].failure == "crashed: ended by SIGKILL"
    assert cells["leaves"].failure == "ended too early"
    assert cells["raises"].samples_per_second is None
    for name in odd:
        assert cells[name].accuracy is None
        assert cells[name].samples == 6, "three blocks of two"
    captured = capfd.readouterr()
    assert "a word" not in captured.out + captured.err
    assert "Traceback" not in captured.err


def test_a_time_limit_costs_only_its_own_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock jumps beyond the limit when the learner sleeps."""
    passed = 0.0
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + passed)
    monkeypatch.setattr(worker_process, "time", clock)

    def jump(done: int, total: int, name: str) -> None:
        nonlocal passed
        if name == "sleeps" and done == 400 + 6:
            passed = PATIENCE

    contenders = [PEERS["nochange"], Contender("sleeps", "odd", "sleeps"), PEERS["majority"]]
    cells = cells_of(contenders, make_stream(400), limit=PATIENCE, progress=jump, start=start_odd)
    assert cells["nochange"].accuracy is not None
    assert cells["majority"].accuracy is not None
    sleeps = cells["sleeps"]
    assert sleeps.failure == f"time limit of {PATIENCE:g} s"
    assert (sleeps.samples, sleeps.accuracy) == (6, None)
    assert sleeps.samples_per_second is not None


def test_stopping_early_leaves_no_process() -> None:
    import multiprocessing

    sleeper = Contender("sleeps", "odd", "sleeps")
    comparison = compare([PEERS["nochange"], sleeper], make_stream(400), jobs=2, start=start_odd)
    assert next(comparison).name == "nochange"
    assert multiprocessing.active_children()
    comparison.close()
    assert not multiprocessing.active_children()


def test_a_sample_without_a_prediction_counts_as_wrong() -> None:
    """A baseline's first sample counts as wrong, even with the greatest number of classes."""
    labels = np.zeros(300, np.uint8)
    for classes in (2, 256):
        names = tuple(str(c) for c in range(classes))
        stream = Stream("same", np.zeros((300, 1)), labels, ("x",), names)
        cell = cells_of([PEERS["nochange"]], stream)["nochange"]
        assert cell.accuracy == pytest.approx(100 * 299 / 300, abs=1e-4)


@given(
    values=arrays(float, (12, 2), elements=st.sampled_from([np.nan, 0.0, 1.0, 5.0])),
    warmup=st.integers(1, 12),
)
def test_a_missing_value_is_replaced_by_the_previous_one(values: np.ndarray, warmup: int) -> None:
    filled = catalogue.filled(values, warmup)
    for column, result in zip(values.T, filled.T, strict=True):
        early = [v for v in column[:warmup] if v == v]
        last = (min(early) + max(early)) / 2 if early else 0.0
        for value, got in zip(column, result, strict=True):
            last = value if value == value else last
            assert got == last


class TestSelect:
    def test_names_and_groups_are_selected_once(self) -> None:
        names = [c.name for c in catalogue.select("river:HAT, nochange,river")]
        assert names[:2] == ["river:HAT", "nochange"]
        assert sorted(names[2:]) == sorted(
            name for name in PEERS if name.startswith("river:") and name != "river:HAT"
        )

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("river:hat", "Did you mean river:HAT"),
            ("weka", "weka is unknown"),
            (",", "names no learner"),
        ],
    )
    def test_unknown_names_are_refused(self, text: str, message: str) -> None:
        with pytest.raises(UserError, match=message):
            catalogue.select(text)


class TestTreeSet:
    def test_there_is_a_tree_for_every_system(self) -> None:
        rows = tree_set.tree_rows()
        assert list(rows)[:2] == ["VFDT", "EFDT"]
        for row in rows.values():
            assert list(row) == list(tree_set.SYSTEMS)
            assert [c.system for c in row.values()] == list(tree_set.SYSTEMS)

    def test_our_policies_differ_and_all_else_is_the_same(self) -> None:
        rows = tree_set.tree_rows()
        settings = [dict(rows[name]["ours"].settings) for name in ("VFDT", "EFDT")]
        assert [s.pop("policy") for s in settings] == ["vfdt", "efdt"]
        assert settings[0] == settings[1]
        river, moa = rows["VFDT"]["river"].settings, rows["VFDT"]["moa"].settings
        assert settings[0]["split_confidence"] == river["delta"] == float(moa["-c"])
        assert settings[0]["tie_threshold"] == river["tau"] == moa["-t"]
        assert settings[0]["grace_period"] == river["grace_period"] == moa["-g"]


def test_measurements_before_ctrl_c_are_kept() -> None:
    """Finished cells come first, then running ones, with the time of their samples so far."""
    stream = make_stream(400)

    def interrupt(done: int, total: int, name: str) -> None:
        if name == "sleeps" and done == 400 + 6:
            raise KeyboardInterrupt

    contenders = [
        PEERS["nochange"],
        *(Contender(name, "odd", name) for name in ("sleeps", "leaves")),
    ]
    results: dict[str, Cell] = {}

    def take() -> None:
        for cell in compare(contenders, stream, progress=interrupt, start=start_odd):
            results[cell.name] = cell

    with pytest.raises(KeyboardInterrupt):
        take()
    assert list(results) == ["nochange", "sleeps"]
    assert results["nochange"].accuracy is not None
    sleeps = results["sleeps"]
    assert (sleeps.failure, sleeps.samples, sleeps.accuracy) == ("stopped", 6, None)
    assert sleeps.samples_per_second is not None


def test_the_window_of_neighbours_predicts_like_scikit_learn() -> None:
    """The reference has the newest samples, with each feature scaled by its range in them."""
    stream = make_stream(1400)
    learner = catalogue.start(PEERS["neighbours"], stream, 256)
    result = learner.run(learner.prepare(slice(0, 1400)))
    assert result[0] == NO_ANSWER
    values = catalogue.filled(stream.values, 256)
    for at in (3, 12, 700, 1001, 1399):
        start = max(0, at - WINDOW)
        rows, labels = values[start:at], stream.labels[start:at]
        wide = np.ptp(rows, axis=0)
        near = KNeighborsClassifier(min(NEIGHBOURS, at)).fit(rows / wide, labels)
        assert result[at] == near.predict(values[at : at + 1] / wide)[0], at


def test_the_last_label_is_a_previous_samples_label() -> None:
    labels = np.array([2, 0, UNKNOWN, 1, 1], np.int16)
    columns = catalogue.last_labels(labels, 3)
    assert columns.tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0], [0, 1, 0]]
    stream = make_stream(300)
    named = PEERS["river:HoeffdingTree+last-label"]
    samples = catalogue.start(named, stream, 256).prepare(slice(0, 300))
    features, classes = stream.values.shape[1], len(stream.class_names)
    for (x, _), label in zip(samples[1:], stream.labels, strict=False):
        assert [x[features + c] for c in range(classes)] == [
            float(c == label) for c in range(classes)
        ]
