"""Automatic features of sensors, compared with a random forest on features made by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microshrub_host.boards import board_files
from microshrub_host.boards.counted_times import time_on
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.usual_budget import usual_budget
from microshrub_host.evaluation import holdout
from microshrub_host.library.learners import DEFAULT, MODELS, defaults
from microshrub_host.reports.markdown import markdown_table
from microshrub_host.simulation.feature_choice import Place
from microshrub_host.simulation.feature_extraction import extracted
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.simulation.pipeline import pipeline
from microshrub_host.streams.stream import Stream

from .hand_made import hand_made
from .sensed import SENSED, sensed

BOARD = "rpi_pico"
SIZE = 16_384  # bytes of the thicket
TREES = 100
SEEDS = 20
DIRECTIONS = "directions"
RATES = (50, 100, 200)  # readings per second of the gestures by direction
SIZES = (SIZE, 4 * SIZE)
Marks = NDArray[np.bool_]

TEXT = """\
# Features without a choice

Made by `{command}`; do not edit it by hand. Sensors whose readings say little one by one,
made by models of a few lines of physics: {about}. A recording has several sessions, in each of
which every class is taken once, at speeds, sizes and places of its own. The first of them are
learned in their order ({sessions}); then the windows of the others are asked, as unseen data, and
no window is of both. Percent, the mean of {seeds} recordings.

Ours is a thicket of 16 KB with `--features rate=R --board {board}`, which chooses the rest. The
forest is scikit-learn's {version}, of {trees} trees, in floating point, which has all windows at
once: on features made by hand of the same windows (moments, quantiles, autocorrelation, the
frequency that is loudest and its multiples, centroid and entropy of the spectrum, sixteen equal
bands, correlations of the channels), and on ours.

{first}

At most {behind:.1f} points behind the forest on features made by hand.

## What they cost on a {name}

RAM is that of the program with learner, window and features; the time of a sample is that of its
features, of a predict and of a learn (99th percentile), estimated from counted instructions.

{second}
"""

DIRECTIONS_TEXT = """
## Gestures by direction

The gestures of `{name}`, learned from {taught} tries of each, by thickets of {sizes}. Circles
to the right and to the left are alike in each single axis, and the turns of two axes tell them
apart. `within` are the windows that hold one gesture alone, `all` those too that hold the end of
one and the beginning of the next, whose label is that of the last reading. A longer window shows
more of a slow gesture, but fewer windows hold one alone. Percent, the mean of {seeds} recordings.

