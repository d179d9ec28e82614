"""The sample store of a thicket: the newest samples, and a reservoir of older ones per class.

It also detects whether labels come in runs, one class after the other, or mixed.

The last two fifths of the places are a ring of the newest samples. A sample that leaves the ring
is offered to the rest of the places:

- While the classes are mixed, every sample is taken in. It replaces the oldest sample among the
  classes that have more than five sixths of an equal share there. The store is then almost a
  longer ring.
- While labels come in runs, the rest is a reservoir for each class (Vitter: Random Sampling with a
  Reservoir, ACM Transactions on Mathematical Software 1985; one for each class as in Chaudhry et
  al.: On Tiny Episodic Memories in Continual Learning, 2019): in the class with the most samples,
  each sample that ever came is equally likely to be kept. A class with fewer samples takes a place
  from the class with the most. Here, a sample in the ring counts a fifth of a sample outside it.
- A sample that newer samples contradict goes first: each label that comes in a run adds one to the
  count of its nearest neighbours with another label, and subtracts one from the others. A new
  class, or a new region, contradicts no sample.

With `same` the share of labels that equal the label before, and s the sum of the squared shares of
the classes, the expected value of `same` if the classes were mixed, labels come in runs where

    rho = (same - s) / (1 - s) >= 0.6

and also where s > 15/16: with hardly more than one class, runs cannot be distinguished from
chance. The shares look back over 256 labels, fewer at first.

Until all places are taken, a sample's place is its number. Buffers, besides the ring's
(sample_ring.py):

    store.state    'i'  the integers below
    store.share    'H'  [classes] the recent share of each class, Q16
    store.count    'H'  [classes] samples held
    store.kept     'H'  [classes] samples held outside the ring
    store.offered  'H'  [classes] samples that were offered to the reservoir
    store.against  'B'  [length] how often a newer neighbour had another label, less how often not

Once a sample of another board was learned (shared_samples.py), `against` is at most 127 for the
board's own samples; for a sample of another board it is 128 plus four bits for its origin, from
bit 3 on, and a count up to 7. So shared samples take no more bytes, and a board that learns none
holds the same bits.
"""

import micropython
from micropython import const

from ..fixed import below

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_RING_CODES = const(1)
_RING_LABELS = const(2)
_GROVE_RNG = const(17)
_STORE_STATE = const(22)
_STORE_SHARE = const(23)
_STORE_COUNT = const(24)
_STORE_KEPT = const(25)
_STORE_OFFERED = const(26)
_STORE_AGAINST = const(27)
# thicket/sample_ring.py
_R_LENGTH = const(0)
_R_FEATURES = const(1)
_R_CLASSES = const(2)
_R_HELD = const(3)
_R_HEAD = const(4)
# (end)

_W_FIRST = const(0)  # from here on, words of the state: the first place of the ring
_W_HAND = const(1)  # the place outside the ring behind the one that was filled last
_W_DOOMED = const(2)  # samples outside the ring that are contradicted, and _FOREIGN
_W_SAME = const(3)  # the share of labels that are as the one before, Q16
_W_SEEN = const(4)  # labels so far, at most 256
_W_LABEL = const(5)  # the last label,
_W_RUN = const(6)  # how often the last label came in a row
_W_ALERT = const(7)  # labels that will still contradict more than others
_W_WORDS = const(8)
FIXED_IN_STORE = (_W_FIRST,)

_CONTRADICTED = const(6)  # a count from which on a sample goes first
_FOREIGN = const(65536)  # samples of others were learned; a ring has fewer places
_COUNT = const(7)  # the bits of the count in what is `against` one of them
_MOST_OFFERED = const(65535)
_RUNS_MEMORY = const(256)  # labels that the shares look back over
_WHOLE = const(65535)  # 1 in Q16, nearly
_ONE_CLASS = const(245760)  # 15/16 in Q18
_LONGEST = const(65535)  # a run is not counted further


def store_table(classes, length):
    """The buffers besides the ring's."""
    return [
        ("store.state", "i", _W_WORDS),
        ("store.share", "H", classes),
        ("store.count", "H", classes),
        ("store.kept", "H", classes),
        ("store.offered", "H", classes),
        ("store.against", "B", length),
    ]


def start_store(b, length):
    """Start with an empty store."""
    b[_STORE_STATE][_W_FIRST] = length - length * 2 // 5


@micropython.viper
def note_label(t, label: int):
    """Note a label: how often the classes come, and whether it equals the label before."""
    address = ptr32(t)
    state = ptr32(address[_STORE_STATE])
    share = ptr16(address[_STORE_SHARE])
    seen = state[_W_SEEN]
    if seen < _RUNS_MEMORY:
        seen += 1
        state[_W_SEEN] = seen
    for c in range(ptr32(address[_RING_SHAPE])[_R_CLASSES]):
        share[c] = share[c] + ((_WHOLE if c == label else 0) - share[c]) // seen
    same = int(label == state[_W_LABEL])
    run = state[_W_RUN] + 1
    if not same:
        run = 1
    if run <= _LONGEST:
        state[_W_RUN] = run
    state[_W_LABEL] = label
    state[_W_SAME] = state[_W_SAME] + ((_WHOLE if same else 0) - state[_W_SAME]) // seen


