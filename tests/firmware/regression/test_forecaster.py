"""Forecaster and RegressionMetrics compared with plain Python; wrong arguments; saved states."""

from __future__ import annotations

import random
from array import array
from io import BytesIO
from typing import Any

import pytest

from microshrub_host.library import loader

LIBRARY: Any = loader.load("python")
MISSING = LIBRARY.MISSING


class Echo:
    """A linear regressor, with a record of each learned sample and its target."""

    def __init__(self, features: int) -> None:
        self.pairs: list[tuple[list[int], int]] = []
        self.model = LIBRARY.LinearRegressor(features)
        learn = self.model._learn

        def noted(t: Any, rows: Any, at: int, target: int) -> int:
            self.pairs.append((list(rows[at : at + features]), target))
            code: int = learn(t, rows, at, target)
            return code

        self.model._learn = noted


def forecaster(**options: Any) -> tuple[Any, Echo]:
    features = options["columns"] - 1 + (options.get("lags", 1) if options.get("horizon") else 0)
    echo = Echo(features)
    made = LIBRARY.Forecaster(echo.model, ends=(0, 1000), **options)
    for value in (0, 1000) * 5:  # so that each lag has both values
        made.observe(array("i", [value] * options["columns"]))
    made.freeze()
    return made, echo


def samples(count: int, columns: int) -> list[list[int]]:
    chance = random.Random(columns)
    rows = [[chance.randrange(1000) for _ in range(columns)] for _ in range(count)]
    for k in (7, 8, 30):
        rows[k][1 % columns] = MISSING
    return rows


def codes(made: Any, values: list[int]) -> list[int]:
    values_as_codes = array("H", [0] * len(values))
    made.quantizer.encode(array("i", values), values_as_codes)
    return list(values_as_codes)


@pytest.mark.parametrize(("horizon", "lags"), [(1, 1), (1, 4), (5, 1), (3, 7)])
def test_a_sample_is_learned_when_its_target_arrives(horizon: int, lags: int) -> None:
    rows = samples(60, 3)
    made, echo = forecaster(columns=3, column=1, horizon=horizon, lags=lags)
    twin = LIBRARY.Quantizer(2 + lags, ranges=((-125, 1125),) * (2 + lags))
    y = [row[1] for row in rows]
    expected = []
    for k, row in enumerate(rows):
        before = [y[k - lag] if k >= lag else MISSING for lag in range(lags)]
        coded = array("H", [0] * (2 + lags))
        twin.encode(array("i", [row[0], row[2], *before]), coded)
        if k + horizon < len(rows) and y[k + horizon] != MISSING:
            expected.append((list(coded), made.target.code(y[k + horizon])))
        made.take(array("i", row))
    assert [target for _, target in echo.pairs] == [target for _, target in expected]
    for (learned, _), (wanted, _) in zip(echo.pairs, expected, strict=True):
        assert max(abs(a - b) for a, b in zip(learned, wanted, strict=True)) <= 1
    assert (made.samples, made.waiting) == (60, horizon)


def test_without_a_horizon_the_target_is_no_feature() -> None:
    made, echo = forecaster(columns=3, column=1)
    for row in samples(40, 3):
        wanted = (codes(made, [row[0], row[2]]), row[1])
        before = len(echo.pairs)
        predicted = made.take(array("i", row))
        assert made.prediction == predicted
        if row[1] == MISSING:
            assert len(echo.pairs) == before
        else:
            assert echo.pairs[-1] == (wanted[0], made.target.code(row[1]))


