"""The lessons of `benchmark teach`: the training samples, their order, and the test samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from microshrub_host.evaluation.stretches import find
from microshrub_host.streams.stream import Stream

from . import unseen_groups
from .taught_sets import Opener

BOTH_UNITS, NEW_UNIT = "in both units", "in the new unit only"
BLOCKS, MIXED = "class after class", "mixed"
IN_ORDER, SHUFFLED, TWO_ROUNDS = "in order", "shuffled", "two rounds"
COUNTS = (1, 3, 5, 10, 20, 50)  # samples per class
FEW = 20
MOST = 8000  # samples of a set
ASKED = 400  # test samples after a handful of training samples
TAUGHT = 5000  # a fifth of them is held out
CONCEPTS = 4000  # a half of the first concept, a quarter of the second; a quarter is the test
UNITS = (2000, 500, 1000)  # samples before the change of unit, after it, and of the test
THOUSANDTH = 0.001
FIRST = (100, 500)  # samples at the beginning that all have labels
_RECORDINGS = ("wisdm", "roomocc", "occupancy")
_RUNS = ("wisdm", "roomocc", "digits")  # sets whose file order is not the order of arrival

PEERS = ("NaiveBayes", "KNN", "softmax", "HAT", "ARF", "extra-trees", "forest", "discriminant")
ALL_AT_ONCE = ("logistic", "discriminant", "bayes", "neighbours", "extra-trees")

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Lesson:
    """Training samples in their order, and test samples without labels.

    If `prequential`, there are no test samples: each sample is predicted before it is learned.
    """

    values: NDArray[np.float64]  # (samples, features), NaN where missing
    labels: NDArray[np.uint8]  # (samples,)
    asked: NDArray[np.float64]  # (test samples, features)
    answers: NDArray[np.uint8]  # (test samples,); of all samples if prequential
    classes: int
    prequential: bool = False
    drawn: bool = True  # whether another seed gives another lesson


# (set, way, opener, most samples, seed) -> lesson
Make = Callable[[str, str, Opener, int, int], Lesson]


@dataclass(frozen=True)
class Test:
    """Lessons of one kind: from these sets, in these ways."""

    title: str
    about: str
    names: tuple[str, ...]
    ways: tuple[str, ...]
    make: Make
    each: tuple[str, ...] = ()  # ways for which the table shows each set next to the mean
    accuracies: tuple[str, ...] = ("balanced",)  # or "plain"
    peers: tuple[str, ...] = PEERS  # names of the other learners, apart from thickets


def in_blocks(labels: NDArray[np.uint8], rng: np.random.Generator, rounds: int = 1) -> Rows:
    """Return the rows class after class, in this many rounds;
    the order of the classes is drawn.
    """
    place = rng.permutation(int(labels.max(initial=0)) + 1)
    parts = np.array_split(np.arange(len(labels)), rounds)
    return np.concatenate([part[np.argsort(place[labels[part]], kind="stable")] for part in parts])


def _lesson(stream: Stream, taught: Rows, asked: Rows, *, drawn: bool = True) -> Lesson:
    values, labels = np.asarray(stream.values), np.asarray(stream.labels)
    return Lesson(
        values[taught],
        labels[taught],
        values[asked],
        labels[asked],
        len(stream.class_names),
        drawn=drawn,
    )


def _held_out(stream: Stream, most: int, seed: int) -> tuple[Rows, Rows]:
    """Return the training rows and the test rows of a stream's first rows;
    the test has whole stretches.
    """
    labels = np.asarray(stream.labels[:most])
    groups = None if stream.groups is None else stream.groups[:most]
    draw = next(find(labels, len(stream.class_names), groups=groups).draws(seed))
    return np.flatnonzero(draw.learned), np.flatnonzero(draw.asked)


def _recording(name: str, way: str, sets: Opener, most: int, seed: int) -> Lesson:
    stream = sets(name)
    taught, asked = _held_out(stream, min(most, MOST), seed)
    if way == SHUFFLED:
        taught = np.random.default_rng(seed).permutation(taught)
    return _lesson(stream, taught, asked)


def _groups(name: str, way: str, sets: Opener, most: int, seed: int) -> Lesson:
    if name not in unseen_groups.KINDS:
        return _recording(name, way, sets, most, seed)
    stream = unseen_groups.recording(name, seed)
    taught, asked = _held_out(stream, min(most, MOST), seed)
    return _lesson(stream, taught, asked)


def _rounds(name: str, way: str, sets: Opener, most: int, seed: int) -> Lesson:
    stream = sets(name)
    taught, asked = _held_out(stream, min(most, TAUGHT), seed)
    if way in (BLOCKS, TWO_ROUNDS):
        labels = np.asarray(stream.labels)[taught]
        rng = np.random.default_rng(seed)
        taught = taught[in_blocks(labels, rng, 2 if way == TWO_ROUNDS else 1)]
    return _lesson(stream, taught, asked)


def handful_way(count: int, order: str) -> str:
    """Return the name of a lesson with this many samples per class, in this order."""
    return f"{count} a class, {order}"


def _handful(name: str, way: str, sets: Opener, most: int, seed: int) -> Lesson:
    """Draw some samples of each class, at most half of it, and up to 400 others for the test.

    In a recording, no training sample comes from the stretches of the test.
    """
    stream = sets(name)
    words, order = way.split(" a class, ")
    labels = np.asarray(stream.labels)
    rng = np.random.default_rng((seed, int(words)))  # the same samples in both orders
    able = asked = np.arange(len(labels))
    if name in _RECORDINGS:
        able, asked = _held_out(stream, len(labels), seed)
    members = [rng.permutation(able[labels[able] == c]) for c in range(int(labels.max()) + 1)]
    taught = np.concatenate([rows[: min(int(words), len(rows) // 2)] for rows in members])
    others = rng.permutation(np.setdiff1d(asked, taught))
    drawn = rng.permutation(taught)
    if order == BLOCKS:
        drawn = drawn[in_blocks(labels[drawn], rng)]
    return _lesson(stream, drawn, others[: min(ASKED, most)])


def _concepts(name: str, way: str, sets: Opener, most: int, seed: int) -> Lesson:
    """Make a lesson of one concept, then another, from different rows,
    as both share their seed.
    """
    family, before, after = name.replace("_to", "").split("_")
    first, second = sets(f"{family}_{before}"), sets(f"{family}_{after}")
    samples = min(most, CONCEPTS)
    half, quarter = samples // 2, samples // 4
    values, labels = np.asarray(second.values).copy(), np.asarray(second.labels).copy()
    values[:half], labels[:half] = first.values[:half], first.labels[:half]
    parts = np.arange(half), np.arange(half, half + quarter)
    if way == BLOCKS:
        rng = np.random.default_rng(seed)
        parts = (
            parts[0][in_blocks(labels[parts[0]], rng)],
            parts[1][in_blocks(labels[parts[1]], rng)],
        )
    both = Stream(name, values, labels, second.feature_names, second.class_names)
    asked = np.arange(half + quarter, samples)
    return _lesson(both, np.concatenate(parts), asked, drawn=way == BLOCKS)


def _unseen(name: str, way: str, sets: Opener, most: int, seed: int) -> Lesson:
    make = _handful if way.startswith(f"{FEW} ") else _rounds
    return make(name, way.removeprefix(_ALL), sets, most, seed)


def _order(name: str, stream: Stream, seed: int) -> Rows:
    """Return the rows in file order, or shuffled if samples do not come in file order."""
    rows = np.arange(stream.samples)
    return np.random.default_rng(seed).permutation(rows) if name in _RUNS else rows


def _unit(name: str, way: str, sets: Opener, most: int, seed: int) -> Lesson:
    """Make a lesson of one unit, then another; the test is the same with or without
    the first unit.
    """
    stream = sets(name)
    before, after, asked = (min(samples, most * samples // sum(UNITS)) for samples in UNITS)
    rows = _order(name, stream, seed)[: before + after + asked]
    values = np.asarray(stream.values)[rows]
    values[before:] *= THOUSANDTH
    labels = np.asarray(stream.labels)[rows]
    both = Stream(name, values, labels, stream.feature_names, stream.class_names)
    taught = np.arange(before if way == NEW_UNIT else 0, before + after)
    return _lesson(both, taught, np.arange(before + after, len(rows)), drawn=name in _RUNS)


def _first(name: str, way: str, sets: Opener, most: int, seed: int) -> Lesson:
    stream = sets(name)
    rows = _order(name, stream, seed)[: min(int(way.removeprefix("first ")), most)]
    lesson = _lesson(stream, rows, rows[:0])
    return replace(lesson, answers=lesson.labels, prequential=True, drawn=name in _RUNS)


_ALL = f"of {TAUGHT:,} samples, "
_HANDFULS = tuple(handful_way(count, order) for count in COUNTS for order in (BLOCKS, MIXED))
_HANDFUL = (handful_way(FEW, BLOCKS), handful_way(FEW, MIXED))
_TURNS = (
    *("agrawal_0_to_4", "agrawal_2_to_6", "sea_0_to_3", "stagger_0_to_1", "stagger_1_to_2"),
    *("sine_0_to_2", "sine_0_to_1"),
)
TESTS: Mapping[str, Test] = {
    "A": Test(
        "A: unseen stretches of a recording",
        f"Of a recording ({MOST:,} rows at most), whole runs of a label are held out: a fifth of "
        "each class, at least one run, drawn by the seed. The others are taught in file order, "
        "where classes come in long runs, or shuffled. Then the held-out runs are asked.",
        _RECORDINGS,
        (IN_ORDER, SHUFFLED),
        _recording,
        (IN_ORDER, SHUFFLED),
        accuracies=("balanced", "plain"),
    ),
    "B": Test(
        "B: a handful of samples",
        f"Some samples of each class are taught, class after class or mixed. Then {ASKED} others "
        "are asked; of recordings (wisdm, roomocc), others of runs that are not taught. Where a "
        "class has few samples, half of them at most are taught.",
        ("wine", "breast_cancer", "digits", "ImageSegments", "wisdm", "roomocc"),
        _HANDFULS,
        _handful,
        _HANDFUL,
    ),
    "E": Test(
        "E: rounds of all classes",
        f"Of the first {TAUGHT:,} samples of a stream, blocks of time are held out, a fifth in "
        "all, with a gap on either side. They are asked after the others were taught in their own "
        "order, class after class in one round, or in two rounds.",
        ("agrawal_a", "led_a", "rbf_m", "sea_a", "weather", "elec"),
        (IN_ORDER, BLOCKS, TWO_ROUNDS),
        _rounds,
        (IN_ORDER, BLOCKS, TWO_ROUNDS),
    ),
    "F": Test(
        "F: another concept",
        f"{CONCEPTS // 2:,} samples of one concept are taught, then {CONCEPTS // 4:,} of another, "
        f"both class after class or both mixed. Then {CONCEPTS // 4:,} of the second are asked.",
        _TURNS,
        (BLOCKS, MIXED),
        _concepts,
        (BLOCKS, MIXED),
    ),
    "G": Test(
        "G: other runs, people, days and rooms",
        "As in A, in file order, and of generated recordings whole groups are held out: people, "
        "who wear a sensor tilted and move more or less, faster or slower than others; days, on "
        "which levels drift; rooms with a light of their own. Each seed makes other groups, "
        f"{unseen_groups.GROUPS} of a recording. Those that stand beside thickets learn all "
        "samples at once.",
        (*_RECORDINGS, *unseen_groups.KINDS),
        (IN_ORDER,),
        _groups,
        (IN_ORDER,),
        peers=ALL_AT_ONCE,
    ),
    "unit": Test(
        "Another unit",
        f"{UNITS[0]:,} samples are taught, then {UNITS[1]:,} whose values are all multiplied by "
        f"{THOUSANDTH}, as by a sensor of another unit; or only these {UNITS[1]:,}. Then "
        f"{UNITS[2]:,} of the same unit are asked. Plain accuracy; in file order, but for wisdm "
        "and roomocc, which are shuffled.",
        ("elec", "weather", "rbf_m", "sea_a", "agrawal_a", "wisdm", "roomocc"),
        (BOTH_UNITS, NEW_UNIT),
        _unit,
        (BOTH_UNITS, NEW_UNIT),
        accuracies=("plain",),
    ),
    "unseen": Test(
        "Unseen streams",
        "Generated streams with seeds on which nothing was chosen, taught as in B and as in E.",
        tuple(
            f"unseen_{n}" for n in ("clusters", "hyperplane", "mixed", "random_tree", "waveform")
        ),
        (*_HANDFUL, _ALL + BLOCKS, _ALL + MIXED),
        _unseen,
        (*_HANDFUL, _ALL + BLOCKS, _ALL + MIXED),
    ),
    "first": Test(
        "The first samples, every label told",
        "Prequential accuracy (plain): each sample is predicted, then its label is told. In file "
        f"order, but for {', '.join(_RUNS)}, which are shuffled.",
        (
            "elec",
            "weather",
            "occupancy",
            "wisdm",
            "roomocc",
            "ImageSegments",
            "Phishing",
            "digits",
        ),
        tuple(f"first {count}" for count in FIRST),
        _first,
        tuple(f"first {count}" for count in FIRST),
        accuracies=("plain",),
    ),
}
