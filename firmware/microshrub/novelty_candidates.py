"""Candidates for a novel class in a ring: which of them are alike, and the labels they get.

Each candidate takes the oldest place of the ring. Two candidates belong together if they are
nearer to each other than either is to a known sample: if their distance is below close * d, with d
the smaller of their distances from the memory, each at its time; and if it is at most twice as far
as the second nearest in the ring, and r. A candidate with `collect` - 1 others is novel, and they
form a group: the samples of the next query. Later novel samples join the group if one of theirs is
in it; another group takes its turn if it is larger, or once this group has its label. So three
novel classes that appear at once are queried one after the other.

Samples in a row are alike because they follow each other. So a candidate that is nearest to the
last one in the ring takes no place unless that was four samples ago or more, or its novelty is
higher than that of all but one in `period` labelled samples.

A place of the ring is

    free     0
    kept     1   a candidate
    asked    2   of the group
    given    3 + label, until it is taken out to be learned

The buffers are those of novelty_detection.py.
"""

import micropython
from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_NOVELTY_WORDS = const(0)
_NOVELTY_SAMPLE = const(2)
_NOVELTY_RING = const(5)
_NOVELTY_X = const(6)
_NOVELTY_MARKS = const(7)
_NOVELTY_AWAYS = const(8)
_NOVELTY_NEAR = const(9)
# novelty_detection.py
_N_AWAY = const(4)
_N_FOLLOWS = const(5)
_N_SINCE = const(6)
_RING_HEAD = const(7)
_RING_HELD = const(8)
_N_ASKED = const(9)
_N_GIVEN = const(10)
_N_CLOSE = const(11)
_N_FEATURES = const(21)
_N_NEAR = const(22)
_N_ROOM = const(24)
_N_COLLECT = const(26)
# (end)

_AFAR = const(65535)  # above any distance
_PATIENCE = const(4)  # samples until another sample of a lasting state counts as evidence
_ODD = const(1)
_ASKED = const(2)
_GIVEN = const(3)


@micropython.viper
def gather(t) -> int:
    """How many candidates novelty.sample belongs to; near has their distances.

    novelty.words notes whether the last candidate is the nearest.
    """
    address = ptr32(t)
    words = ptr32(address[_NOVELTY_WORDS])
    ring = ptr16(address[_NOVELTY_RING])
    sample = ptr8(address[_NOVELTY_SAMPLE])
    marks = ptr16(address[_NOVELTY_MARKS])
    near = ptr16(address[_NOVELTY_NEAR])
    aways = ptr16(address[_NOVELTY_AWAYS])
    features = words[_N_FEATURES]
    room = words[_N_ROOM]
    close = words[_N_CLOSE] >> 8
    own = words[_N_AWAY]
    last = (words[_RING_HEAD] if words[_RING_HEAD] else room) - 1
    first = _AFAR
    second = _AFAR
    from_last = -1
    for place in range(room):
        near[place] = _AFAR
        if not marks[place] or marks[place] >= _GIVEN:
            continue
        begin = place * features  # < 640 * 256
        away = 0
        for f in range(features):
            gap = (ring[begin + f] >> 8) - sample[f]
            away += gap if gap > 0 else 0 - gap
        if away < first:
            second = first
            first = away
        elif away < second:
            second = away
        if place == last:
            from_last = away
        least = aways[place] if aways[place] < own else own
        if away << 8 < least * close:  # < 2**16 * 2**9
            near[place] = away
    words[_N_FOLLOWS] = 1 if from_last == first else 0
    most = (second << 1) + words[_N_NEAR]
    alike = 0
    for place in range(room):
        if near[place] > most:
            near[place] = _AFAR
        elif near[place] < _AFAR:
            alike += 1
    return alike


@micropython.viper
def collect(t, rows, at: int) -> int:
    """Put a sample into the ring; returns its place, -1 if it only follows the last candidate."""
    address = ptr32(t)
    words = ptr32(address[_NOVELTY_WORDS])
    ring = ptr16(address[_NOVELTY_RING])
    marks = ptr16(address[_NOVELTY_MARKS])
    near = ptr16(address[_NOVELTY_NEAR])
    aways = ptr16(address[_NOVELTY_AWAYS])
    x = ptr16(rows)
    features = words[_N_FEATURES]
    room = words[_N_ROOM]
    place = words[_RING_HEAD]
    if words[_N_FOLLOWS] and words[_N_SINCE] < _PATIENCE:
        return -1
    drop(t, place)
    first = place * features
    for f in range(features):
        ring[first + f] = x[at + f]
    marks[place] = _ODD
    aways[place] = words[_N_AWAY]
    near[place] = 0
    words[_RING_HELD] = words[_RING_HELD] + 1
    words[_RING_HEAD] = place + 1 if place + 1 < room else 0
    words[_N_SINCE] = 0
    return place


@micropython.viper
def drop(t, place: int):
    """Make a place of the ring free."""
    address = ptr32(t)
    words = ptr32(address[_NOVELTY_WORDS])
    marks = ptr16(address[_NOVELTY_MARKS])
    mark = marks[place]
    if mark:
        words[_RING_HELD] = words[_RING_HELD] - 1
    if mark == _ASKED:
        words[_N_ASKED] = words[_N_ASKED] - 1
    if mark >= _GIVEN:
        words[_N_GIVEN] = words[_N_GIVEN] - 1
    marks[place] = 0


@micropython.viper
def join(t, alike: int):
    """Have the `alike` samples of novelty.near join the group, or form another one."""
    address = ptr32(t)
    words = ptr32(address[_NOVELTY_WORDS])
    marks = ptr16(address[_NOVELTY_MARKS])
    near = ptr16(address[_NOVELTY_NEAR])
    room = words[_N_ROOM]
    asked = words[_N_ASKED]
    shared = 0
    for place in range(room):
        if near[place] < _AFAR and marks[place] == _ASKED:
            shared = 1
    if asked and not shared:
        if asked >= words[_N_COLLECT] or asked >= alike:
            return
        for place in range(room):
            if marks[place] == _ASKED:
                marks[place] = _ODD
        asked = 0
    for place in range(room):
        if near[place] < _AFAR and marks[place] == _ODD:
            marks[place] = _ASKED
            asked += 1
    words[_N_ASKED] = asked


@micropython.viper
def give(t, mark: int):
    """Give the group its label, which is mark - 3."""
    address = ptr32(t)
    words = ptr32(address[_NOVELTY_WORDS])
    marks = ptr16(address[_NOVELTY_MARKS])
    for place in range(words[_N_ROOM]):
        if marks[place] == _ASKED:
            marks[place] = mark
    words[_N_GIVEN] = words[_N_GIVEN] + words[_N_ASKED]
    words[_N_ASKED] = 0


@micropython.viper
def take(t) -> int:
    """Take the oldest sample that has a label out of the ring, to novelty.x and sample.

    Returns the label, -1 if there is none.
    """
    address = ptr32(t)
    words = ptr32(address[_NOVELTY_WORDS])
    if not words[_N_GIVEN]:
        return -1
    ring = ptr16(address[_NOVELTY_RING])
    marks = ptr16(address[_NOVELTY_MARKS])
    x = ptr16(address[_NOVELTY_X])
    sample = ptr8(address[_NOVELTY_SAMPLE])
    features = words[_N_FEATURES]
    place = words[_RING_HEAD]
    while marks[place] < _GIVEN:
        place += 1
        if place == words[_N_ROOM]:
            place = 0
    label = marks[place] - _GIVEN
    first = place * features
    for f in range(features):
        x[f] = ring[first + f]
        sample[f] = x[f] >> 8
    drop(t, place)
    return label
