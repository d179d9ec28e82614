"""Novelty detection: how soon a class without any label is noticed, compared with River."""

from __future__ import annotations

import dataclasses
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microshrub_host.library import loader
from microshrub_host.reports.markdown import markdown_table

from .known_streams import STREAMS

LIMIT = 3000  # samples of a stream
SOON = 30  # samples of the new class
WARMUP = 256
FIRST = 0.4  # the first share of the samples, without the new class
GROUP = 5  # unknown samples that cause a query
SEED = 0
PEERS = ("half-space trees", "one-class SVM")
TOGETHER: Mapping[str, Sequence[tuple[int, int, int]]] = {
    "digits": ((0, 1, 2), (3, 4, 5), (6, 7, 8)),
    "segments": ((0, 1, 2), (3, 4, 5)),
}
Rows = tuple[NDArray[np.float64], NDArray[np.int64]]

TEXT = """\
# New classes

Made by `{command}`; do not edit it by hand. Each class of each stream in turn is the novel one:
it does not come in the first two fifths of up to 3,000 samples, shuffled, and none of its
samples has a label after that; all other samples have theirs. A run ends when the class is
noticed. Noticed soon: how many classes were asked for within 30 of their samples, with most
samples of the group theirs. Share: how many percent of the samples in a group are of the class.
False alarms: samples of known classes that were taken for novel, in a thousand. Needless
queries: queries about known classes, in a thousand samples. Ours is a thicket of 16 KB with
`--spare-classes 1`, without other options. How unusual a sample has to be, and when unusual
samples form a group, was chosen on these streams, with seed 0 and two others.

River {version} has no novelty detection. Its peers here are its anomaly detectors: a sample is
novel if its score is above the scores of 99 % of the labelled samples so far, and five of these
make a query; every eighth sample that is not novel drops one of the five.

{single}

Ours notices {soon} of {runs} soon, with {news:.1f} false alarms in a thousand samples.

## Three at once

Three novel classes come together; a person names each group after
the class of most of its samples.

{together}
"""


@dataclass
class Heard:
    """The results of a run. `noticed` is the number of samples of the novel class up to the
    alarm; None without an alarm.
    """

    noticed: int | None = None
    of_it: float = 0.0  # share of the novel class in the group, 0..1
    news: int = 0  # samples of a known class that were taken for novel
    vain: int = 0
    known: int = 0  # samples of a known class after the warm-up
    named: dict[int, float] = field(default_factory=dict)  # class: its share of the queried group

    @property
    def soon(self) -> bool:
        return self.noticed is not None and self.noticed <= SOON


@dataclass(frozen=True)
class StreamRow:
    """The results of one stream: our runs, the peers' runs,
    and runs with three novel classes at once.
    """

    stream: str
    ours: Sequence[Heard]
    peers: Mapping[str, Sequence[Heard]]
    together: Sequence[Heard]


def names() -> tuple[str, ...]:
    """Return the names of the streams; wisdm is a file."""
    return ("digits", "segments", "wisdm", "rbf", "waveform")


def rows_of(name: str, folder: Path | None, seed: int) -> Rows:
    """Return a stream's samples and labels, shuffled.
    Raises ImportError without River or scikit-learn.
    """
    if name == "wisdm":
        stream = dataclasses.replace(STREAMS[name], shuffle=seed).open(name, folder, None)
        values = np.nan_to_num(np.asarray(stream.values, dtype=np.float64))
        return values[:LIMIT], np.asarray(stream.labels, dtype=np.int64)[:LIMIT]
    if name == "digits":
        from sklearn.datasets import load_digits

        digits = load_digits()
        values, labels = np.asarray(digits.data), np.asarray(digits.target)
    else:
        from river import datasets
        from river.datasets import synth

        made: Any = {
            "segments": datasets.ImageSegments,
            "rbf": lambda: synth.RandomRBF(
                seed + 1, seed + 1, n_classes=4, n_features=10, n_centroids=50
            ),
            "waveform": lambda: synth.Waveform(seed=seed + 1),
        }[name]()
        pairs = list(made if name == "segments" else made.take(LIMIT))
        known = sorted({label for _, label in pairs})
        values = np.array([list(row.values()) for row, _ in pairs], dtype=np.float64)
        labels = np.array([known.index(label) for _, label in pairs])
    order = np.random.default_rng(seed).permutation(len(labels))[:LIMIT]
    return values[order], labels[order]


def measure(
    name: str, folder: Path | None, seed: int, update: Callable[[int, int], None]
) -> StreamRow:
    """Run all detectors on one stream."""
    rows = rows_of(name, folder, seed)
    classes = range(int(rows[1].max()) + 1)
    sets = TOGETHER.get(name, ())
    ours, together = [], []
    peers: dict[str, list[Heard]] = {peer: [] for peer in PEERS}
    for number, c in enumerate(classes):
        ours.append(_ours(*_begun(rows, [c]), [c]))
        for peer, runs in peers.items():
            runs.append(_peer(peer, *_begun(rows, [c]), c))
        update(number + 1, len(classes) + len(sets))
    for number, three in enumerate(sets):
        together.append(_ours(*_begun(rows, three), three))
        update(len(classes) + number + 1, len(classes) + len(sets))
    return StreamRow(name, ours, peers, together)


