"""Whether labels come in runs, one class after the other, or mixed.

With `same` the share of labels that are as the one before, and s the sum of the squared shares of
the classes, which `same` would be if the classes were mixed, labels come in runs where

    rho = (same - s) / (1 - s) >= 0.6

and also where s > 15/16: with hardly more than one class, runs cannot be told from chance. The
shares look back over 256 labels, fewer at first. They are in the buffers of sample_store.py.
"""

import micropython
from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_STORE_STATE = const(22)
_STORE_SHARE = const(23)
# thicket/sample_ring.py
_R_CLASSES = const(2)
# thicket/sample_store.py
_W_SAME = const(3)
_W_SEEN = const(4)
_W_LABEL = const(5)
_W_RUN = const(6)
# (end)

_MEMORY = const(256)
_WHOLE = const(65535)  # 1 in Q16, nearly
_ALONE = const(245760)  # 15/16 in Q18
_LONGEST = const(65535)  # a run is not counted further


@micropython.viper
def note(t, label: int):
    """Note a label: how often the classes come, and whether it is as the one before."""
    address = ptr32(t)
    state = ptr32(address[_STORE_STATE])
    share = ptr16(address[_STORE_SHARE])
    seen = state[_W_SEEN]
    if seen < _MEMORY:
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
    if squares > _ALONE:
        return 1
    # same >= 0.6 + 0.4 s: 0.6 and 0.4 in Q10, then all in Q16
    return int(ptr32(address[_STORE_STATE])[_W_SAME] >= (614 << 6) + (410 * squares >> 12))
