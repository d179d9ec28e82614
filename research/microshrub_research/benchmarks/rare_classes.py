"""Rare classes: a balanced thicket compared with River's wrappers, at equal false alarms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microshrub_host.evaluation.prequential import evaluate
from microshrub_host.library.learners import BALANCED, DEFAULT, defaults
from microshrub_host.reports.markdown import markdown_table
from microshrub_host.streams.stream import Stream

LIMIT = 40_000  # samples of a stream, before it is thinned
SIZE = 65_536
SHARE = 0.01  # of the rare class
SEED = 7
COSTS = (1, 2, 3, 5, 8, 12, 16, 20, 30, 40, 55, 70, 85, 99, 120, 140, 165, 190, 220, 255)
PEERS = ("under", "over", "both", "hard")
RARE = 1  # the number of the rare class
_NAMES = ("usual", "rare")

TEXT = """\
# Rare classes, beside River's wrappers

Made by `{command}`; do not edit it by hand. One class of each stream, its smallest, is thinned
until it is 1 % of the samples (seed {seed}); all others together are the usual class. Before that,
streams are cut after {limit:,} samples. River {version}'s wrappers hold its Hoeffding tree with a
grace period of 100: `under` is its random undersampler, `over` its random oversampler, `both` its
random sampler to a tenth of the samples, each to equal classes; `hard` is its hard sampling
classifier of 40 samples, a tenth of the time. Ours is a thicket of 64 KB.

## Without an option

Recall is how many of the rare class were found, false alarms how many of the usual one were called
rare, both in percent.

{plain}

## At equal false alarms

The recall of each wrapper, its false alarms in brackets, and the recall of `--balance` at as many
false alarms: `--costs 1,N` with {points} values of N from 1 to 255, and straight lines between
these points.

{equal}

At equal false alarms, `--balance` finds at least as many as the wrapper in {ahead} of {cells}
cells, and {gain:.1f} percentage points more in the mean.
"""


@dataclass(frozen=True)
class OperatingPoint:
    """The recall of the rare class, and the false alarms on the usual class, 0..100."""

    recall: float
    alarms: float

    @classmethod
    def of(cls, labels: NDArray[Any], predicted: NDArray[Any]) -> OperatingPoint:
        """Return the point for labels and predictions, both of shape (samples,)."""
        rare = labels == RARE
        result = predicted == RARE
        return cls(100 * float(result[rare].mean()), 100 * float(result[~rare].mean()))


@dataclass(frozen=True)
class RareRow:
    """The results of one stream: a plain thicket, a balanced one, thickets with costs,
    River's wrappers.
    """

    stream: str
    samples: int
    plain: OperatingPoint
    balanced: OperatingPoint
    costs: Sequence[OperatingPoint]
    peers: Mapping[str, OperatingPoint]


def thinned(stream: Stream) -> Stream:
    """Return a stream of two classes, of which the second is rare."""
    labels = np.asarray(stream.labels)
    counts = np.bincount(labels, minlength=len(stream.class_names))
    rare = labels == int(np.argmin(np.where(counts, counts, len(labels) + 1)))
    usual = int(np.count_nonzero(~rare))
    chance = SHARE / (1 - SHARE) * usual / max(len(labels) - usual, 1)
    kept = ~rare | (np.random.default_rng(SEED).random(len(labels)) < chance)
    rows, predicted = np.asarray(stream.values)[kept], rare[kept].astype(np.uint8)
    return Stream(stream.name, rows, predicted, stream.feature_names, _NAMES)


def measure(name: str, stream: Stream) -> Iterator[tuple[str, RareRow | None]]:
    """Yield the name of each run; the last run comes with the row."""
    labels = np.asarray(stream.labels)
    points = []
    for model, costs in _ours():
        points.append(_learned(stream, model, costs))
        yield model, None
    result: dict[str, OperatingPoint] = {}
    for peer in PEERS:
        result[peer] = OperatingPoint.of(labels, _asked(_wrappers()[peer](), stream))
        last = peer == PEERS[-1]
        row = (
            RareRow(name, len(labels), points[0], points[1], points[2:], result) if last else None
        )
        yield peer, row


def runs() -> int:
    """Return the number of runs on a stream."""
    return len(_ours()) + len(PEERS)


def _ours() -> list[tuple[str, tuple[int, ...]]]:
    return [(DEFAULT, ()), (BALANCED, ()), *((BALANCED, (1, cost)) for cost in COSTS)]


def _learned(stream: Stream, model: str, costs: tuple[int, ...]) -> OperatingPoint:
    shape = {"features": stream.values.shape[1], "classes": 2}
    chosen = {"bytes": SIZE} | ({"costs": costs} if costs else {})
    result = evaluate(stream, model, {**shape, **defaults(model), **chosen})
    usual, rare = result.by_class.recalls
    return OperatingPoint(rare or 0.0, 100 - (usual or 0.0))


def _wrappers() -> dict[str, Callable[[], Any]]:
    """Return River's wrappers by their names on the page."""
    from river import imblearn, tree

    def base() -> Any:
        return tree.HoeffdingTreeClassifier(grace_period=100)

    equal = {0: 0.5, 1: 0.5}
    return {
        "under": lambda: imblearn.RandomUnderSampler(base(), equal, seed=1),
        "over": lambda: imblearn.RandomOverSampler(base(), equal, seed=1),
        "both": lambda: imblearn.RandomSampler(base(), equal, sampling_rate=0.1, seed=1),
        "hard": lambda: imblearn.HardSamplingClassifier(base(), size=40, p=0.1, seed=1),
    }


