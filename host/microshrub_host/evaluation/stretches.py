"""The stretches of a stream, whose samples belong together, and draws that hold stretches out.

Samples that are neighbours in time are alike, so a held-out row between its neighbours is no test.
Therefore whole stretches are held out:

- groups, where a column names them (`--group`): a person, a session, a file;
- else runs of one label, if labels come in runs, that is, if a run is on average at least _IN_RUNS
  times as long as if the same labels came in random order. A run that is shorter than a tenth of
  its class's mean, than _FLICKER samples, or than a window, belongs to the run before it;
- else blocks of time, a hundredth of the stream each, with a gap on either side.

A draw holds out a fifth of each class, at least one stretch, and leaves at least one stretch to
learn. If a class has a single stretch, only the end of that stretch is held out, and counted
separately. No learned window shares a reading with a held-out window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

EVERY = 5  # one in EVERY samples of a class is held out, in whole stretches
RUNS, GROUPS, BLOCKS = "runs", "groups", "blocks of time"
_IN_RUNS = 4  # ratio of the mean run's length to that in random order, at least
_FLICKER = 3  # samples of a run that is a stretch, at least
_TENTH = 10
_BLOCKS = 100
_BLOCK = 50  # samples of a block, at least, unless there would be fewer than ten blocks
_GAP = 4  # the gap on either side is one _GAP-th of a block
_ALL = 0xFFFFFFFF

Labels = NDArray[np.uint8]
Marks = NDArray[np.bool_]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Draw:
    """A draw: marks for the samples to learn, and for the samples to predict afterwards."""

    learned: Marks
    asked: Marks
    ends: Marks  # the ends of classes' only stretches: predicted as well, but counted separately

    @property
    def held_out(self) -> Marks:
        """All held-out samples."""
        return self.asked | self.ends


@dataclass(frozen=True)
class Stretches:
    """A stream's samples, divided into stretches.

    `of` has each sample's stretch. `times` has each sample's time: its place in the order of the
    samples, or its last reading.
    """

    by: str  # RUNS, GROUPS or BLOCKS
    of: Places  # (samples,)
    labels: Labels  # (samples,)
    times: Places  # (samples,)
    window: int  # readings in a sample; 0: each sample is a reading
    held: Marks = field(repr=False)  # (stretches, classes): which classes a stretch holds

    @property
    def count(self) -> int:
        """The number of stretches."""
        return len(self.held)

    @property
    def single(self) -> list[int]:
        """The classes with only one stretch: no draw can both learn and test them."""
        classes: list[int] = np.flatnonzero(self.held.sum(axis=0) == 1).tolist()
        return classes

    def draws(self, seed: int = 0) -> Iterator[Draw]:
        """Yield draws without end; each draw prefers the stretches that were drawn least often."""
        taken = np.zeros(self.count, np.intp)
        for number in range(_ALL):
            drawn = _mixed(seed * 1000 + number)
            chance = np.array([_mixed(drawn + k) for k in range(self.count)])
            chosen = self._drawn(np.lexsort((chance, taken)))
            taken[chosen] += 1
            yield self._draw(np.isin(self.of, chosen))

    def _drawn(self, order: Places) -> list[int]:
        """Return the stretches of a draw, trying them in the given order."""
        sizes = np.zeros(self.held.shape, np.intp)
        np.add.at(sizes, (self.of, self.labels), 1)
        sizes *= self.held
        wanted = sizes.sum(axis=0) / EVERY
        left = self.held.sum(axis=0)
        several, got = left > 1, np.zeros(len(left), np.intp)
        chosen = []
        for k in order.tolist():
            classes = self.held[k] & several
            if (got < wanted)[classes].any() and (left[classes] > 1).all():
                chosen.append(k)
                got += sizes[k]
                left[classes] -= 1
        return chosen

    def _draw(self, asked: Marks) -> Draw:
        ends = np.zeros(len(asked), np.bool_)
        unsure = asked.copy()
        for c in self.single:
            places = np.flatnonzero((self.labels == c) & self.held[self.of, c])
            places = places[np.argsort(self.times[places], kind="stable")]
            end = len(places) // EVERY
            ends[places[len(places) - end :]] = not asked[places].any()
            unsure[places[len(places) - end - end // _GAP :]] = True
        return self._apart(asked & ~ends, ends, unsure | ends)

    def _apart(self, asked: Marks, ends: Marks, unsure: Marks) -> Draw:
        """Return a draw that does not learn samples too close to the held-out ones."""
        held = asked | ends
        learned = ~unsure
        if self.window:
            learned &= _distance(self.times, held) >= self.window
        if self.by == BLOCKS:
            gap = int(np.bincount(self.of).max()) // _GAP
            learned &= _distance(_ranks(self.times), held) > gap
        return Draw(learned, asked, ends)

    def some(self, samples: int, *, among: Marks, seed: int = 0) -> list[int]:
        """Draw stretches with about that many of the marked samples; the classes take turns."""
        sizes = np.bincount(self.of[among], minlength=self.count)
        chance = np.array([_mixed(_mixed(seed) + k) for k in range(self.count)])
        turn = np.zeros(self.count, np.intp)
        for c in range(self.held.shape[1]):
            of_class = np.flatnonzero((self.held.argmax(axis=1) == c) & (sizes > 0))
            turn[of_class[np.argsort(chance[of_class])]] = np.arange(len(of_class))
        order = np.lexsort((chance, turn))
        middles = np.cumsum(sizes[order]) - sizes[order] / 2
        drawn: list[int] = order[(middles <= samples) & (sizes[order] > 0)].tolist()
        return drawn

    def last(self) -> Draw | None:
        """Hold out the last stretches in time, a fifth of the samples, and learn all before them.

        Up to two fifths are held out, if it takes more stretches to have one of each class with
        several. None if there is nothing to learn before them.
        """
        first, last = _spans(self.of, self.times, self.count)
        asked = np.zeros(len(self.of), np.bool_)
        several: Marks = np.asarray(self.held.sum(axis=0) > 1)
        for k in np.argsort(-last, kind="stable").tolist():
            stretch = self.of == k
            enough = EVERY * int(asked.sum()) >= len(asked)
            known: Marks = np.asarray(self.held[np.unique(self.of[asked])].any(axis=0))
            much = EVERY * int((asked | stretch).sum()) > 2 * len(asked)
            if enough and (much or bool(np.all(known[several]))):
                break
            asked |= stretch
        begins = last if self.by == GROUPS else first
        before = self.times < int(begins[np.unique(self.of[asked])].min())
        none = np.zeros(len(asked), np.bool_)
        draw = self._apart(asked, none, asked | ~before)
        return draw if draw.learned.any() else None


def find(
    labels: Labels,
    classes: int,
    *,
    times: Places | None = None,
    window: int = 0,
    groups: Places | None = None,
) -> Stretches:
    """Divide samples with these labels into stretches.

    times has the time of each sample's last reading, or its place in the recording; None means
    that the samples are in order. window is the number of readings in a sample. groups has the
    group of each sample.
    """
    times = np.arange(len(labels)) if times is None else times
    order = np.argsort(times, kind="stable")
    of = np.zeros(len(labels), np.intp)
    if groups is not None:
        by, of = GROUPS, np.unique(groups, return_inverse=True)[1]
    elif in_runs(labels[order]):
        by = RUNS
        of[order] = _runs(labels[order], times[order], window, classes)
    else:
        by = BLOCKS
        blocks = _blocks(len(labels))
        of[order] = np.arange(len(labels)) * blocks // max(len(labels), 1)
    held = np.zeros((int(of.max(initial=-1)) + 1, classes), np.bool_)
    if by == RUNS:  # a run's main class, without flickering labels
        sizes = np.zeros(held.shape, np.intp)
        np.add.at(sizes, (of, labels), 1)
        held[np.arange(len(held)), sizes.argmax(axis=1)] = True
    else:
        held[of, labels] = True
    return Stretches(by, of, labels, times, window, held)


def in_runs(labels: Labels) -> bool:
    """Return whether labels repeat far longer than they would in random order."""
    shares = np.bincount(labels) / max(len(labels), 1)
    changes = np.count_nonzero(np.diff(labels))
    if not changes:
        return False
    return bool(len(labels) / (changes + 1) * (1 - np.sum(shares**2)) >= _IN_RUNS)


def _runs(labels: Labels, times: Places, window: int, classes: int) -> Places:
    """Return the run of each sample; the samples are in the order of time."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(labels)) + 1])
    run_labels = labels[starts]
    lengths = np.diff([*starts, len(labels)])
    runs = np.maximum(np.bincount(run_labels, minlength=classes), 1)
    means = np.bincount(run_labels, lengths, minlength=classes) / runs
    spans = np.diff([*times[starts], times[-1] + 1])
    whole = (lengths >= np.maximum(_FLICKER, means[run_labels] / _TENTH)) & (spans >= window)
    place = np.maximum(np.cumsum(whole) - 1, 0)  # earlier samples belong to the first run
    kept = run_labels[whole] if whole.any() else run_labels[:1]
    same = np.concatenate([[0], np.cumsum(np.diff(kept) != 0)])  # joins a run across a flicker
    return np.repeat(same[place], lengths)


