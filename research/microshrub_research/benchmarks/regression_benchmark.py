"""Our regressors compared with River's, on its data sets and generators and on sensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from microshrub_host.evaluation.regression import errors_of, evaluate_numbers
from microshrub_host.library.learners import defaults, learner, number_parameters
from microshrub_host.reports.markdown import markdown_table
from microshrub_host.streams.open_regression_stream import open_numbers
from microshrub_host.streams.regression_streams import NumberStream

from ..compare import regression_peers

WARMUP = 32  # samples that set the ranges
LIMIT = 10_000
OURS = ("thicket-regressor", "shrub-regressor", "hoeffding-regressor", "linear-regressor")
BASELINES = ("NoChange", "mean so far")
PEERS = ("HTR", "scaled HTR", "scaled HATR", "scaled ARF", "scaled SGD")
TREES = PEERS[:3]
_TOO_LARGE = 1e6  # larger errors are shown by their order of magnitude only

TEXT = """\
# Regressors, beside River's

Made by `{command}`; do not edit it by hand. The mean absolute error, prequential, in the unit of
the target; the least of the learners is bold. Ours take at most 16 KB, and their ranges come from
the first {warmup} samples, as with `--warmup {warmup}`. River {version}, all with their
defaults: HTR is its Hoeffding tree regressor, HATR the adaptive one, ARF the adaptive random
forest of ten trees, SGD its linear regression; "scaled" ones stand behind a standard scaler.
Streams are cut after {limit:,} samples. NoChange predicts the last target that is known.

{table}

Thicket is ahead of all three of River's trees on {ahead} of {streams} streams, and of NoChange on
{useful}. A `-` stands for an error above a million: linear models in leaves, of features that are
not scaled, diverge there.

{sizes}
"""


@dataclass(frozen=True)
class NumberSource:
    """A stream of the table: its source, and the target of a file."""

    source: str
    target: str = "target"
    horizon: int = 0
    lags: int = 1

    @property
    def is_file(self) -> bool:
        """Whether the source is a file in the folder of the data."""
        return not self.source.startswith(("river:", "synth:"))

    def open(self, folder: Path | None, limit: int) -> NumberStream:
        """Open the stream; `folder` is the folder of the files."""
        path = str((folder or Path()) / self.source) if self.is_file else self.source
        return open_numbers(
            path,
            target=self.target,
            horizon=self.horizon,
            lags=self.lags,
            limit=limit,
            warmup=WARMUP,
        )


SOURCES: Mapping[str, NumberSource] = {
    "TrumpApproval": NumberSource("river:TrumpApproval"),
    "ChickWeights": NumberSource("river:ChickWeights"),
    "AirlinePassengers": NumberSource("river:AirlinePassengers"),
    "AirlinePassengers, a month ahead": NumberSource(
        "river:AirlinePassengers", horizon=1, lags=13
    ),
    "WaterFlow, an hour ahead": NumberSource("river:WaterFlow", horizon=1, lags=6),
    "friedman": NumberSource("synth:friedman"),
    "friedman_drift": NumberSource("synth:friedman_drift"),
    "mv": NumberSource("synth:mv"),
    "planes2d": NumberSource("synth:planes2d"),
    "occupancy, a minute ahead": NumberSource("occupancy.csv.gz", "Temperature", 1, 3),
    "occupancy, ten minutes ahead": NumberSource("occupancy.csv.gz", "Temperature", 10, 3),
    "elec, half an hour ahead": NumberSource("elec.csv.gz", "nswprice", 1, 3),
}


@dataclass(frozen=True)
class Row:
    """The mean absolute error of each learner and each baseline on one stream."""

    stream: str
    samples: int
    errors: Mapping[str, float]


def measure(name: str, stream: NumberStream) -> Iterator[tuple[str, float]]:
    """Yield each learner's name and mean absolute error on a stream."""
    scored = stream.scored
    baselines = {"NoChange": stream.known, "mean so far": stream.running_means}
    for baseline, predictions in baselines.items():
        yield baseline, errors_of(predictions[scored], stream.targets[scored]).mae
    for model in OURS:
        shape = number_parameters(model, stream.features, stream.late)
        result = evaluate_numbers(stream, model, shape | defaults(model), warmup=WARMUP)
        yield model, result.errors.mae
    for peer in PEERS:
        contender = regression_peers.PEERS[f"river:{peer.replace(' ', '-')}"]
        run = regression_peers.start(contender, stream, WARMUP)
        predicted = np.array(run.run(run.prepare(slice(0, stream.samples))))
        yield peer, errors_of(predicted[scored], stream.targets[scored]).mae


def page(rows: list[Row], limit: int, command: str) -> str:
    """Return the page of the results."""
    import river

    shown = [*BASELINES, *OURS, *PEERS]
    cells, best = [], []
    for r, row in enumerate(rows):
        cells.append(
            [row.stream, f"{row.samples:,}", *(_text(row.errors[name]) for name in shown)]
        )
        least = min((*OURS, *PEERS), key=lambda name: row.errors[name])
        best.append((r, 2 + shown.index(least)))
    ahead = sum(
        row.errors["thicket-regressor"] < min(row.errors[tree] for tree in TREES) for row in rows
    )
    useful = sum(row.errors["thicket-regressor"] < row.errors["NoChange"] for row in rows)
    head = ["stream", "samples", *(name.removesuffix("-regressor") for name in shown)]
    return TEXT.format(
        command=command,
        warmup=WARMUP,
        limit=limit,
        version=river.__version__,
        table=markdown_table(head, cells, best=best),
        ahead=ahead,
        useful=useful,
        streams=len(rows),
        sizes=_sizes(),
    )


def _text(error: float) -> str:
    return "-" if not error < _TOO_LARGE else f"{error:.4g}"


def _sizes() -> str:
    result = [
        f"{model.removesuffix('-regressor')} {size:,} bytes"
        for model in OURS
        for size in [learner(model).nbytes(features=10, **defaults(model))]
    ]
    return f"With ten features, the buffers take: {', '.join(result)}."