def _asked(model: Any, stream: Stream) -> NDArray[np.uint8]:
    """Return the predictions of a learner of River, shape (samples,).
    Missing values are left out.
    """
    predicted = np.zeros(len(stream.labels), dtype=np.uint8)
    for i, (values, label) in enumerate(zip(stream.values, stream.labels, strict=True)):
        row = {k: float(v) for k, v in enumerate(values) if not np.isnan(v)}
        predicted[i] = model.predict_one(row) or 0
        model.learn_one(row, int(label))
    return predicted


def recall_at(alarms: float, points: Sequence[OperatingPoint]) -> float:
    """Return the recall at this rate of false alarms, on the line through a learner's points."""
    ends = [OperatingPoint(0, 0), *points, OperatingPoint(100, 100)]
    order = sorted(ends, key=lambda point: (point.alarms, point.recall))
    # more false alarms never cost recall: a user who allows them can also use fewer
    recalls = np.maximum.accumulate([point.recall for point in order])
    return float(np.interp(alarms, [point.alarms for point in order], recalls))


def page(rows: Sequence[RareRow], limit: int, command: str) -> str:
    """Return the whole page as Markdown."""
    import river

    equal, gains = [], []
    for row in rows:
        words = [row.stream]
        for peer in PEERS:
            theirs = row.peers[peer]
            ours = recall_at(theirs.alarms, [row.balanced, *row.costs])
            gains.append(ours - theirs.recall)
            words += [f"{theirs.recall:.1f} ({theirs.alarms:.1f})", f"{ours:.1f}"]
        equal.append(words)
    head = [word for peer in PEERS for word in (peer, "ours")]
    return TEXT.format(
        command=command,
        seed=SEED,
        limit=limit,
        points=len(COSTS),
        version=river.__version__,
        plain=_plain(rows),
        equal=markdown_table(["stream", *head], equal),
        ahead=sum(gain >= 0 for gain in gains),
        cells=len(gains),
        gain=sum(gains) / max(len(gains), 1),
    )


def _plain(rows: Sequence[RareRow]) -> str:
    def words(point: OperatingPoint) -> list[str]:
        return [f"{point.recall:.1f}", f"{point.alarms:.1f}"]

    table = [
        [row.stream, f"{row.samples:,}", *words(row.plain), *words(row.balanced)] for row in rows
    ]
    head = ["stream", "samples", "thicket: recall", "false alarms"]
    return markdown_table([*head, "`--balance`: recall", "false alarms"], table)