def _blocks(samples: int) -> int:
    """Return the number of blocks of time for that many samples."""
    length = max(samples // _BLOCKS, min(_BLOCK, samples // 10), 1)
    return max(samples // length, 1)


def _ranks(times: Places) -> Places:
    ranks = np.empty(len(times), np.intp)
    ranks[np.argsort(times, kind="stable")] = np.arange(len(times))
    return ranks


def _distance(times: Places, held: Marks) -> Places:
    """Return the distance in time of each sample from the nearest held-out one."""
    kept = np.sort(times[held])
    far = np.full(len(times), np.iinfo(np.intp).max)
    after = np.searchsorted(kept, times)  # the first one not before each sample
    for near in (after - 1, after):
        known = (near >= 0) & (near < len(kept))
        apart = np.abs(times[known] - kept[near[known]])
        far[known] = np.minimum(far[known], apart)
    return far


def _spans(of: Places, times: Places, count: int) -> tuple[Places, Places]:
    """Return the first and the last time of each stretch."""
    first, last = np.full(count, np.iinfo(np.intp).max), np.full(count, -1)
    np.minimum.at(first, of, times)
    np.maximum.at(last, of, times)
    return first, last


def _mixed(number: int) -> int:
    """Return 32 pseudo-random bits, the same as on the page."""
    bits = number & _ALL
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        bits = (bits ^ bits >> shift) * factor & _ALL
    return bits ^ bits >> 16
