"""When a node of a Hoeffding tree changes: Hoeffding's bound, regularization, EFDT's reviews.

Domingos, Hulten 2000; Manapragada, Webb, Salehi 2018; Barddal, Enembreck 2019: see tree.py.
The kernels' table t is described in learn.py.
"""

import micropython
from micropython import const

from ..fixed import square_root
from .histograms import merits
from .pool import release
from .split_leaf import divide
from .svfdt import permits

# From elsewhere, written by `make constants`:
# places of buffers
_STATE = const(0)
_MERITS = const(3)
_USED = const(4)
_TREE_FEATURE = const(8)
_TREE_THRESHOLD = const(9)
_TREE_CHILD = const(10)
_TREE_GAIN = const(12)
_OBSERVERS_FIRST = const(18)
_OBSERVERS_LOW = const(19)
_OBSERVERS_HIGH = const(20)
# hoeffding/histograms.py
_M_BEST = const(0)
_M_FEATURE = const(1)
_M_SECOND = const(4)
_M_SAMPLES = const(5)
_M_CURRENT = const(6)
# hoeffding/tree.py
_EFDT = const(1)
_SVFDT1 = const(2)
_S_BOUND = const(2)
_SVFDT2 = const(3)
_S_TIE = const(3)
_S_OMEGA = const(4)
_S_FEATURES = const(5)
_S_POLICY = const(8)
_S_HOST = const(14)
_S_ALTERNATE = const(15)
# (end)


@micropython.viper
def wants_split(t, slot: int, rows, at: int) -> int:
    """Hoeffding's bound: does the best split beat the second best, or not splitting (EFDT)?

    The leaf is the one that the sample at rows[at] reaches. With regularization a feature not yet
    used on the path counts less, and a used one has to gain more than it did there (Psi).
    """
    address = ptr32(t)
    state = ptr32(address[_STATE])
    two_best = ptr32(address[_MERITS])
    look_back(t, rows, at)
    merits(0, 0, 0, t, slot, state[_S_OMEGA], 0)
    best = two_best[_M_BEST]
    if not best or (state[_S_OMEGA] < 256 and ptr16(address[_USED])[two_best[_M_FEATURE]] > best):
        return 0
    rival = 0 if state[_S_POLICY] == _EFDT else two_best[_M_SECOND]
    epsilon = int(square_root(state[_S_BOUND] // two_best[_M_SAMPLES]))
    if best - rival <= epsilon and epsilon >= state[_S_TIE]:
        return 0
    if state[_S_POLICY] < _SVFDT1:
        return 1
    hasty = int(state[_S_POLICY] == _SVFDT2)
    return int(permits(t, slot, best, two_best[_M_SAMPLES], hasty))


@micropython.viper
def look_back(t, rows, at: int):
    """Note the best gain of each feature on the path to a leaf.

    Without regularization, it is as if each had been used, and had gained nothing.
    """
    address = ptr32(t)
    state = ptr32(address[_STATE])
    used = ptr16(address[_USED])
    feature = ptr8(address[_TREE_FEATURE])
    threshold = ptr16(address[_TREE_THRESHOLD])
    child = ptr16(address[_TREE_CHILD])
    gain = ptr16(address[_TREE_GAIN])
    x = ptr16(rows)
    regularized = int(state[_S_OMEGA] < 256)
    for f in range(state[_S_FEATURES]):
        used[f] = 1 - regularized
    node = 0
    while regularized:
        if state[_S_ALTERNATE] and node == state[_S_HOST]:
            node = state[_S_ALTERNATE]
        if not child[node]:
            return
        f = feature[node]
        if gain[node] >= used[f]:
            used[f] = gain[node] + 1
        node = child[node] + int(x[at + f] > threshold[node])


@micropython.viper
def review(t, node: int, slot: int) -> int:
    """EFDT: is there a better split than that of this inner node?

    If so, the subtree goes back to the pool, the node is split again, and its new left child is
    returned; otherwise 0. If no feature gains anything any more, the node becomes a leaf. The tie
    threshold is halved, as in MOA.
    """
    address = ptr32(t)
    state = ptr32(address[_STATE])
    used = ptr16(address[_USED])
    feature = ptr8(address[_TREE_FEATURE])
    two_best = ptr32(address[_MERITS])
    for f in range(state[_S_FEATURES]):
        used[f] = 1
    f = feature[node]
    k = slot * state[_S_FEATURES] + f
    first = ptr16(address[_OBSERVERS_FIRST])
    low = ptr16(address[_OBSERVERS_LOW])[k]
    span = ptr16(address[_OBSERVERS_HIGH])[k] - low + 1
    # the bin that the threshold ends, < 2**16 * 2**8
    at = (
        first[f]
        + (ptr16(address[_TREE_THRESHOLD])[node] - low) * (first[f + 1] - first[f]) // span
    )
    merits(0, 0, 0, t, slot, 256, at)
    if not two_best[_M_SAMPLES]:
        return 0
    if not two_best[_M_BEST]:
        release(t, node)
    else:
        lead = two_best[_M_BEST] - two_best[_M_CURRENT]
        epsilon = int(square_root(state[_S_BOUND] // two_best[_M_SAMPLES]))
        if lead > epsilon or (epsilon < state[_S_TIE] and 2 * lead > state[_S_TIE]):
            release(t, node)
            return int(divide(t, node))
    return 0