@micropython.viper
def in_runs(t) -> int:
    """Do labels come in runs?"""
    address = ptr32(t)
    share = ptr16(address[_STORE_SHARE])
    squares = 0  # Q18
    for c in range(ptr32(address[_RING_SHAPE])[_R_CLASSES]):
        p = share[c] >> 2  # Q14, and its square is at most 2**28
        squares += p * p >> 10
    if squares > _ONE_CLASS:
        return 1
    # same >= 0.6 + 0.4 s: 0.6 and 0.4 in Q10, then all in Q16
    return int(ptr32(address[_STORE_STATE])[_W_SAME] >= (614 << 6) + (410 * squares >> 12))


@micropython.viper
def take(t, rows, at: int, label: int) -> int:
    """Take in the sample whose codes start at rows[at], as the newest; returns its place."""
    note_label(t, label)
    return int(put(t, rows, at, label))


@micropython.viper
def put(t, rows, at: int, label: int) -> int:
    """Keep a sample that did not follow the sample before, so the runs ignore it."""
    address = ptr32(t)
    shape = ptr32(address[_RING_SHAPE])
    codes = ptr8(address[_RING_CODES])
    labels = ptr8(address[_RING_LABELS])
    count = ptr16(address[_STORE_COUNT])
    kept = ptr16(address[_STORE_KEPT])
    state = ptr32(address[_STORE_STATE])
    x = ptr16(rows)
    features = shape[_R_FEATURES]
    place = shape[_R_HEAD]
    if shape[_R_HELD] == shape[_R_LENGTH]:
        offer(t, place)
        gone = labels[place]
        count[gone] = count[gone] - 1
    else:
        shape[_R_HELD] = place + 1
        if place < state[_W_FIRST]:
            kept[label] = kept[label] + 1
    first = place * features  # < 65535 * 256 < 2**24
    for f in range(features):
        codes[first + f] = x[at + f] >> 8
    labels[place] = label
    count[label] = count[label] + 1
    ptr8(address[_STORE_AGAINST])[place] = 0
    after = place + 1
    shape[_R_HEAD] = after if after < shape[_R_LENGTH] else state[_W_FIRST]
    return place


@micropython.viper
def offer(t, place: int):
    """Keep the sample at a place of the ring outside the ring, if another sample gives way."""
    address = ptr32(t)
    victim = -1
    if int(count_against(t, place)) < _CONTRADICTED:
        if ptr32(address[_STORE_STATE])[_W_DOOMED] & (_FOREIGN - 1):
            victim = int(contradicted(t))
        elif int(in_runs(t)):
            victim = int(drawn(t, ptr8(address[_RING_LABELS])[place]))
        else:
            victim = int(oldest(t))
    if victim >= 0:
        replace(t, victim, place)


@micropython.viper
def count_against(t, place: int) -> int:
    """Return how often the sample at a place was contradicted."""
    address = ptr32(t)
    count = ptr8(address[_STORE_AGAINST])[place]
    if count > 127 and ptr32(address[_STORE_STATE])[_W_DOOMED] >= _FOREIGN:
        count = count & _COUNT
    return count


@micropython.viper
def contradicted(t) -> int:
    """Return the first place outside the ring whose sample is contradicted; there is one."""
    address = ptr32(t)
    against = ptr8(address[_STORE_AGAINST])
    most = 127 if ptr32(address[_STORE_STATE])[_W_DOOMED] >= _FOREIGN else 255
    place = -1
    count = 0
    while count < _CONTRADICTED:
        place += 1
        count = against[place]
        if count > most:
            count = count & _COUNT
    return place


@micropython.viper
def oldest(t) -> int:
    """Return where the oldest sample outside the ring is whose class has more than its share.

    There is one: five sixths of an equal share for each class do not fill all places.
    """
    address = ptr32(t)
    state = ptr32(address[_STORE_STATE])
    labels = ptr8(address[_RING_LABELS])
    kept = ptr16(address[_STORE_KEPT])
    first = state[_W_FIRST]
    share = first * 5 // (6 * ptr32(address[_RING_SHAPE])[_R_CLASSES])
    place = state[_W_HAND]
    while kept[labels[place]] <= share:
        place += 1
        if place == first:
            place = 0
    state[_W_HAND] = place + 1 if place + 1 < first else 0
    return place