def _begun(rows: Rows, new: Sequence[int]) -> Rows:
    """Return the rows without the new classes in the first two fifths."""
    values, labels = rows
    kept = ~np.isin(labels, new)
    kept[int(FIRST * len(labels)) :] = True
    return values[kept], labels[kept]


def _ours(values: NDArray[np.float64], labels: NDArray[np.int64], new: Sequence[int]) -> Heard:
    library = loader.load(loader.fastest())
    low, high = values[:WARMUP].min(axis=0), values[:WARMUP].max(axis=0)
    codes = (values - low) / np.where(high > low, high - low, 1) * 65535
    codes = np.clip(codes, 0, 65535).astype(np.uint16)
    known = sorted(set(labels.tolist()) - set(new))
    model = library.Thicket(features=values.shape[1], classes=len(known) + len(new))
    spare = library.SpareClasses(model, tuple(map(str, known)), len(new))
    novelty, x = spare.novelty, array("H", bytes(2 * values.shape[1]))
    heard, aside, came = Heard(), [-1] * novelty.places, 0
    for row, label in enumerate(labels.tolist()):
        x[:] = array("H", codes[row].tolist())
        c = spare.names.find(str(label))
        if c >= 0:
            spare.learn(x, c)
        else:
            spare.predict(x)
        came += label in new
        taken = spare.note(x, c)
        if label not in new and row >= WARMUP:
            heard.known += 1
            heard.news += taken
        if novelty.place >= 0:
            aside[novelty.place] = label
        if not novelty.is_ready:
            continue
        group = [aside[k] for k in range(novelty.places) if novelty.is_asked(k)]
        most = max(group, key=group.count)
        share = group.count(most) / len(group)
        if most not in new:
            heard.vain += 1
        elif spare.names.find(str(most)) < 0:
            heard.named[most] = share
            if len(new) == 1:
                heard.noticed, heard.of_it = came, share
                break
        spare.name(str(most))
    return heard


def _peer(name: str, values: NDArray[np.float64], labels: NDArray[np.int64], new: int) -> Heard:
    from river import anomaly, compose, preprocessing

    score: Any = anomaly.HalfSpaceTrees(seed=SEED)
    scaler: Any = preprocessing.MinMaxScaler()
    if name == "one-class SVM":
        score, scaler = anomaly.OneClassSVM(), preprocessing.StandardScaler()
    model = compose.Pipeline(scaler, score)
    heard, fade, came = Heard(), 0, 0
    scores: list[float] = []
    aside: list[int] = []
    for row, label in enumerate(labels.tolist()):
        x = dict(enumerate(values[row].tolist()))
        result = model.score_one(x)
        taken = row >= WARMUP and result > np.quantile(scores, 0.99)
        came += label == new
        fade = 0 if taken else fade + 1
        aside = [*aside, label] if taken else aside[1:] if fade % 8 == 0 else aside
        if label != new:
            heard.known += row >= WARMUP
            heard.news += taken
            model.learn_one(x)
            scores.append(result)
        if len(aside) >= GROUP:
            share = aside.count(new) / len(aside)
            if share > 0.5:
                heard.noticed, heard.of_it = came, share
                break
            heard.vain += 1
            aside = []
    return heard


def page(rows: Sequence[StreamRow], command: str) -> str:
    """Return the page."""
    import river

    every = [heard for row in rows for heard in row.ours]
    known = max(sum(heard.known for heard in every), 1)
    return TEXT.format(
        command=command,
        version=river.__version__,
        single=_single(rows),
        soon=sum(heard.soon for heard in every),
        runs=len(every),
        news=1000 * sum(heard.news for heard in every) / known,
        together=_together(rows),
    )


def _single(rows: Sequence[StreamRow]) -> str:
    first = ("stream", "classes", "noticed soon", "at its sample, median", "share")
    titles = (*first, "false alarms", "needless queries", *(f"{peer}: soon" for peer in PEERS))
    cells = []
    for row in rows:
        known = max(sum(heard.known for heard in row.ours), 1)
        at = [len(row.ours) * 1000 if h.noticed is None else h.noticed for h in row.ours]
        middle = int(np.median(at))
        shares = [heard.of_it for heard in row.ours if heard.noticed is not None]
        cells.append(
            [
                row.stream,
                str(len(row.ours)),
                str(sum(heard.soon for heard in row.ours)),
                str(middle) if middle < LIMIT else "never",
                f"{100 * float(np.mean(shares)):.0f}" if shares else "",
                f"{1000 * sum(heard.news for heard in row.ours) / known:.1f}",
                f"{1000 * sum(heard.vain for heard in row.ours) / known:.1f}",
                *(str(sum(heard.soon for heard in row.peers[peer])) for peer in PEERS),
            ]
        )
    return markdown_table(titles, cells)


def _together(rows: Sequence[StreamRow]) -> str:
    cells = []
    for row in rows:
        for heard, three in zip(row.together, TOGETHER.get(row.stream, ()), strict=True):
            shares = list(heard.named.values())
            cells.append(
                [
                    row.stream,
                    ", ".join(map(str, three)),
                    str(len(heard.named)),
                    f"{100 * float(np.mean(shares)):.0f}" if shares else "",
                    f"{1000 * heard.vain / max(heard.known, 1):.1f}",
                ]
            )
    return markdown_table(("stream", "classes", "named", "share", "needless queries"), cells)
