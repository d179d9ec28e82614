"""Decides how many stored samples the nearest neighbours search, and how many of them vote.

Searching takes most of a prediction's time, so only `reach` samples are searched. While the
classes are mixed, these are the newest samples. In runs, two fifths are the newest samples, which
are of one class or two, and the others are spread over the rest of the places.

With few samples of a class, few neighbours vote: one for every twelve samples of a class, 1 to k.

A thicket of more than 64 KB may hold thousands of samples. Without concept drift, more samples
raise the accuracy; with drift, they lower it by more. So while the labels are mixed, the
neighbours of such a thicket predict twice: from the newest 1,024 samples alone, and from all of
them, by one search in two parts. The prediction with the higher accuracy over the last few hundred
labels counts, and trees grow on as many samples. Meanwhile the prediction from the newest samples
is kept in the buffers of a replayed sample (vote_mixing.py), as replay happens only while labels
come in runs.
"""

import micropython
from micropython import const

from .neighbours import ask, begin, count_votes, search
from .sample_store import in_runs

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_THICKET_STATE = const(0)
_GROVE_STATE = const(3)
_NEIGHBOURS_STATE = const(3)
_NEIGHBOURS_SAMPLE = const(5)
_NEIGHBOURS_DISTANCE = const(6)
_NEIGHBOURS_NEAREST = const(7)
_STORE_STATE = const(22)
_STORE_COUNT = const(24)
# thicket/members.py
_GROVE = const(0)
_NEIGHBOURS = const(1)
_THICKET = const(4)
_T_KNOWN = const(4)
_T_FRESH = const(5)
_AGAIN = const(6)
_T_PART = const(18)
_T_GAIN = const(19)
_T_OF_NEWEST = const(20)
_T_OF_ALL = const(21)
# thicket/neighbours.py
_N_MOST = const(0)
_N_REACH = const(1)
_N_VOTERS = const(2)
_N_SKIP = const(3)
_N_FROM = const(4)
_N_LOW = const(5)
_N_SECOND = const(5)
_N_SIZE = const(6)
_N_STEP = const(7)
_N_COUNT = const(8)
_FAR = const(65536)
# thicket/sample_ring.py
_R_LENGTH = const(0)
_R_FEATURES = const(1)
_R_CLASSES = const(2)
_R_HELD = const(3)
_R_HEAD = const(4)
# thicket/sample_store.py
_W_FIRST = const(0)
_W_HAND = const(1)
# thicket/trees.py
_G_RECENT = const(7)
# (end)

_FOR_EACH = const(12)  # samples of a class for each neighbour that votes
_ONE = const(1048576)  # 1 in Q20
_NEWEST = const(1024)
_MEMORY = const(8)  # log2 of the labels that are looked back over


@micropython.viper
def aim(t, near):
    """Write to the neighbours' state which samples of the store in table t they search."""
    address = ptr32(t)
    shape = ptr32(address[_RING_SHAPE])
    plan = ptr32(ptr32(near)[_NEIGHBOURS_STATE])
    held = shape[_R_HELD]
    reach = plan[_N_REACH] if plan[_N_REACH] < held else held
    low = 0
    if held == shape[_R_LENGTH]:
        low = ptr32(address[_STORE_STATE])[_W_FIRST]
    spread = 0
    if reach < held:
        spread = int(in_runs(t))
    newest = reach * 2 // 5 if spread else reach
    if newest > held - low:
        newest = held - low
    rest = low if low else held - newest
    plan[_N_VOTERS] = int(voters(t, plan[_N_MOST]))
    plan[_N_SKIP] = -1
    plan[_N_FROM] = shape[_R_HEAD]
    plan[_N_LOW] = low
    plan[_N_SIZE] = held - low
    plan[_N_STEP] = 1
    plan[_N_COUNT] = newest
    plan[_N_SECOND + _N_FROM] = ptr32(address[_STORE_STATE])[_W_HAND]
    plan[_N_SECOND + _N_LOW] = 0
    plan[_N_SECOND + _N_SIZE] = rest
    plan[_N_SECOND + _N_STEP] = int(stride(rest)) if spread else 1
    plan[_N_SECOND + _N_COUNT] = reach - newest


@micropython.viper
def find(t, rows, at: int) -> int:
    """Return whether the last search was for the sample whose label came.

    It was if the sample was predicted and no sample was taken in since. A function that changes
    held samples, or aims without a search, writes 0 for the number of nearest samples. t is the
    tuple that the kernels of members.py get.
    """
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    if state[_T_FRESH] == 0 or state[_T_KNOWN]:
        return 0
    shape = ptr32(ptr32(t[_GROVE])[_RING_SHAPE])
    near = ptr32(t[_NEIGHBOURS])
    plan = ptr32(near[_NEIGHBOURS_STATE])
    sample = ptr8(near[_NEIGHBOURS_SAMPLE])
    x = ptr16(rows)
    count = plan[_N_COUNT]
    b = shape[_R_HEAD] - count
    if b < plan[_N_LOW]:
        b += plan[_N_SIZE]
    if count == 0 or plan[_N_LOW] + plan[_N_SIZE] != shape[_R_HELD] or plan[_N_FROM] != b:
        return 0
    if ptr32(near[_NEIGHBOURS_DISTANCE])[plan[_N_MOST] - 1] == _FAR:
        return 0  # fewer than k: what is behind them would move on
    for f in range(shape[_R_FEATURES]):
        if sample[f] != x[at + f] >> 8:
            return 0
    return 1


@micropython.viper
def voters(t, most: int) -> int:
    """Return how many of the nearest samples vote."""
    address = ptr32(t)
    count = ptr16(address[_STORE_COUNT])
    came = 0
    for c in range(ptr32(address[_RING_SHAPE])[_R_CLASSES]):
        came += int(count[c] > 0)
    voting = ptr32(address[_RING_SHAPE])[_R_HELD] // (_FOR_EACH * came) if came else 1
    if voting > most:
        voting = most
    return voting if voting else 1


@micropython.viper
def stride(size: int) -> int:
    """Return a long step that visits each of `size` places once before it visits one again.

    It is about five eighths of `size`, with no common divisor (Euclid).
    """
    step = size * 5 // 8 + 1
    common = 0
    while common != 1:
        common = size
        rest = step
        while rest:
            k = common % rest
            common = rest
            rest = k
        step += 1
    return step - 1 if step <= size else 1


@micropython.viper
def ask_twice(t, rows, at: int) -> int:
    """Compute the neighbours' votes in a store of over 1,024 samples."""
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
def judge_lookback(t, label: int):
    """Note which of the two predictions was right; new trees use that many samples."""
    grove = ptr32(ptr32(t[_GROVE])[_GROVE_STATE])
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    if state[_T_OF_NEWEST] >= 0:
        ahead = int(state[_T_OF_NEWEST] == label) - int(state[_T_OF_ALL] == label)
        state[_T_GAIN] = state[_T_GAIN] + ((ahead * _ONE - state[_T_GAIN]) >> _MEMORY)
    grove[_G_RECENT] = _NEWEST if state[_T_OF_NEWEST] >= 0 and state[_T_GAIN] > 0 else 0
