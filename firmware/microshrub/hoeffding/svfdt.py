"""SVFDT: a leaf that VFDT would split must be as impure, and its split as good, as others were.

Turrisi da Costa, de Carvalho, Barbon: Strict Very Fast Decision Tree, Pattern Recognition Letters
116, 2018. The buffer "strict" holds four running statistics of three words each: the number of
values, at most 1024, their mean in 1/64, and their variance. Beyond 1024 values, older ones fade.
"""

import micropython
from micropython import const

from ..fixed import square_root
from .histograms import purity

# From elsewhere, written by `make constants`:
# places of buffers
_TALLY = const(2)
_STRICT = const(6)
_TREE_SHAPE = const(7)
_TREE_CHILD = const(10)
_TREE_SLOT = const(11)
_OBSERVERS_SHAPE = const(17)
_OBSERVERS_PRIOR = const(23)
# hoeffding/histograms.py
_O_CLASSES = const(1)
# hoeffding/pool.py
_N_NEXT_NODE = const(2)
_NO_SLOT = const(65535)
# (end)

_LEAVES = const(0)  # entropies of all learning leaves now, Q10
_ENTROPIES = const(3)  # at the moments when VFDT would have split: of the leaf, Q10
_GAINS = const(6)  # of the best split, Q10
_SAMPLES = const(9)  # that the leaf had seen
_STRICT_WORDS = const(12)

_MOST = const(1024)


@micropython.viper
def permits(t, slot: int, gain: int, samples: int, hasty: int) -> int:
    """May the leaf with this slot split, with this gain, after this number of samples?

    If hasty (SVFDT-II), high entropy of the leaf or a high gain of the split is enough by itself.
    """
    address = ptr32(t)
    seen = ptr32(address[_STRICT])
    child = ptr16(address[_TREE_CHILD])
    slots = ptr16(address[_TREE_SLOT])
    for i in range(3):
        seen[_LEAVES + i] = 0
    for node in range(ptr32(address[_TREE_SHAPE])[_N_NEXT_NODE]):
        if slots[node] != _NO_SLOT and not child[node]:
            note(t, _LEAVES, int(entropy(t, slots[node])))
    mine = int(entropy(t, slot))
    fine = int(reaches(t, _LEAVES, mine, 0 - 1))
    fine &= int(reaches(t, _ENTROPIES, mine, 0 - 1))
    fine &= int(reaches(t, _GAINS, gain, 0 - 1))
    fine &= int(reaches(t, _SAMPLES, samples, 0))
    if hasty:
        fine |= int(reaches(t, _GAINS, gain, 1))
        fine |= int(reaches(t, _ENTROPIES, mine, 1))
    note(t, _ENTROPIES, mine)
    note(t, _GAINS, gain)
    note(t, _SAMPLES, samples)
    return fine


@micropython.viper
def entropy(t, slot: int) -> int:
    """The entropy in Q10 of the classes of a slot."""
    address = ptr32(t)
    prior = ptr16(address[_OBSERVERS_PRIOR])
    counts = ptr32(address[_TALLY])
    classes = ptr32(address[_OBSERVERS_SHAPE])[_O_CLASSES]
    total = 0
    for c in range(classes):
        counts[c] = prior[slot * classes + c]
        total += counts[c]
    if not total:
        return 0
    return (0 - int(purity(t, 0, classes, total, 0))) // total


@micropython.viper
def note(t, k: int, value: int):
    """Add a value, 0..32767, to the running statistic at word k."""
    address = ptr32(t)
    s = ptr32(address[_STRICT])
    if s[k] < _MOST:
        s[k] = s[k] + 1
    before = value - (s[k + 1] >> 6)
    half = s[k] >> 1  # rounds both quotients
    s[k + 1] = s[k + 1] + ((value << 6) - s[k + 1] + half) // s[k]  # < 2**21
    after = value - (s[k + 1] >> 6)
    s[k + 2] = s[k + 2] + (before * after - s[k + 2] + half) // s[k]  # < 2**30
    if s[k + 2] < 0:
        s[k + 2] = 0


@micropython.viper
def reaches(t, k: int, value: int, deviations: int) -> int:
    """Is a value at least the mean plus that many standard deviations? Yes if there is no mean."""
    address = ptr32(t)
    s = ptr32(address[_STRICT])
    least = s[k + 1] + (deviations * int(square_root(s[k + 2])) << 6)  # < 2**21 each
    return int(s[k] == 0 or value << 6 >= least)
