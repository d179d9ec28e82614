"""Which samples of a stream belong together, and draws that hold whole stretches of them out.

Samples that are neighbours in time are alike, so a row that is held out between its neighbours is
no test. What is held out here are whole stretches:

- groups, where a column names them (`--group`): a person, a session, a file;
- else runs of one label, where labels come in runs: where a run is on average at least _IN_RUNS
  times as long as if the same labels came in random order. A run that is shorter than a tenth of
  its class's mean, or than _FLICKER samples, goes with what comes before it;
- else blocks of time, a hundredth of the stream each, with a gap on either side.

A draw takes a fifth of each class, at least one stretch of it, and leaves one of it to be learned.
Of a class that has a single stretch, only the end of that stretch is held out, and counted apart.
No window is learned that shares a reading with one that is held out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

EVERY = 5  # one of so many samples of a class is held out, in whole stretches
RUNS, GROUPS, BLOCKS = "runs", "groups", "blocks of time"
_IN_RUNS = 4  # times as long as in random order
_FLICKER = 3  # samples of a run that is one, at least
_TENTH = 10
_BLOCKS = 100
_BLOCK = 50  # samples of a block, at least, unless there are then fewer than ten
_GAP = 4  # one of so many samples of a block is as many as are left out on either side
_ALL = 0xFFFFFFFF

Labels = NDArray[np.uint8]
Marks = NDArray[np.bool_]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Draw:
    """What is learned and what is asked after that, a mark for each sample."""

    learned: Marks
    asked: Marks
    ends: Marks  # of the only run of a class: asked as well, and counted apart

    @property
    def held_out(self) -> Marks:
        """All that is asked."""
        return self.asked | self.ends


@dataclass(frozen=True)
class Stretches:
    """A stream's samples in stretches.

    `of` has each sample's stretch; `times` says when it came, in the order of which it is a place
    among the others, or its last reading.
    """

    by: str  # RUNS, GROUPS or BLOCKS
    of: Places  # (samples,)
    labels: Labels  # (samples,)
    times: Places  # (samples,)
    window: int  # readings of a sample; 0: a sample is a reading
    held: Marks = field(repr=False)  # (stretches, classes): whose samples are in it

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.held)

    @property
    def single(self) -> list[int]:
        """The classes that one stretch alone has: how they are elsewhere cannot be asked."""
        classes: list[int] = np.flatnonzero(self.held.sum(axis=0) == 1).tolist()
        return classes

    def draws(self, seed: int = 0) -> Iterator[Draw]:
        """Without an end; each takes the stretches first that were taken least often before."""
        taken = np.zeros(self.count, np.intp)
        for number in range(_ALL):
            drawn = _mixed(seed * 1000 + number)
            chance = np.array([_mixed(drawn + k) for k in range(self.count)])
            chosen = self._drawn(np.lexsort((chance, taken)))
            taken[chosen] += 1
            yield self._draw(np.isin(self.of, chosen))

    def _drawn(self, order: Places) -> list[int]:
        """The stretches of a draw, which are tried in that order."""
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
        """Leave out what is too near to the samples that are asked."""
        held = asked | ends
        learned = ~unsure
        if self.window:
            learned &= _distance(self.times, held) >= self.window
        if self.by == BLOCKS:
            gap = int(np.bincount(self.of).max()) // _GAP
            learned &= _distance(_ranks(self.times), held) > gap
        return Draw(learned, asked, ends)

    def some(self, samples: int, *, among: Marks, seed: int = 0) -> list[int]:
        """Drawn stretches that have so many of these samples; the classes take turns."""
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
        """Ask about the last stretches in time, a fifth of the samples, after what comes before.

        So many more, up to two fifths, that each class with several stretches is among them. None
        if nothing comes before.
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
    """The stretches of samples with these labels.

    times are those of the samples' last readings, or their places in the recording; None: they
    come in its order. window is how many readings a sample is made of, groups has each one's.
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
    if by == RUNS:  # whose run it is, not what flickers in it
        sizes = np.zeros(held.shape, np.intp)
        np.add.at(sizes, (of, labels), 1)
        held[np.arange(len(held)), sizes.argmax(axis=1)] = True
    else:
        held[of, labels] = True
    return Stretches(by, of, labels, times, window, held)


def in_runs(labels: Labels) -> bool:
    """Whether a label repeats far longer than it would in random order."""
    shares = np.bincount(labels) / max(len(labels), 1)
    changes = np.count_nonzero(np.diff(labels))
    if not changes:
        return False
    return bool(len(labels) / (changes + 1) * (1 - np.sum(shares**2)) >= _IN_RUNS)


def _runs(labels: Labels, times: Places, window: int, classes: int) -> Places:
    """The run of each sample, in the order of time."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(labels)) + 1])
    run_labels = labels[starts]
    lengths = np.diff([*starts, len(labels)])
    runs = np.maximum(np.bincount(run_labels, minlength=classes), 1)
    means = np.bincount(run_labels, lengths, minlength=classes) / runs
    spans = np.diff([*times[starts], times[-1] + 1])
    whole = (lengths >= np.maximum(_FLICKER, means[run_labels] / _TENTH)) & (spans >= window)
    place = np.maximum(np.cumsum(whole) - 1, 0)  # what comes before the first one goes with it
    kept = run_labels[whole] if whole.any() else run_labels[:1]
    same = np.concatenate([[0], np.cumsum(np.diff(kept) != 0)])  # parts of a run that flickers
    return np.repeat(same[place], lengths)


def _blocks(samples: int) -> int:
    """How many blocks of time so many samples make."""
    length = max(samples // _BLOCKS, min(_BLOCK, samples // 10), 1)
    return max(samples // length, 1)


def _ranks(times: Places) -> Places:
    ranks = np.empty(len(times), np.intp)
    ranks[np.argsort(times, kind="stable")] = np.arange(len(times))
    return ranks


def _distance(times: Places, held: Marks) -> Places:
    """How far each sample is from the nearest one that is held out."""
    kept = np.sort(times[held])
    far = np.full(len(times), np.iinfo(np.intp).max)
    after = np.searchsorted(kept, times)  # the first kept one that is not before each
    for near in (after - 1, after):
        known = (near >= 0) & (near < len(kept))
        apart = np.abs(times[known] - kept[near[known]])
        far[known] = np.minimum(far[known], apart)
    return far


def _spans(of: Places, times: Places, count: int) -> tuple[Places, Places]:
    """When each stretch begins and ends."""
    first, last = np.full(count, np.iinfo(np.intp).max), np.full(count, -1)
    np.minimum.at(first, of, times)
    np.maximum.at(last, of, times)
    return first, last


def _mixed(number: int) -> int:
    """32 bits that look drawn; the page has the same ones."""
    bits = number & _ALL
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        bits = (bits ^ bits >> shift) * factor & _ALL
    return bits ^ bits >> 16