{table}
"""


@dataclass(frozen=True)
class FeatureRow:
    """The results of one sensor: the chosen features, accuracies in percent, and costs."""

    name: str
    classes: int
    words: str
    features: int
    ours: float
    statistics: float  # with the statistics alone
    same: float  # the forest on our features
    by_hand: float
    made: int  # number of features made by hand
    ram: int
    window: int  # bytes of the window within `ram`
    sample: float  # time for a sample, in milliseconds
    every: float  # milliseconds between two samples
    busy: float  # share of the time that the board computes, in percent

    @property
    def behind(self) -> float:
        """The accuracy of the forest on features made by hand minus ours, in points."""
        return self.by_hand - self.ours


def options_for(name: str, words: str = "", rate: int | None = None) -> FeatureOptions:
    """Return the options of --features for this sensor on the board;
    `rate` replaces the sensor's own.
    """
    world = SENSED[name]
    time = time_on(board_files.load(BOARD), len(world.classes), SIZE)
    return FeatureOptions.of(words.split(), Place(rate or world.rate, world.channels, time))


def measure(name: str, seeds: int, update: Callable[[int, int], None]) -> FeatureRow:
    """Run all learners on `seeds` recordings of a sensor.
    Raises ImportError without scikit-learn.
    """
    options = options_for(name)
    fewer = options_for(name, f"window={options.window} hop={options.hop} bands=none")
    result = []
    made, hand = None, np.zeros((0, 0))
    for seed in range(1, seeds + 1):
        recording = sensed(name, seed)
        made = extracted(recording, options)
        taught, asked = _parts(recording, made, options.window)
        hand = hand_made(recording.values, made.times, options.window, SENSED[name].rate)
        plain = extracted(recording, fewer)
        result.append(
            (
                _thicket(made, taught, asked),
                _thicket(plain, taught, asked),
                _forest(made.values, made.labels, taught, asked),
                _forest(hand, made.labels, taught, asked),
            )
        )
        update(seed, seeds)
    assert made is not None
    ours, statistics, same, by_hand = np.mean(result, axis=0).tolist()
    return FeatureRow(
        name=name,
        classes=len(made.class_names),
        words=" ".join(options.chosen_words),
        features=made.values.shape[1],
        ours=ours,
        statistics=statistics,
        same=same,
        by_hand=by_hand,
        made=hand.shape[1],
        **_cost(made, options),
    )


def _parts(recording: Stream, made: Stream, window: int) -> tuple[Marks, Marks]:
    """Return the samples for training and for the test;
    a window that reaches into both is in neither.
    """
    assert made.times is not None
    begins = np.flatnonzero(np.diff(recording.labels)) + 1  # a session ends with another class
    cut = begins[SENSED[recording.name].taught * len(recording.class_names) - 1]
    return made.times < cut, made.times - window >= cut


def _thicket(stream: Stream, taught: Marks, asked: Marks) -> float:
    return 100 * float(np.mean(_right(stream, taught, asked, SIZE)))


def _right(stream: Stream, taught: Marks, asked: Marks, size: int) -> Marks:
    """Return for each window of the test whether a thicket of `size` bytes predicts its class."""
    rows, labels = stream.scale.apply(stream.values), stream.labels
    shape = {"features": rows.shape[1], "classes": len(stream.class_names)}
    parameters = {**shape, **defaults(DEFAULT), "bytes": size}
    predicted = holdout.answers(DEFAULT, parameters, rows[taught], labels[taught], rows[asked])
    result: Marks = predicted == labels[asked]
    return result


@dataclass(frozen=True)
class DirectionRow:
    """Gestures by direction at one rate with one set of features: the chosen features,
    and for each of SIZES the accuracy in percent, on windows within a gesture and on all windows.
    """

    rate: int
    words: str
    within: tuple[float, ...]
    all: tuple[float, ...]


def direction_words(rate: int) -> list[str]:
    """Return the sets of features: the chosen one, the same without turns,
    and twice the window.
    """
    window = options_for(DIRECTIONS, rate=rate).window
    return ["", "turns=none", f"window={2 * window} hop=auto bands=auto"]


def measure_direction(
    rate: int, words: str, seeds: int, update: Callable[[int, int], None]
) -> DirectionRow:
    """Run thickets of all SIZES on `seeds` recordings at this rate."""
    options = options_for(DIRECTIONS, words, rate)
    result = []
    for seed in range(1, seeds + 1):
        result.append(direction(seed, options, SIZES))
        update(seed, seeds)
    within, every = np.mean(result, axis=0).T.tolist()
    chosen = " ".join(options.chosen_words) + " turns=none" * ("turns=none" in words)
    return DirectionRow(rate, chosen, tuple(within), tuple(every))


def direction(
    seed: int, options: FeatureOptions, sizes: Sequence[int]
) -> list[tuple[float, float]]:
    """Return a thicket's accuracy in percent for each size,
    on gestures by direction at options.rate: on the test's windows within a gesture,
    and on all windows of the test.
    """
    assert options.rate
    recording = sensed(DIRECTIONS, seed, rate=round(options.rate))
    made = extracted(recording, options)
    taught, asked = _parts(recording, made, options.window)
    assert made.times is not None
    gestures = np.cumsum(np.diff(recording.labels, prepend=recording.labels[0]) != 0)
    within = gestures[made.times] == gestures[np.maximum(made.times - options.window + 1, 0)]
    correct = [_right(made, taught, asked, size) for size in sizes]
    return [
        (100 * float(each[within[asked]].mean()), 100 * float(each.mean())) for each in correct
    ]


def _forest(
    rows: NDArray[np.float64], labels: NDArray[np.uint8], taught: Marks, asked: Marks
) -> float:
    from sklearn.ensemble import RandomForestClassifier

    model: Any = RandomForestClassifier(TREES, random_state=0)
    model.fit(rows[taught], labels[taught])
    return 100 * float(model.score(rows[asked], labels[asked]))


def _cost(made: Stream, options: FeatureOptions) -> dict[str, Any]:
    """Return the RAM of the program and of its window, milliseconds, and percent of the time."""
    assert made.extraction
    board, features, classes = board_files.load(BOARD), made.values.shape[1], len(made.class_names)
    parameters = {"features": features, "classes": classes, **defaults(DEFAULT), "bytes": SIZE}
    companions = pipeline(made.extraction)
    bare, needed = (
        usual_budget(Deployment(parameters, board, MODELS[DEFAULT], companions))
        for companions in ((), companions)
    )
    time = time_on(board, classes, SIZE)
    assert time
    assert options.rate
    reading, sample = time(options.work(made.extraction.channels))
    every = options.hop * 1000 / options.rate
    busy = 100 * (options.hop * reading + sample) / 1000 / every
    return {
        "ram": needed.ram_bytes,
        "window": needed.ram_bytes - bare.ram_bytes,
        "sample": sample / 1000,
        "every": every,
        "busy": busy,
    }


def page(
    rows: Sequence[FeatureRow], directions: Sequence[DirectionRow], seeds: int, command: str
) -> str:
    """Return the page."""
    import sklearn

    worlds = [SENSED[row.name] for row in rows]
    shares = {row.name: _share(row.name) for row in rows}
    usual = Counter(shares.values()).most_common(1)[0][0]
    others = [f"of {name} {share}" for name, share in shares.items() if share != usual]
    result = TEXT.format(
        command=command,
        about="; ".join(world.about for world in worlds),
        sessions=", ".join([usual, *others]),
        seeds=seeds,
        board=BOARD,
        version=sklearn.__version__,
        trees=TREES,
        first=_accuracies(rows),
        behind=max(row.behind for row in rows),
        name=board_files.load(BOARD).name,
        second=_costs(rows),
    )
    return result + _directions(directions, seeds) if directions else result


def _share(name: str) -> str:
    """Return how many of a sensor's sessions are for training, as a text."""
    return f"{SENSED[name].taught} of {SENSED[name].sessions}"


