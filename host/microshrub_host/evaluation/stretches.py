"""Which samples to keep aside of a recording's windows: whole stretches of time.

Windows that share readings are nearly the same, and so are two of the same moment of the world.
So it is whole runs of one label that are kept aside, and no window is learned that shares a
reading with one of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..streams.stream import Stream

EVERY = 5  # one stretch of so many of a class, or the last one if there are fewer

Marks = NDArray[np.bool_]


def split(stream: Stream, begin: int) -> tuple[Marks, Marks] | None:
    """Which of the samples from `begin` on are kept aside, and which are learned.

    None if the samples were not made of windows.
    """
    if stream.ends is None or stream.extraction is None:
        return None
    ends = stream.ends[begin:]
    order = np.argsort(ends, kind="stable")
    window = int(stream.extraction.options["window"])
    aside = np.zeros(len(ends), np.bool_)
    aside[order] = _aside(ends[order], stream.labels[begin:][order], window)
    kept = np.sort(ends[aside])
    after = np.searchsorted(kept, ends)  # the first kept one that is not before each
    far = np.full(len(ends), np.iinfo(np.intp).max)
    for near in (after - 1, after):
        known = (near >= 0) & (near < len(kept))
        apart = np.abs(ends[known] - kept[near[known]])
        far[known] = np.minimum(far[known], apart)
    return aside, far >= window


def _aside(ends: NDArray[np.intp], labels: NDArray[np.uint8], window: int) -> Marks:
    """Those of samples in the order of time: every fifth stretch of each class."""
    starts = [0]
    for row in np.flatnonzero(np.diff(labels)) + 1:
        if ends[row] - ends[starts[-1]] >= window:  # what is shorter goes with what follows
            starts.append(int(row))
    found = np.zeros(len(ends), np.bool_)
    stretches = list(zip(starts, [*starts[1:], len(ends)], strict=True))
    most = [int(np.bincount(labels[a:b]).argmax()) for a, b in stretches]
    for c in sorted(set(most)):
        own = [stretch for stretch, k in zip(stretches, most, strict=True) if k == c]
        if len(own) == 1:
            (a, b), own = own[0], []
            found[b - max((b - a) // EVERY, 1) : b] = True
        for a, b in own[EVERY - 1 :: EVERY] or own[-1:]:
            found[a:b] = True
    return found
