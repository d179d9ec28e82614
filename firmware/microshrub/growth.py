"""When a node of a Hoeffding tree changes: Hoeffding's bound, regularization, EFDT's reviews.

Domingos, Hulten 2000; Manapragada, Webb, Salehi 2018; Barddal, Enembreck 2019: see hoeffding.py,
whose tuple of buffers t is.
"""

import micropython
from micropython import const

from .fixed import square_root
from .nodes import divide, release
from .observers import merits

_STATE = const(0)  # of the kernels' tuple: 'i' the integers below
_TALLY = const(2)  # 'i' [2 * classes] scratch: class counts left and right of a split
_MERITS = const(3)  # 'i' what observers.merits found
_USED = const(4)  # 'B' [features] 1: tested on the path to the leaf
_NODES = const(5)
_SLOTS = const(6)

_BOUND = const(2)  # of the state: R**2 ln(1 / delta) / 2 in Q20
_TIE = const(3)  # Q10
_OMEGA = const(4)  # 256: no regularization
_FEATURES = const(5)
_EAGER = const(8)  # 1: policy "efdt"

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
    used = ptr8(t[_USED])
    feature = ptr8(t[_NODES][1])
    threshold = ptr16(t[_NODES][2])
    child = ptr16(t[_NODES][3])
    gain = ptr16(t[_NODES][5])
    found = ptr32(t[_MERITS])
    x = ptr16(rows)
    regularized = int(state[_OMEGA] < 256)
    for f in range(state[_FEATURES]):
        used[f] = 1 - regularized
    node = 0
    while regularized and child[node]:
        used[feature[node]] = 1
        node = child[node] + int(x[at + feature[node]] > threshold[node])
    merits(t[_SLOTS], slot, t[_MERITS], t[_TALLY], state[_OMEGA], t[_USED], 0)
    best = found[_BEST]
    if not best:
        return 0
    node = 0
    while regularized and child[node]:
        if feature[node] == found[_FEATURE] and gain[node] >= best:
            return 0
        node = child[node] + int(x[at + feature[node]] > threshold[node])
    rival = 0 if state[_EAGER] else found[_SECOND]
    epsilon = int(square_root(state[_BOUND] // found[_SAMPLES]))
    return int(best - rival > epsilon or epsilon < state[_TIE])


@micropython.viper
def review(t, node: int, slot: int):
    """EFDT: is another feature better than the one that this inner node tests?

    Then the subtree goes back to the pool and the node is split anew; if no feature gains anything
    any more, it becomes a leaf. The tie threshold counts half, as in MOA.
    """
    state = ptr32(t[_STATE])
    used = ptr8(t[_USED])
    feature = ptr8(t[_NODES][1])
    found = ptr32(t[_MERITS])
    for f in range(state[_FEATURES]):
        used[f] = 1
    merits(t[_SLOTS], slot, t[_MERITS], t[_TALLY], 256, t[_USED], feature[node])
    if not found[_SAMPLES]:
        return
    if not found[_BEST]:
        release(t[_NODES], node)
    elif found[_FEATURE] != feature[node]:
        lead = found[_BEST] - found[_CURRENT]
        epsilon = int(square_root(state[_BOUND] // found[_SAMPLES]))
        if lead > epsilon or (epsilon < state[_TIE] and 2 * lead > state[_TIE]):
            release(t[_NODES], node)
            divide(t[_NODES], t[_SLOTS], t[_MERITS], t[_TALLY], node)
