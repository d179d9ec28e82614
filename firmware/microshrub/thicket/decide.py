"""The class alone that a thicket says where nobody tells labels, without its votes.

    from microshrub.thicket.decide import decide

    label = decide(model, x)    # what model.predict(x) returns

The neighbours take most of the time of a prediction. Here they are asked last, and only where
their votes, whatever these may be, could change the answer: on a Cortex-M0, that takes two fifths
fewer instructions within 16 KB, and two thirds fewer within 64 KB. What `model.votes` holds
afterwards is of no use; the next prediction makes them anew.
"""

import micropython
from micropython import const

from .alone import compare_classes, even_out, predict_alone, share_out
from .bayes import predict as ask_bayes
from .grove import predict as ask_grove
from .members import arrive
from .mixing import mix
from .neighbours import ask as ask_neighbours
from .reach import aim
from .thicket import Thicket

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_THICKET_STATE = const(0)
_THICKET_VOTES = const(1)
_THICKET_SAID = const(2)
_NEIGHBOURS_STATE = const(3)
_GROVE_VOTES = const(4)
_NEIGHBOURS_VOTES = const(4)
_THICKET_SHARE = const(4)
# thicket/members.py
_GROVE = const(0)
_NEIGHBOURS = const(1)
_T_CLASSES = const(1)
_LOOKBACK = const(2)
_SOFTMAX = const(2)
_SHRUBS = const(3)
_LAST = const(4)
_OWN = const(4)
_BAYES = const(5)
_T_WITH_BAYES = const(8)
_T_WITH_REPLAY = const(9)
# thicket/neighbours.py
_N_COUNT = const(8)
# thicket/ring.py
_R_HELD = const(3)
# (end)

_YOUNG = const(16)  # samples held: without any, the neighbours abstain
_MOST = const(4080)  # of a class's votes, for a share of 1: 4095 * 4080 >> 8 >> 4


def decide(model, x):
    """The class of x, array('H') of `features` codes, that a Thicket predicts.

    Raises ValueError for a model of another kind. Allocates nothing.
    """
    if type(model) is not Thicket:
        raise ValueError("decide() is for a Thicket, not for a " + type(model).__name__)
    if x is not model._row or len(x) != model.features:
        model._check(x)
    return decide_alone(model._addresses, x, 0)


@micropython.viper
def decide_alone(t, rows, at: int) -> int:
    """What members.predict() returns for the sample at rows[at]."""
    address = ptr32(t[_OWN])
    own = ptr32(address[_THICKET_STATE])
    said = ptr32(address[_THICKET_SAID])
    arrive(t, rows, at)
    young = int(ptr32(ptr32(t[_GROVE])[_RING_SHAPE])[_R_HELD] < _YOUNG)
    if young or own[_T_WITH_REPLAY] == _LOOKBACK:
        return int(predict_alone(t, rows, at))
    aim(t[_GROVE], t[_NEIGHBOURS])
    ask_grove(t[_GROVE], rows, at)
    said[_BAYES] = -1
    if own[_T_WITH_BAYES]:
        said[_BAYES] = int(ask_bayes(t[_BAYES], rows, at))
    compare_classes(t)
    said[_GROVE] = int(even_out(t[_OWN], t[_GROVE], _GROVE_VOTES))
    said[_NEIGHBOURS] = 0  # any: they have samples, so they do not abstain
    said[_SOFTMAX] = -1
    said[_SHRUBS] = -1
    said[_LAST] = -1
    share_out(t)
    share = ptr32(address[_THICKET_SHARE])
    near = share[_NEIGHBOURS]
    share[_NEIGHBOURS] = 0
    best = int(mix(t))
    share[_NEIGHBOURS] = near
    if int(is_ahead(t[_OWN], best, _MOST * near + 1)):
        ptr32(ptr32(t[_NEIGHBOURS])[_NEIGHBOURS_STATE])[_N_COUNT] = 0  # nothing was found
        return best
    ask_neighbours(t[_NEIGHBOURS], rows, at)
    said[_NEIGHBOURS] = int(even_out(t[_OWN], t[_NEIGHBOURS], _NEIGHBOURS_VOTES))
    return int(mix(t))


@micropython.viper
def is_ahead(own, best: int, by: int) -> int:
    """Whether a class has more votes than any other one, by more than so many."""
    address = ptr32(own)
    votes = ptr32(address[_THICKET_VOTES])
    least = votes[best] - by
    for c in range(ptr32(address[_THICKET_STATE])[_T_CLASSES]):
        if c != best and votes[c] >= least:
            return 0
    return 1