@micropython.viper
def drawn(t, label: int) -> int:
    """Return the place in the reservoir for a sample with this label, or -1."""
    address = ptr32(t)
    kept = ptr16(address[_STORE_KEPT])
    count = ptr16(address[_STORE_COUNT])
    offered = ptr16(address[_STORE_OFFERED])
    most = label
    for c in range(ptr32(address[_RING_SHAPE])[_R_CLASSES]):
        if kept[c] and (kept[most] == 0 or 4 * kept[c] + count[c] > 4 * kept[most] + count[most]):
            most = c
    came = offered[label] + 1
    if came <= kept[label]:
        came = kept[label] + 1
    if came <= _MOST_OFFERED:
        offered[label] = came
    if most == label and int(below(t, _GROVE_RNG, came)) >= kept[label]:
        return -1
    labels = ptr8(address[_RING_LABELS])
    first = ptr32(address[_STORE_STATE])[_W_FIRST]
    place = int(below(t, _GROVE_RNG, first))
    while labels[place] != most:
        place += 1
        if place == first:
            place = 0
    return place


@micropython.viper
def replace(t, victim: int, place: int):
    """Copy the sample at a place over another one, and update the count of contradicted ones."""
    address = ptr32(t)
    state = ptr32(address[_STORE_STATE])
    codes = ptr8(address[_RING_CODES])
    labels = ptr8(address[_RING_LABELS])
    against = ptr8(address[_STORE_AGAINST])
    count = ptr16(address[_STORE_COUNT])
    kept = ptr16(address[_STORE_KEPT])
    features = ptr32(address[_RING_SHAPE])[_R_FEATURES]
    gone = labels[victim]
    label = labels[place]
    count[gone] = count[gone] - 1
    count[label] = count[label] + 1
    if victim < state[_W_FIRST]:
        kept[gone] = kept[gone] - 1
        kept[label] = kept[label] + 1
        if int(count_against(t, victim)) >= _CONTRADICTED:
            state[_W_DOOMED] = state[_W_DOOMED] - 1
        if int(count_against(t, place)) >= _CONTRADICTED:
            state[_W_DOOMED] = state[_W_DOOMED] + 1
    for f in range(features):
        codes[victim * features + f] = codes[place * features + f]
    labels[victim] = label
    against[victim] = against[place]


@micropython.viper
def fetch(t, row, place: int) -> int:
    """Write the codes of the sample at a place to the row; returns the sum of their upper bits."""
    address = ptr32(t)
    codes = ptr8(address[_RING_CODES])
    x = ptr16(row)
    features = ptr32(address[_RING_SHAPE])[_R_FEATURES]
    first = place * features  # < 65535 * 256 < 2**24
    total = 0  # <= 256 * 255
    for f in range(features):
        code = codes[first + f]
        x[f] = (code << 8) + 128
        total += code
    return total


@micropython.viper
def contradict(t, place: int, label: int, strength: int):
    """Count a new sample with a label for or against the sample at a place, which is near it."""
    address = ptr32(t)
    against = ptr8(address[_STORE_AGAINST])
    state = ptr32(address[_STORE_STATE])
    before = against[place]
    most = 255
    whose = 0
    if state[_W_DOOMED] >= _FOREIGN:
        most = 127
        if before > most:
            most = _COUNT
            whose = before - (before & _COUNT)
            before = before & _COUNT
    after = before - 1 if before else 0
    if ptr8(address[_RING_LABELS])[place] != label:
        after = before + strength if before < most - strength else most
    against[place] = whose + after
    if place < state[_W_FIRST]:
        change = int(after >= _CONTRADICTED) - int(before >= _CONTRADICTED)
        state[_W_DOOMED] = state[_W_DOOMED] + change


@micropython.viper
def forget(t, keep: int):
    """Keep only the newest samples: `keep` of them, or as many as there are on either side."""
    address = ptr32(t)
    shape = ptr32(address[_RING_SHAPE])
    state = ptr32(address[_STORE_STATE])
    codes = ptr8(address[_RING_CODES])
    labels = ptr8(address[_RING_LABELS])
    against = ptr8(address[_STORE_AGAINST])
    count = ptr16(address[_STORE_COUNT])
    kept = ptr16(address[_STORE_KEPT])
    features = shape[_R_FEATURES]
    first = state[_W_FIRST]
    if keep > first:
        keep = first
    if keep > shape[_R_LENGTH] - first:
        keep = shape[_R_LENGTH] - first
    if shape[_R_HELD] <= keep:
        return
    foreign = state[_W_DOOMED] & _FOREIGN
    low = first if shape[_R_HELD] == shape[_R_LENGTH] else 0
    place = shape[_R_HEAD] - keep
    if place < low:
        place += shape[_R_LENGTH] - low
    for c in range(shape[_R_CLASSES]):
        count[c] = 0
    for i in range(keep):  # from a later place to an earlier one: nothing is overwritten too soon
        for f in range(features):
            codes[i * features + f] = codes[place * features + f]
        label = labels[place]
        labels[i] = label
        whose = against[place]
        against[i] = whose - (whose & _COUNT) if whose > 127 and foreign else 0
        count[label] = count[label] + 1
        place += 1
        if place == shape[_R_LENGTH]:
            place = low
    for c in range(shape[_R_CLASSES]):
        kept[c] = count[c]
    shape[_R_HELD] = keep
    shape[_R_HEAD] = keep
    state[_W_HAND] = 0
    state[_W_DOOMED] = foreign
