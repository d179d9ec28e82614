"""Prequential evaluation: its figures compared with slow, obvious loops over the predictions."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from microshrub_host.evaluation import prequential
from microshrub_host.evaluation.classes import running_average
from microshrub_host.simulation import engines
from microshrub_host.streams import units
from microshrub_host.streams.stream import Stream

PARAMETERS = {"features": 3, "classes": 3, "window": 16, "trees": 4, "depth": 3, "step": 1.0}


def make_stream(samples: int = 400, seed: int = 0) -> Stream:
    """Return three features, one of them fractional and one often missing; three classes."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-50, 50, (samples, 3)).astype(float)
    values[:, 1] /= 8
    labels = (values[:, 0] > 10).astype(np.uint8) + (values[:, 1] > 0).astype(np.uint8)
    values[::7, 2] = np.nan
    return Stream("made", values, labels, ("a", "b", "c"), ("x", "y", "z"))


@pytest.mark.parametrize("engine", ["python", "llvm"])
def test_figures_follow_from_the_predictions(engine: str) -> None:
    stream = make_stream()
    result = prequential.evaluate(stream, "shrub", PARAMETERS, engine=engine, warmup=50)
    running, right, labels = [], 0, [int(y) for y in stream.labels]
    for seen, correct in enumerate(result.right, start=1):
        right += bool(correct)
        running.append(100 * right / seen)
    assert result.samples == 400
    assert result.accuracy == pytest.approx(running[-1], abs=1e-4)
    assert result.running_average_accuracy == pytest.approx(sum(running) / len(running))
    nochange = sum(a == b for a, b in itertools.pairwise(labels))
    assert result.accuracy_nochange == pytest.approx(nochange / 4, abs=1e-4)
    often, hits = Counter(labels[:1]), 0
    for y in labels[1:]:
        hits += y == max(range(3), key=lambda c: (often[c], -c))
        often[y] += 1
    assert result.accuracy_majority == pytest.approx(hits / 4, abs=1e-4)
    assert result.missing == len(range(0, 400, 7))
    assert [p.samples for p in result.history] == list(range(1, 401))


def test_no_sample_is_seen_before_it_is_predicted() -> None:
    stream = make_stream()
    changed = Stream(
        stream.name, stream.values, stream.labels.copy(), stream.feature_names, stream.class_names
    )
    changed.labels[300:] = 2 - changed.labels[300:]
    one = prequential.evaluate(stream, "shrub", PARAMETERS, engine="python")
    other = prequential.evaluate(changed, "shrub", PARAMETERS, engine="python")
    assert np.array_equal(one.right[:300], other.right[:300])
    predicted_same = one.right[300] != other.right[300] or stream.labels[300] == 1
    assert predicted_same, "the first changed label must not change its own prediction"


def test_the_quantizer_observes_only_the_warm_up() -> None:
    stream = make_stream()
    later = stream.values.copy()
    later[60:] = later[60:][::-1] * 2
    changed = Stream(stream.name, later, stream.labels, stream.feature_names, stream.class_names)
    first = [s.raw_rows()[:60] for s in (stream, changed)]
    assert np.array_equal(*first)
    runs = [prequential.evaluate(s, "shrub", PARAMETERS, engine="python", warmup=50) for s in
            (stream, changed)]  # fmt: skip
    assert np.array_equal(runs[0].right[:60], runs[1].right[:60])


def test_the_block_length_does_not_matter() -> None:
    stream = make_stream(1000)
    rows = stream.raw_rows()
    results = []
    for block in (1, 7, 1000):
        with engines.start("python", "ShrubEnsemble", PARAMETERS) as engine:
            prequential.fit(engine, rows, 256)
            for at in range(0, 1000, block):
                engine.run(rows[at : at + block], stream.labels[at : at + block])
            results.append(engine.buffers())
    assert results[0] == results[1] == results[2]


def test_the_record_is_flat_json() -> None:
    result = prequential.evaluate(make_stream(), "shrub", PARAMETERS, engine="python")
    record = json.loads(json.dumps(result.record()))
    assert record["trees_used"] == result.progress["trees_used"]
    assert "right" not in record
    assert "history" not in record


def test_running_average_is_not_the_accuracy() -> None:
    right = np.array([True, False, False, False])
    assert running_average(right) == pytest.approx(100 * (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)


class TestScale:
    def test_whole_numbers_stay_and_decimals_become_whole(self) -> None:
        values = np.array([[3.0, 0.25, 19.8], [-7.0, 1.5, 0.1]])
        assert units.Scale.fit(values).apply(values).tolist() == [[3, 25, 198], [-7, 150, 1]]

    def test_missing_and_extreme_values_have_codes(self) -> None:
        scale = units.Scale.fit(np.array([[1.0], [2.0]]))
        given = np.array([[np.nan], [1e12], [-1e12]])
        assert scale.apply(given).tolist() == [[units.MISSING], [units.RAW_MAX], [-units.RAW_MAX]]

    def test_a_column_that_is_quiet_at_first_keeps_its_decimals(self) -> None:
        for quiet in (0.0, 3.0, np.nan):
            values = np.array([[quiet]] * 300 + [[0.125], [0.25]])
            assert units.Scale.fit(values).apply(values)[-2:].tolist() == [[125], [250]]

    def test_large_numbers_close_together_get_an_offset(self) -> None:
        values = 1.7e12 + np.arange(1000.0)[:, None]
        scaled = units.Scale.fit(values).apply(values)[:, 0]
        assert np.array_equal(np.diff(scaled), np.ones(999))

    def test_one_number_far_out_does_not_spoil_the_unit(self) -> None:
        values = np.array([[0.5], [0.75]] * 2000 + [[1e308]])
        scaled = units.Scale.fit(values).apply(values)[:, 0]
        assert len(np.unique(scaled)) == 3
        assert scaled[-1] == units.RAW_MAX

    @pytest.mark.parametrize("count", [2, 10, 100, 999])
    def test_one_number_far_out_does_not_spoil_a_short_column(self, count: int) -> None:
        values = np.array([[0.5], [0.75]] * count + [[-1e308]])
        scaled = units.Scale.fit(values).apply(values)[:, 0]
        assert scaled[:3].tolist() == [50, 75, 50]
        assert scaled[-1] == -units.RAW_MAX

    @pytest.mark.parametrize("size", [1e-9, 1e-6, 1.0, 1e6, 1e15, 1e300])
    def test_any_magnitude_keeps_its_order(self, size: float) -> None:
        values = np.sort(np.random.default_rng(1).random((100, 1)) * size, axis=0)
        scaled = units.Scale.fit(values).apply(values)[:, 0]
        assert np.all(np.diff(scaled) >= 0)
        assert abs(int(scaled[-1])) <= units.RAW_MAX // 3
        assert len(np.unique(scaled)) == len(values)

    def test_a_column_without_values_is_missing(self) -> None:
        values = np.full((4, 1), np.nan)
        assert units.Scale.fit(values).apply(values).tolist() == [[units.MISSING]] * 4


def test_raw_constants_equal_the_device_librarys() -> None:
    from microshrub_host.library import loader

    library = loader.load("python")
    assert (units.MISSING, units.RAW_MAX) == (library.MISSING, library.RAW_MAX)


def test_the_plot_is_written(tmp_path: Path) -> None:
    from microshrub_host.reports import plots

    result = prequential.evaluate(make_stream(), "shrub", PARAMETERS, engine="python")
    plots.draw_run(result).savefig(tmp_path / "run.png")
    assert (tmp_path / "run.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
