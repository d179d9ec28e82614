"""How the nearest neighbours of a sample are found: all that can be among them are looked at.

The distance of two samples is the sum over the features of |code - code|. To add one up, no sign
is looked at: |gap| stands in a table of bytes, at 255 + gap, whose address comes behind those of
the buffers of neighbours.py. Each of the first twelve features has an address in it, moved by the
sample's own code, from which on a code of the ring finds its distance: that takes two loads.
"""

import micropython
from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_RING_CODES = const(1)
_NEIGHBOURS_STATE = const(3)
_NEIGHBOURS_SAMPLE = const(5)
_NEIGHBOURS_DISTANCE = const(6)
_NEIGHBOURS_NEAREST = const(7)
# thicket/neighbours.py
_N_MOST = const(0)
_N_SKIP = const(3)
_N_FROM = const(4)
_N_LOW = const(5)
_N_SIZE = const(6)
_N_STEP = const(7)
_FAR = const(65536)
# thicket/ring.py
_R_FEATURES = const(1)
# (end)

_GAPS = const(8)  # the place of the table of |gap|


@micropython.viper
def begin(t, rows, at: int):
    """Nothing was found near the sample at rows[at] yet."""
    address = ptr32(t)
    sample = ptr8(address[_NEIGHBOURS_SAMPLE])
    distance = ptr32(address[_NEIGHBOURS_DISTANCE])
    x = ptr16(rows)
    for f in range(ptr32(address[_RING_SHAPE])[_R_FEATURES]):
        sample[f] = x[at + f] >> 8
    for r in range(ptr32(address[_NEIGHBOURS_STATE])[_N_MOST]):
        distance[r] = _FAR


# Of the next one, away and row are 0: viper keeps the first arguments in registers.


@micropython.viper
def search(away: int, row: int, t, plan: int, count: int):
    """Look at `count` samples more; a sum that passes the k-th best so far is not added up.

    plan is where the search's words begin. A sum grows by four features at a time: of the first
    twelve, each has its own variable, and so have the up to three that are left over.
    """
    address = ptr32(t)
    sample = ptr8(address[_NEIGHBOURS_SAMPLE])
    distance = ptr32(address[_NEIGHBOURS_DISTANCE])
    nearest = ptr16(address[_NEIGHBOURS_NEAREST])
    state = ptr32(address[_NEIGHBOURS_STATE])
    features = ptr32(address[_RING_SHAPE])[_R_FEATURES]
    last = state[_N_MOST] - 1
    step = state[plan + _N_STEP]
    farthest = distance[last]
    b = state[plan + _N_FROM]
    gap = address[_GAPS] + 255
    four = int(features >= 4)
    if four:
        gap0 = gap - sample[0]
        gap1 = gap - sample[1]
        gap2 = gap - sample[2]
        gap3 = gap - sample[3]
    eight = int(features >= 8)
    if eight:
        gap4 = gap - sample[4]
        gap5 = gap - sample[5]
        gap6 = gap - sample[6]
        gap7 = gap - sample[7]
    twelve = int(features >= 12)
    if twelve:
        gap8 = gap - sample[8]
        gap9 = gap - sample[9]
        gap10 = gap - sample[10]
        gap11 = gap - sample[11]
    low = state[plan + _N_LOW]
    size = state[plan + _N_SIZE]
    stride = features * step
    around = features * size  # < 65536 * 256 = 2**24
    done = 4 * (four + eight + twelve)
    odd = (features - done) & 3
    if odd:
        gap12 = gap - sample[done]
        if odd > 1:
            gap13 = gap - sample[done + 1]
            if odd > 2:
                gap14 = gap - sample[done + 2]
    fours = (features - done) >> 2
    row = address[_RING_CODES] + b * features
    while count:
        count -= 1
        b -= step
        row -= stride
        if b < low:
            b += size
            row += around
        away = 0  # <= 256 * 255 < 2**16
        if four:
            away = ptr8(gap0)[ptr8(row)[0]]
            away += ptr8(gap1)[ptr8(row)[1]]
            away += ptr8(gap2)[ptr8(row)[2]]
            away += ptr8(gap3)[ptr8(row)[3]]
            if away >= farthest:
                continue
        if eight:
            away += ptr8(gap4)[ptr8(row)[4]]
            away += ptr8(gap5)[ptr8(row)[5]]
            away += ptr8(gap6)[ptr8(row)[6]]
            away += ptr8(gap7)[ptr8(row)[7]]
            if away >= farthest:
                continue
        if twelve:
            away += ptr8(gap8)[ptr8(row)[8]]
            away += ptr8(gap9)[ptr8(row)[9]]
            away += ptr8(gap10)[ptr8(row)[10]]
            away += ptr8(gap11)[ptr8(row)[11]]
            if away >= farthest:
                continue
        if odd:
            y = row + done
            away += ptr8(gap12)[ptr8(y)[0]]
            if odd > 1:
                away += ptr8(gap13)[ptr8(y)[1]]
                if odd > 2:
                    away += ptr8(gap14)[ptr8(y)[2]]
        if fours:
            x = address[_NEIGHBOURS_SAMPLE] + done + odd
            y = row + done + odd
            left = fours
            while left:
                away += ptr8(gap)[ptr8(y)[0] - ptr8(x)[0]]
                away += ptr8(gap)[ptr8(y)[1] - ptr8(x)[1]]
                away += ptr8(gap)[ptr8(y)[2] - ptr8(x)[2]]
                away += ptr8(gap)[ptr8(y)[3] - ptr8(x)[3]]
                y += 4
                x += 4
                left = left - 1 if away < farthest else 0
        if away < farthest and b != state[_N_SKIP]:
            r = last
            while r > 0 and distance[r - 1] > away:
                distance[r] = distance[r - 1]
                nearest[r] = nearest[r - 1]
                r -= 1
            distance[r] = away
            nearest[r] = b
            farthest = distance[last]
    state[plan + _N_FROM] = b
