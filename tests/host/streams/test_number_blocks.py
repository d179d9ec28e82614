"""Regression streams: files read by pyarrow, and long ones, with only a part in memory."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microshrub_host.base.errors import DataError
from microshrub_host.evaluation.regression import (
    ErrorSums,
    NumberResult,
    errors_of,
    evaluate_numbers,
)
from microshrub_host.streams import (
    csv_blocks,
    data_files,
    open_regression_stream,
    regression_streams,
    stored_values,
)
from microshrub_host.streams.csv_blocks import UnsureError
from microshrub_host.streams.regression_streams import NumberStream

CELLS = ("1e3", " 4 ", "1e400", "1_000", "inf", "NaN", "", "?", "text", "1,5", '"2"', "9e99")


def refuse(*_: object) -> None:
    raise UnsureError("not now")


def opened(source: str, **options: object) -> NumberStream | str:
    """Return the stream, or the error message for the file."""
    try:
        return open_regression_stream.open_numbers(source, warmup=8, **options)
    except DataError as error:
        return str(error)


def assert_same(one: NumberStream | str, other: NumberStream | str) -> None:
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    for name in ("columns", "targets", "known", "running_means"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
    for name in ("name", "column_names", "place", "horizon", "lags", "notes"):
        assert getattr(one, name) == getattr(other, name)
    assert one.scale.units() == other.scale.units()


@pytest.mark.parametrize("seed", range(40))
def test_any_file_is_read_as_by_the_row_by_row_reader(
    seed: int, put, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    odd = draw.choice((0, 0, 0.01, 0.1))

    def cell() -> str:
        return draw.choice(CELLS) if draw.random() < odd else f"{draw.gauss(5, 40):.3f}"

    rows = [",".join((cell(), cell(), cell())) for _ in range(40)]
    if draw.random() < odd:
        rows[draw.randrange(40)] += draw.choice((",", "\n", ",1"))
    source = put("x,y,z\n" + "\n".join(rows) + draw.choice(("", "\n")))
    options = draw.choice(({}, {"limit": 11}, {"target": "y"}, {"target": "x", "horizon": 2}))
    one = opened(source, **options)
    monkeypatch.setattr(csv_blocks, "read_numbers", refuse)
    assert_same(one, opened(source, **options))


def test_plain_files_are_read_by_pyarrow(put, monkeypatch: pytest.MonkeyPatch) -> None:
    source = put("x,y\n" + "".join(f"{i % 9}.25,{'' if i % 5 == 4 else i}\n" for i in range(50)))
    monkeypatch.setattr(data_files, "fill", refuse)
    stream = opened(source)
    assert isinstance(stream, NumberStream)
    assert stream.columns[:2].tolist() == [[0.25, 0], [1.25, 1]]
    (note,) = stream.notes
    assert note.startswith("10 rows have no y")


def test_a_target_without_any_number_is_refused(put) -> None:
    assert opened(put("x,y\n1,\n2,\n")).startswith("t.csv: column y ")


NUMBERS = st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), min_size=8, max_size=60)


@given(NUMBERS, st.integers(0, 4), st.integers(1, 20))
def test_parts_have_the_values_of_the_whole(targets: list[float], horizon: int, most: int) -> None:
    """Parts of any size agree with the whole stream,
    and the whole stream with a loop over the rows.
    """
    columns = np.column_stack([np.arange(float(len(targets))), targets])
    stream = NumberStream("t", columns, ("x", "y"), 1, horizon, 1 if horizon else 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regression_streams, "PART", 7)
        parts = list(stream.parts(most))
    assert [len(part.targets) for part in parts[:-1]] == [most] * (len(parts) - 1)
    for name, whole in (
        *(("targets", stream.targets), ("last", stream.known)),
        *(("means", stream.running_means), ("scored", stream.scored)),
    ):
        values = np.concatenate([getattr(part, name) for part in parts])
        assert np.array_equal(values, whole, equal_nan=True)
    last, total, count = math.nan, 0.0, 0
    for i in range(stream.samples):
        came = targets[i] if horizon else (targets[i - 1] if i else math.nan)
        if horizon or not math.isnan(came):
            last = came
        if not math.isnan(came):
            total, count = total + came, count + 1
        assert stream.known[i] == last or math.isnan(last)
        assert stream.running_means[i] == (
            total / count if count else pytest.approx(math.nan, nan_ok=True)
        )
        assert math.isnan(stream.known[i]) == math.isnan(last)


@given(st.lists(st.tuples(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4)), min_size=2, max_size=50),
       st.integers(1, 12))  # fmt: skip
def test_errors_of_parts_add_up_to_those_of_the_whole(
    pairs: list[tuple[float, float]], most: int
) -> None:
    predicted, targets = np.array(pairs).T
    sums = ErrorSums()
    for at in range(0, len(predicted), most):
        sums.add(predicted[at : at + most], targets[at : at + most])
    summed, whole = sums.errors(), errors_of(predicted, targets)
    assert summed.mae == pytest.approx(float(np.mean(np.abs(predicted - targets))))
    assert summed.rmse == pytest.approx(float(np.sqrt(np.mean((predicted - targets) ** 2))))
    spread = float(np.sum((targets - targets.mean()) ** 2))
    if spread > 1e-6:
        assert summed.r2 == pytest.approx(1 - float(np.sum((predicted - targets) ** 2)) / spread)
    assert (whole.mae, whole.rmse) == (pytest.approx(summed.mae), pytest.approx(summed.rmse))


def test_without_a_prediction_there_is_no_error() -> None:
    assert all(math.isnan(number) for number in (ErrorSums().mae, ErrorSums().errors().rmse))


def learned(stream: NumberStream) -> NumberResult:
    parameters = {"features": stream.features}
    return evaluate_numbers(stream, "linear-regressor", parameters, interval=90, engine="python")


@pytest.mark.parametrize("horizon", [0, 3])
def test_a_long_stream_is_stored_in_a_file(
    put, monkeypatch: pytest.MonkeyPatch, horizon: int
) -> None:
    rows = "".join(f"{i % 90}.5,{i % 7},{i % 90 * 2 - i % 7}\n" for i in range(3000))
    source = put("x,y,z\n" + rows)
    in_memory = open_regression_stream.open_numbers(source, horizon=horizon)
    before = learned(in_memory)
    monkeypatch.setattr(stored_values, "IN_MEMORY", 1000)
    monkeypatch.setattr(stored_values, "COLUMN_IN_MEMORY", 1000)
    in_file = open_regression_stream.open_numbers(source, horizon=horizon)
    assert isinstance(in_file.columns, np.memmap)
    assert_same(in_memory, in_file)
    after = learned(in_file)
    for one, other in (
        (before.predictions, after.predictions),
        (before.half_widths, after.half_widths),
    ):
        assert isinstance(other, np.memmap)
        assert one.tolist() == other.tolist()
    no_time = {"seconds": 0, "samples_per_second": 0}
    assert before.record() | no_time == after.record() | no_time
    assert before.interval is not None
    assert 80 < before.interval.inside <= 100
