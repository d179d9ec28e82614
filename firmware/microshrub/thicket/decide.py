"""Predicts the class that a thicket predicts when no labels come, without all of its votes.

    from microshrub.thicket.decide import decide

    label = decide(model, x)    # returns the same as model.predict(x)

The neighbours take most of the time of a prediction. Here they are searched last, and only where
their votes could change the class: on a Cortex-M0, this takes over a third fewer instructions
within 16 KB, and over half fewer within 64 KB. Afterwards, `model.votes` is invalid until the
next prediction.
"""

import micropython
from micropython import const

from .bayes import predict as ask_bayes
from .grove import predict as ask_grove
from .members import aim, arrive, ask, predict
from .neighbours import ask as ask_neighbours
from .sample_store import in_runs
from .softmax import predict as ask_softmax
from .thicket import Thicket
from .vote_mixing import even_out, mix, say_before, share_out

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_THICKET_STATE = const(0)
_THICKET_VOTES = const(1)
_THICKET_PREDICTIONS = const(2)
_NEIGHBOURS_STATE = const(3)
_THICKET_ACCURACY = const(3)
_NEIGHBOURS_VOTES = const(4)
_THICKET_SHARE = const(4)
_THICKET_ALONE = const(5)
# thicket/members.py
_GROVE = const(0)
_NEIGHBOURS = const(1)
_T_CLASSES = const(1)
_LATER = const(2)
_LOOKBACK = const(2)
_SOFTMAX = const(2)
_LAST = const(4)
_THICKET = const(4)
_BAYES = const(5)
_T_WITH_SOFTMAX = const(6)
_T_WITH_BAYES = const(8)
_T_WITH_REPLAY = const(9)
# thicket/neighbours.py
_N_COUNT = const(8)
# thicket/sample_ring.py
_R_HELD = const(3)
# thicket/vote_mixing.py
_FULL = const(256)
# (end)

_YOUNG = const(16)  # samples held: without any, the neighbours abstain
_MOST = const(4080)  # the most votes of a class, for a share of 1: 4095 * 4080 >> 8 >> 4


def decide(model, x):
    """Return the class that a Thicket predicts for x, array('H') of `features` codes.

    Raises ValueError for a model of another class. Allocates nothing.
    """
    if type(model) is not Thicket:
        raise ValueError("decide() is for a Thicket, not for a " + type(model).__name__)
    if x is not model._row or len(x) != model.features:
        model._check(x)
    return decide_alone(model._addresses, x, 0)


@micropython.viper
def decide_alone(t, rows, at: int) -> int:
    """Return the same as members.predict() for the sample at rows[at]."""
    address = ptr32(t[_THICKET])
    state = ptr32(address[_THICKET_STATE])
    predictions = ptr32(address[_THICKET_PREDICTIONS])
    arrive(t, rows, at)
    young = int(ptr32(ptr32(t[_GROVE])[_RING_SHAPE])[_R_HELD] < _YOUNG)
    if young or state[_T_WITH_REPLAY] == _LOOKBACK:
        return int(predict(t, rows, at))
    aim(t[_GROVE], t[_NEIGHBOURS])
    runs = int(in_runs(t[_GROVE]))
    evidence = _FULL
    if runs:
        ask_grove(t[_GROVE], rows, at)
        predictions[_BAYES] = -1
        if state[_T_WITH_BAYES]:
            predictions[_BAYES] = int(ask_bayes(t[_BAYES], rows, at))
        if state[_T_WITH_SOFTMAX]:
            ask_softmax(t[_SOFTMAX], rows, at)
        evidence = int(say_before(t))
    else:
        ask(t, rows, at, _LATER)
    predictions[_NEIGHBOURS] = 0  # any: they have samples, so they do not abstain
    predictions[_LAST] = -1
    left = int(share_out(t, _THICKET_ALONE if runs else _THICKET_ACCURACY, evidence))
    share = ptr32(address[_THICKET_SHARE])
    near = share[_NEIGHBOURS]
    share[_NEIGHBOURS] = 0
    best = int(mix(t, left))
    share[_NEIGHBOURS] = near
    if int(is_ahead(t[_THICKET], best, _MOST * near + 1)):
        ptr32(ptr32(t[_NEIGHBOURS])[_NEIGHBOURS_STATE])[_N_COUNT] = 0  # nothing was found
        return best
    ask_neighbours(t[_NEIGHBOURS], rows, at)
    if runs:
        even_out(t[_THICKET], t[_NEIGHBOURS], _NEIGHBOURS_VOTES)
    return int(mix(t, left))


@micropython.viper
def is_ahead(thicket, best: int, by: int) -> int:
    """Return whether a class has more than `by` votes more than any other class."""
    address = ptr32(thicket)
    votes = ptr32(address[_THICKET_VOTES])
    least = votes[best] - by
    for c in range(ptr32(address[_THICKET_STATE])[_T_CLASSES]):
        if c != best and votes[c] >= least:
            return 0
    return 1
