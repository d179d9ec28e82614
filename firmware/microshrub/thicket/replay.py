"""Replay: the accuracy of members without a fresh label, estimated on stored samples.

While labels come in runs, samples of all classes in turn are drawn from the store, asked once more
and not learned; the neighbours leave them out. So that no label takes twice the time of another,
one sample takes five labels: the grove and naive Bayes are asked with the first one, and each of
the four others searches a quarter of what the neighbours search, in buffers of its own:

    replay.row                                        'H'  [features] the sample's codes
    replay.state, .sample, .distance, .nearest        as neighbours.py has them

The trees have grown on the sample, which flatters them; measured, that does no harm.
"""

import micropython
from micropython import const

from ..fixed import below
from .bayes import predict as ask_bayes
from .grove import predict as ask_grove
from .neighbour_reach import aim
from .neighbours import begin, count_votes, search
from .vote_mixing import compare_classes, even_out

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_THICKET_STATE = const(0)
_RING_CODES = const(1)
_RING_LABELS = const(2)
_NEIGHBOURS_STATE = const(3)
_GROVE_VOTES = const(4)
_NEIGHBOURS_VOTES = const(4)
_THICKET_ALONE = const(5)
_GROVE_RNG = const(17)
_STORE_COUNT = const(24)
# thicket/grove.py
_ONE = const(1048576)
# thicket/members.py
_GROVE = const(0)
_T_FEATURES = const(0)
_NEIGHBOURS = const(1)
_T_CLASSES = const(1)
_OWN = const(4)
_BAYES = const(5)
_AGAIN = const(6)
_ROW = const(7)
_T_WITH_BAYES = const(8)
_T_TURN = const(16)
_T_PLACE = const(17)
_T_PART = const(18)
# thicket/neighbours.py
_N_SKIP = const(3)
_N_SECOND = const(5)
_N_COUNT = const(8)
# thicket/sample_ring.py
_R_HELD = const(3)
# (end)

_PARTS = const(4)  # of a search
_MEMORY = const(5)  # log2 of the samples that an accuracy looks back over


@micropython.viper
def replay(t):
    """Go on with the sample that is judged, or draw another one; there is one at least."""
    state = ptr32(ptr32(t[_OWN])[_THICKET_STATE])
    part = state[_T_PART]
    if part == 0:
        draw(t)
        ask(t)
    else:
        look(t[_AGAIN], 0, part)
        look(t[_AGAIN], _N_SECOND, part)
        if part == _PARTS:
            count_votes(t[_AGAIN])
            compare_classes(t)
            judge(t[_OWN], _NEIGHBOURS, int(even_out(t[_OWN], t[_AGAIN], _NEIGHBOURS_VOTES)))
    state[_T_PART] = part + 1 if part < _PARTS else 0


@micropython.viper
def draw(t):
    """Draw a sample of the class whose turn it is; its codes go to the row."""
    state = ptr32(ptr32(t[_OWN])[_THICKET_STATE])
    address = ptr32(t[_GROVE])
    count = ptr16(address[_STORE_COUNT])
    codes = ptr8(address[_RING_CODES])
    labels = ptr8(address[_RING_LABELS])
    held = ptr32(address[_RING_SHAPE])[_R_HELD]
    x = ptr16(t[_ROW])
    label = state[_T_TURN] + 1
    while label >= state[_T_CLASSES] or count[label] == 0:
        label = label + 1 if label < state[_T_CLASSES] else 0
    place = int(below(t[_GROVE], _GROVE_RNG, held))
    while labels[place] != label:
        place += 1
        if place == held:
            place = 0
    first = place * state[_T_FEATURES]  # < 65535 * 256 < 2**24
    for f in range(state[_T_FEATURES]):
        x[f] = (codes[first + f] << 8) + 128
    state[_T_TURN] = label
    state[_T_PLACE] = place


@micropython.viper
def ask(t):
    """Judge the grove and naive Bayes by the row, and begin the neighbours' search."""
    state = ptr32(ptr32(t[_OWN])[_THICKET_STATE])
    ask_grove(t[_GROVE], t[_ROW], 0)
    compare_classes(t)
    judge(t[_OWN], _GROVE, int(even_out(t[_OWN], t[_GROVE], _GROVE_VOTES)))
    if state[_T_WITH_BAYES]:
        judge(t[_OWN], _BAYES, int(ask_bayes(t[_BAYES], t[_ROW], 0)))
    aim(t[_GROVE], t[_AGAIN])
    ptr32(ptr32(t[_AGAIN])[_NEIGHBOURS_STATE])[_N_SKIP] = state[_T_PLACE]
    begin(t[_AGAIN], t[_ROW], 0)


@micropython.viper
def look(t, plan: int, part: int):
    """One of the parts of a search."""
    count = ptr32(ptr32(t)[_NEIGHBOURS_STATE])[plan + _N_COUNT]
    search(0, 0, t, plan, count * part // _PARTS - count * (part - 1) // _PARTS)


@micropython.viper
def judge(own, k: int, predicted: int):
    """Note whether member k was right about the replayed sample; it may have abstained."""
    address = ptr32(own)
    if predicted >= 0:
        alone = ptr32(address[_THICKET_ALONE])
        right = _ONE if predicted == ptr32(address[_THICKET_STATE])[_T_TURN] else 0
        alone[k] = alone[k] + ((right - alone[k]) >> _MEMORY)
