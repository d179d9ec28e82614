"""When a node of a Hoeffding tree changes: Hoeffding's bound, regularization, EFDT's reviews.

Domingos, Hulten 2000; Manapragada, Webb, Salehi 2018; Barddal, Enembreck 2019: see hoeffding.py.
The kernels' tuple t is described in descent.py.
"""

import micropython
from micropython import const

from ..fixed import square_root
from .histograms import merits
from .pool import release
from .split_leaf import divide
from .svfdt import permits

_STATE = const(0)
_TALLY = const(2)
_MERITS = const(3)
_USED = const(4)  # [features] 0: not tested on the path to the leaf, else 1 + its best gain there
_STRICT = const(6)
_NODES = const(7)
_SLOTS = const(8)

_BOUND = const(2)  # of the state: R**2 ln(1 / delta) / 2 in Q20
_TIE = const(3)  # Q10
_OMEGA = const(4)  # 256: no regularization
_FEATURES = const(5)
_POLICY = const(8)
_HOST = const(14)  # the node whose alternate subtree learns
_ALTERNATE = const(15)  # that subtree's root, or 0 if it is the tree itself

_EFDT = const(1)
_SVFDT1 = const(2)
_SVFDT2 = const(3)

_BEST = const(0)  # of the merits, see observers.py
_FEATURE = const(1)
_SECOND = const(4)
_SAMPLES = const(5)
_CURRENT = const(6)


@micropython.viper
def wants_split(t, slot: int, rows, at: int) -> int:
    """Hoeffding's bound: does the best split beat the second best, or not splitting (EFDT)?

    The leaf is the one that the sample at rows[at] reaches. With regularization a feature not yet
    used on the path counts less, and a used one has to gain more than it did there (Psi).
    """
    state = ptr32(t[_STATE])
    found = ptr32(t[_MERITS])
    look_back(t, rows, at)
    merits(t[_SLOTS], slot, t[_MERITS], t[_TALLY], state[_OMEGA], t[_USED], 0)
    best = found[_BEST]
    if not best or (state[_OMEGA] < 256 and ptr16(t[_USED])[found[_FEATURE]] > best):
        return 0
    rival = 0 if state[_POLICY] == _EFDT else found[_SECOND]
    epsilon = int(square_root(state[_BOUND] // found[_SAMPLES]))
    if best - rival <= epsilon and epsilon >= state[_TIE]:
        return 0
    if state[_POLICY] < _SVFDT1:
        return 1
    hasty = int(state[_POLICY] == _SVFDT2)
    n = found[_SAMPLES]
    return int(permits(t[_NODES], t[_SLOTS], t[_STRICT], t[_TALLY], slot, best, n, hasty))


@micropython.viper
def look_back(t, rows, at: int):
    """Note for each feature the best gain that it had on the path to a leaf.

    Without regularization it is as if each had been used, and gained nothing.
    """
    state = ptr32(t[_STATE])
    used = ptr16(t[_USED])
    feature = ptr8(t[_NODES][1])
    threshold = ptr16(t[_NODES][2])
    child = ptr16(t[_NODES][3])
    gain = ptr16(t[_NODES][5])
    x = ptr16(rows)
    regularized = int(state[_OMEGA] < 256)
    for f in range(state[_FEATURES]):
        used[f] = 1 - regularized
    node = 0
    while regularized:
        if state[_ALTERNATE] and node == state[_HOST]:
            node = state[_ALTERNATE]
        if not child[node]:
            return
        f = feature[node]
        if gain[node] >= used[f]:
            used[f] = gain[node] + 1
        node = child[node] + int(x[at + f] > threshold[node])


@micropython.viper
def review(t, node: int, slot: int) -> int:
    """EFDT: is there a better split than that of this inner node?

    Then the subtree goes back to the pool and the node is split anew, which returns its new left
    child, else 0; if no feature gains anything any more, the node becomes a leaf. The tie
    threshold counts half, as in MOA.
    """
    state = ptr32(t[_STATE])
    used = ptr16(t[_USED])
    feature = ptr8(t[_NODES][1])
    found = ptr32(t[_MERITS])
    for f in range(state[_FEATURES]):
        used[f] = 1
    f = feature[node]
    k = slot * state[_FEATURES] + f
    first = ptr16(t[_SLOTS][1])
    low = ptr16(t[_SLOTS][2])[k]
    span = ptr16(t[_SLOTS][3])[k] - low + 1
    # the bin that the threshold ends, < 2**16 * 2**8
    at = first[f] + (ptr16(t[_NODES][2])[node] - low) * (first[f + 1] - first[f]) // span
    merits(t[_SLOTS], slot, t[_MERITS], t[_TALLY], 256, t[_USED], at)
    if not found[_SAMPLES]:
        return 0
    if not found[_BEST]:
        release(t[_NODES], node)
    else:
        lead = found[_BEST] - found[_CURRENT]
        epsilon = int(square_root(state[_BOUND] // found[_SAMPLES]))
        if lead > epsilon or (epsilon < state[_TIE] and 2 * lead > state[_TIE]):
            release(t[_NODES], node)
            return int(divide(t[_NODES], t[_SLOTS], t[_MERITS], t[_TALLY], node))
    return 0