def _directions(rows: Sequence[DirectionRow], seeds: int) -> str:
    """Return the section of gestures by direction."""
    sizes = [f"{size >> 10} KB" for size in SIZES]
    head = ["rate", "features", *(f"{size}, {of}" for size in sizes for of in ("within", "all"))]
    table = [
        [
            f"{row.rate} Hz",
            f"`{row.words}`",
            *(f"{each:.1f}" for pair in zip(row.within, row.all, strict=True) for each in pair),
        ]
        for row in rows
    ]
    return DIRECTIONS_TEXT.format(
        name=DIRECTIONS,
        taught=SENSED[DIRECTIONS].taught,
        sizes=" and ".join(sizes),
        seeds=seeds,
        table=markdown_table(head, table),
    )


def _accuracies(rows: Sequence[FeatureRow]) -> str:
    head = ["sensor", "rate", "classes", "chosen", "ours", "statistics alone",
            "forest, by hand", "forest, ours", "behind"]  # fmt: skip
    table = [
        [
            row.name,
            f"{SENSED[row.name].rate} Hz",
            str(row.classes),
            f"`{row.words}`",
            f"{row.ours:.1f} ({row.features})",
            f"{row.statistics:.1f}",
            f"{row.by_hand:.1f} ({row.made})",
            f"{row.same:.1f}",
            f"{row.behind:.1f}",
        ]
        for row in rows
    ]
    return f"{markdown_table(head, table)}\n\nIn brackets: how many features."


def _costs(rows: Sequence[FeatureRow]) -> str:
    head = ["sensor", "RAM", "of it for features", "a sample takes", "comes every", "busy"]
    table = [
        [
            row.name,
            f"{row.ram:,}",
            f"{row.window:,}",
            f"{row.sample:.0f} ms",
            f"{row.every:.0f} ms",
            f"{row.busy:.0f} %",
        ]
        for row in rows
    ]
    return markdown_table(head, table)