@pytest.mark.parametrize("horizon", [0, 1, 4])
def test_errors_and_intervals(horizon: int) -> None:
    made, _ = forecaster(columns=2, column=1, horizon=horizon, interval=80)
    interval = LIBRARY.Interval(0.8, max(horizon - 1, 0))
    predictions: list[int] = []
    halves: list[int] = []
    away, baselines, inside = [], [], 0
    rows = samples(200, 2)
    last = MISSING
    for k, row in enumerate(rows):
        y, due = row[1], k - horizon
        baseline = rows[due][1] if horizon and due >= 0 else last
        if horizon and due >= 0 and y != MISSING:
            outcome = 1 if abs(predictions[due] - y) <= halves[due] else 2
        prediction = made.take(array("i", row))
        predictions.append(prediction)
        if not horizon:
            halves.append(interval.half)
            outcome = 1 if abs(prediction - y) <= interval.half else 2
        if y == MISSING or due < 0:
            assert made.outcome == 0
        else:
            assert made.outcome == outcome
            interval.learn(predictions[due], y, halves[due])
            if baseline != MISSING:
                away.append(abs(predictions[due] - y))
                baselines.append(abs(baseline - y))
                inside += outcome == 1
            last = y
        if horizon:
            halves.append(interval.half)
        assert made.half == halves[-1]
    metrics = made.metrics
    assert (metrics.scored, metrics.inside) == (len(away), inside)
    assert metrics.mae == pytest.approx(sum(away) / len(away))
    assert metrics.mae_nochange == pytest.approx(sum(baselines) / len(baselines))


def test_saved_parts_continue() -> None:
    """The samples that wait for targets, the lags and the interval survive a power cut."""
    options = {"columns": 2, "column": 0, "horizon": 4, "lags": 3, "interval": 90}
    first, _ = forecaster(**options)
    second, _ = forecaster(**options)
    rows = [array("i", row) for row in samples(80, 2)]
    for row in rows[:43]:
        first.take(row)
    for mine, other in zip(first.parts, second.parts, strict=True):
        other.read(BytesIO(mine.save()))
    for row in rows[43:]:
        assert first.take(row) == second.take(row)
        assert first.half == second.half
    assert [p.state_crc32() for p in first.parts] == [p.state_crc32() for p in second.parts]


def test_sums_of_errors_do_not_overflow_and_are_halved() -> None:
    metrics = LIBRARY.RegressionMetrics()
    farthest = 2**29 - 1
    for _ in range(5):
        metrics.update(farthest, -farthest, 0, False)
    assert (metrics.mae, metrics.mae_nochange, metrics.inside) == (farthest, farthest, 0)
    words = metrics.buffers()[0][2]
    words[0] = 2**29  # samples scored, and their sums
    words[1], words[2], words[3], words[4], words[5] = 7, 5, 3, 1, 2**28
    mean = metrics.mae
    metrics.update(1, 1, 1, True)
    assert metrics.scored == 2**28 + 1
    assert metrics.inside == 2**27 + 1
    assert metrics.mae == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": 1, "column": 0}, "columns .* 2..257, not 1"),
        ({"columns": 3, "column": 3}, "column .* 0..2, not 3"),
        ({"columns": 3, "column": 0, "horizon": 1001}, "horizon .* 0"),
        ({"columns": 3, "column": 0, "horizon": 1, "lags": 0}, "lags has to be"),
        ({"columns": 3, "column": 0, "interval": 49}, "interval .* 50..99"),
        ({"columns": 3, "column": 0, "interval": True}, "interval .* 50..99"),
        ({"columns": 3, "column": 0, "ends": (5, 4)}, "the high end of the targets"),
        ({"columns": 9, "column": 0}, "the learner's features has to be 8, not 2"),
    ],
)
def test_invalid_options_are_reported(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        LIBRARY.Forecaster(LIBRARY.LinearRegressor(2), **options)


def test_a_thicket_needs_the_delay_of_its_targets() -> None:
    with pytest.raises(ValueError, match=r"late .* 4, not 0"):
        LIBRARY.Forecaster(LIBRARY.ThicketRegressor(2, bytes=3000), 2, 0, horizon=5)


def test_a_wrong_sample_changes_nothing() -> None:
    made, _ = forecaster(columns=2, column=0)
    before = made.state_crc32()
    for values in (array("i", [1]), array("H", [1, 2]), [1, 2]):
        with pytest.raises(ValueError, match=r"^values .* array\('i'\) of 2"):
            made.take(values)
    assert made.state_crc32() == before
