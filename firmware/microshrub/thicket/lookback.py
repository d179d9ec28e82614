"""Decides how many samples the neighbours and trees use: the newest 1,024, or all that are held.

A thicket of more than 64 KB may hold thousands of samples. Without concept drift, more samples
raise the accuracy; with drift, they lower it by more. So while the labels are mixed, the
neighbours predict twice: from the newest samples alone, and from all of them, by one search in two
parts. The prediction with the higher accuracy over the last few hundred labels counts, and trees
grow on as many samples. Meanwhile the prediction from the newest samples is kept in the buffers of
a replayed sample (vote_mixing.py), as replay happens only while labels come in runs.
"""

import micropython
from micropython import const

from .neighbours import ask, begin, count_votes, search
from .sample_store import in_runs

# From elsewhere, written by `make constants`:
# places of buffers
_THICKET_STATE = const(0)
_GROVE_STATE = const(3)
_NEIGHBOURS_STATE = const(3)
_NEIGHBOURS_DISTANCE = const(6)
_NEIGHBOURS_NEAREST = const(7)
# thicket/members.py
_GROVE = const(0)
_NEIGHBOURS = const(1)
_THICKET = const(4)
_AGAIN = const(6)
_T_PART = const(18)
_T_GAIN = const(19)
_T_OF_NEWEST = const(20)
_T_OF_ALL = const(21)
# thicket/neighbours.py
_N_MOST = const(0)
_N_SECOND = const(5)
_N_COUNT = const(8)
# thicket/trees.py
_G_RECENT = const(7)
# (end)

_ONE = const(1048576)  # 1 in Q20
_NEWEST = const(1024)
_MEMORY = const(8)  # log2 of the labels that are looked back over


@micropython.viper
def ask_twice(t, rows, at: int) -> int:
    """Compute the neighbours' votes in a store of over 1,024 samples, see neighbour_reach.py."""
    near = t[_NEIGHBOURS]
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    plan = ptr32(ptr32(near)[_NEIGHBOURS_STATE])
    count = plan[_N_COUNT]
    newest = _NEWEST if count > _NEWEST else count
    state[_T_OF_NEWEST] = -1
    if int(in_runs(t[_GROVE])) or newest == count + plan[_N_SECOND + _N_COUNT]:
        return int(ask(near, rows, at))
    begin(near, rows, at)
    search(0, 0, near, 0, newest)
    state[_T_OF_NEWEST] = int(count_votes(near))
    state[_T_PART] = 0
    copy(near, t[_AGAIN])
    search(0, 0, near, 0, count - newest)
    search(0, 0, near, _N_SECOND, plan[_N_SECOND + _N_COUNT])
    if state[_T_GAIN] > 0:
        state[_T_OF_ALL] = int(count_votes(near))
        copy(t[_AGAIN], near)
    predicted = int(count_votes(near))
    if state[_T_GAIN] <= 0:
        state[_T_OF_ALL] = predicted
    return predicted


@micropython.viper
def copy(source, target):
    """Copy the nearest samples of one search to another search."""
    distance = ptr32(ptr32(source)[_NEIGHBOURS_DISTANCE])
    nearest = ptr16(ptr32(source)[_NEIGHBOURS_NEAREST])
    distances = ptr32(ptr32(target)[_NEIGHBOURS_DISTANCE])
    places = ptr16(ptr32(target)[_NEIGHBOURS_NEAREST])
    for r in range(ptr32(ptr32(source)[_NEIGHBOURS_STATE])[_N_MOST]):
        distances[r] = distance[r]
        places[r] = nearest[r]


@micropython.viper
def judge(t, label: int):
    """Note which of the two predictions was right; new trees use that many samples."""
    grove = ptr32(ptr32(t[_GROVE])[_GROVE_STATE])
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    if state[_T_OF_NEWEST] >= 0:
        ahead = int(state[_T_OF_NEWEST] == label) - int(state[_T_OF_ALL] == label)
        state[_T_GAIN] = state[_T_GAIN] + ((ahead * _ONE - state[_T_GAIN]) >> _MEMORY)
    grove[_G_RECENT] = _NEWEST if state[_T_OF_NEWEST] >= 0 and state[_T_GAIN] > 0 else 0
