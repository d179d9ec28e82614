"""Forecasts 1 to 120 samples ahead compared with River's, and the coverage of their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from microshrub_host.evaluation.regression import evaluate_numbers
from microshrub_host.library.learners import defaults, number_parameters
from microshrub_host.reports.markdown import markdown_table
from microshrub_host.streams.open_regression_stream import open_numbers

from .regression_benchmark import WARMUP
from .series import SERIES, Series, series

MODEL = "thicket-regressor"
HORIZONS = (1, 12, 24, 48, 120)
COUNT = 4000  # rows of a series
SEEDS = (11, 12, 13)  # no constant was chosen on these seeds
LAGS = 3
SHARE = 90
FILES = {
    "occupancy, Temperature": ("occupancy.csv.gz", "Temperature"),
    "occupancy, CO2": ("occupancy.csv.gz", "CO2"),
    "elec, nswprice": ("elec.csv.gz", "nswprice"),
    "elec, nswdemand": ("elec.csv.gz", "nswdemand"),
}
_SETTLED = 300  # coverage is counted after this many samples, which are also River's warm-up
_WINDOW = 500
_LEARNERS = {
    "thicket": "thicket",
    "SNARIMAX": "snarimax",
    "HoltWinters": "holt_winters",
    "HoltWinters, seasonal": "seasonal",
}

TEXT = """\
# Forecasts further ahead

Made by `{command}`; do not edit it by hand. Of {count:,} rows of each, the mean absolute error
divided by that of NoChange (the last value); below 1 is better than to say that nothing changes.
The thicket of 16 KB is that of `--target` with `--lags {lags} --warmup {warmup}`. River's SNARIMAX
has 24 lags, one difference and a scaled linear regression, HoltWinters a weight of 0.3 for the
newest value, and its seasonal form a season of 24 and weights of 0.1 and 0.3 for trend and season;
all are told the values alone, in order, and predict every tenth row, for their time. The series
are made by generators, with three seeds that chose nothing ({seeds}).

{table}

Over all rows of the table, thicket's error is {mean} of NoChange's in the geometric mean, and
{worst} where it is worst ({where}).

## What intervals of {share} % hold

The share of targets inside after the first {settled}, in percent, and in brackets the least and
the greatest share of any {window} successive samples. Far ahead, the errors of neighbouring
samples are nearly the same: in {window} samples 120 ahead there are hardly more than four that
differ, so no rule could hold {share} % of any {window}. Over a long time, the share holds.

{coverage}
"""


@dataclass(frozen=True)
class HorizonErrors:
    """Errors for a series and a horizon, as ratios to NoChange's,
    and the intervals' coverage in percent.
    """

    thicket: float
    snarimax: float
    holt_winters: float
    seasonal: float
    held: float
    least: float
    most: float


@dataclass(frozen=True)
class AheadRow:
    """A series and its cells, one for each horizon."""

    name: str
    cells: tuple[HorizonErrors, ...]


def names() -> tuple[str, ...]:
    """Return the names of all series of the table, generated ones first."""
    return (*SERIES, *FILES)


def columns_of(name: str, folder: Path | None, work: Path) -> Iterator[tuple[str, str]]:
    """Yield the files of a series, each with its target; generated files are written to `work`."""
    if name in FILES:
        file, target = FILES[name]
        yield str((folder or Path()) / file), target
        return
    for seed in SEEDS:
        path = work / f"{name}-{seed}.csv"
        if not path.exists():
            values = series(name, COUNT, seed)
            np.savetxt(path, values, fmt="%.3f", header="value", comments="")
        yield str(path), "value"


def measure(name: str, horizon: int, folder: Path | None, work: Path) -> HorizonErrors:
    """Return a cell of the table: the mean over the seeds of a generated series."""
    result = [_measure(path, target, horizon) for path, target in columns_of(name, folder, work)]
    return HorizonErrors(*(float(column) for column in np.mean(result, axis=0)))


def _measure(path: str, target: str, horizon: int) -> tuple[float, ...]:
    stream = open_numbers(
        path, target=target, horizon=horizon, lags=LAGS, limit=COUNT, warmup=WARMUP
    )
    parameters = number_parameters(MODEL, stream.features, stream.late) | defaults(MODEL)
    run = evaluate_numbers(stream, MODEL, parameters, warmup=WARMUP, interval=SHARE)
    nochange = run.nochange.mae
    values = stream.columns[:, stream.place]
    targets = values[horizon:]
    inside = np.abs(run.predictions - targets)[_SETTLED:] <= run.half_widths[_SETTLED:]
    shares = 100 * np.convolve(inside, np.ones(_WINDOW) / _WINDOW, "valid")
    peers = [ratio(model, values, horizon) for model in _peers()]
    return (
        run.errors.mae / nochange, *peers, 100 * float(inside.mean()),
        float(shares.min()), float(shares.max()),
    )  # fmt: skip


def _peers() -> tuple[Any, ...]:
    from river import linear_model, preprocessing, time_series

    scaled = preprocessing.StandardScaler() | linear_model.LinearRegression()
    return (
        time_series.SNARIMAX(p=24, d=1, q=0, regressor=scaled),
        time_series.HoltWinters(alpha=0.3),
        time_series.HoltWinters(alpha=0.3, beta=0.1, gamma=0.3, seasonality=24),
    )


def ratio(model: Any, values: Series, horizon: int) -> float:
    """Return the ratio of River's error to NoChange's, over every tenth row from the 300th on."""
    errors, unchanged = [], []
    for k, value in enumerate(values[:-horizon]):
        model.learn_one(float(value))
        if k >= _SETTLED and k % 10 == 0:
            target = values[k + horizon]
            errors.append(abs(model.forecast(horizon)[-1] - target))
            unchanged.append(abs(value - target))
    return float(np.mean(errors) / np.mean(unchanged))


def page(rows: Sequence[AheadRow], command: str) -> str:
    """Return the page of the results."""
    head = ["series", *(f"{horizon} ahead" for horizon in HORIZONS)]
    cells, coverage, ratios = [], [], []
    for row in rows:
        for learner, field in _LEARNERS.items():
            texts = [_text(getattr(cell, field)) for cell in row.cells]
            cells.append([f"{row.name}: {learner}", *texts])
        coverage.append([row.name, *map(_held, row.cells)])
        ratios += [
            (cell.thicket, row.name, h) for cell, h in zip(row.cells, HORIZONS, strict=True)
        ]
    worst = max(ratios)
    return TEXT.format(
        command=command,
        count=COUNT,
        lags=LAGS,
        warmup=WARMUP,
        settled=_SETTLED,
        seeds=", ".join(map(str, SEEDS)),
        table=markdown_table(head, cells),
        mean=f"{np.exp(np.mean(np.log([each[0] for each in ratios]))):.3f}",
        worst=f"{worst[0]:.3f}",
        where=f"{worst[1]}, {worst[2]} ahead",
        share=SHARE,
        window=_WINDOW,
        coverage=markdown_table(head, coverage),
    )


def _text(ratio: float) -> str:
    return f"{ratio:.3f}" if ratio < 10 else "above 10"


def _held(cell: HorizonErrors) -> str:
    return f"{cell.held:.1f} ({cell.least:.0f} to {cell.most:.0f})"
