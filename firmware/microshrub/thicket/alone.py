"""What a thicket says where nobody tells labels: a function of the row, whatever came before it.

Members that follow runs of one label abstain. The others have a second accuracy, of samples whose
label could not be guessed from the one before: the first after a change of label, here, and some
that are held, see replay.py.

While somebody teaches, what he shows most is not what is likely later. So the votes of the grove
and of the neighbours are divided by the share that each class has of the samples held (Elkan: The
Foundations of Cost-Sensitive Learning, IJCAI 2001, theorem 2); with prior="taught" they are not.

The buffers are those of thicket.py.
"""

import micropython
from micropython import const

from .bayes import predict as ask_bayes
from .grove import predict as ask_grove
from .lookback import ask_twice
from .mixing import divide, mix, weigh
from .neighbours import ask as ask_neighbours
from .reach import aim
from .runs import in_runs

# From elsewhere, written by `make constants`:
# places of buffers
_THICKET_STATE = const(0)
_THICKET_SAID = const(2)
_GROVE_VOTES = const(4)
_NEIGHBOURS_VOTES = const(4)
_THICKET_SHARE = const(4)
_THICKET_ALONE = const(5)
_THICKET_FACTOR = const(6)
_STORE_STATE = const(22)
_STORE_COUNT = const(24)
# thicket/grove.py
_ONE = const(1048576)
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
_MEMBERS = const(6)
_T_WITH_BAYES = const(8)
_T_WITH_REPLAY = const(9)
_T_EVEN = const(10)
# thicket/store.py
_W_SEEN = const(4)
# (end)

_SHARPNESS_ALONE = const(20)
_SHARPNESS_IN_RUNS = const(10)
_SETTLED = const(256)  # labels from which on the grove counts twice
_RAREST = const(4)  # log2 of how much rarer than the most frequent one a class may be here
_CHANGES = const(6)  # log2 of the changes of label that an accuracy looks back over


@micropython.viper
def predict_alone(t, rows, at: int) -> int:
    """The class of the sample at rows[at]; leaves the votes in the table."""
    address = ptr32(t[_OWN])
    own = ptr32(address[_THICKET_STATE])
    said = ptr32(address[_THICKET_SAID])
    aim(t[_GROVE], t[_NEIGHBOURS])
    ask_grove(t[_GROVE], rows, at)
    if own[_T_WITH_REPLAY] == _LOOKBACK:
        ask_twice(t, rows, at)
    else:
        ask_neighbours(t[_NEIGHBOURS], rows, at)
    said[_BAYES] = -1
    if own[_T_WITH_BAYES]:
        said[_BAYES] = int(ask_bayes(t[_BAYES], rows, at))
    say_alone(t)
    share_out(t)
    return int(mix(t))


@micropython.viper
def share_out(t):
    """Share the votes out among the members that do not abstain.

    While classes are mixed, the best one has nearly all, and the grove counts twice. In runs, it
    is asked again about what it has grown on, so accuracies tell less: shares are more even.
    """
    if int(in_runs(t[_GROVE])):
        weigh(t[_OWN], _THICKET_ALONE, _SHARPNESS_IN_RUNS)
    else:
        weigh(t[_OWN], _THICKET_ALONE, _SHARPNESS_ALONE)
        if ptr32(ptr32(t[_GROVE])[_STORE_STATE])[_W_SEEN] >= _SETTLED:
            share = ptr32(ptr32(t[_OWN])[_THICKET_SHARE])
            share[_GROVE] = 2 * share[_GROVE]
    divide(t[_OWN])


@micropython.viper
def say_alone(t):
    """Even out the votes of the grove and of the neighbours; the other members abstain."""
    said = ptr32(ptr32(t[_OWN])[_THICKET_SAID])
    compare_classes(t)
    said[_GROVE] = int(even_out(t[_OWN], t[_GROVE], _GROVE_VOTES))
    said[_NEIGHBOURS] = int(even_out(t[_OWN], t[_NEIGHBOURS], _NEIGHBOURS_VOTES))
    said[_SOFTMAX] = -1
    said[_SHRUBS] = -1
    said[_LAST] = -1


@micropython.viper
def compare_classes(t):
    """What each class's votes are multiplied by, Q8: 1 for the one with the most samples held."""
    address = ptr32(t[_OWN])
    factor = ptr16(address[_THICKET_FACTOR])
    state = ptr32(address[_THICKET_STATE])
    count = ptr16(ptr32(t[_GROVE])[_STORE_COUNT])
    classes = state[_T_CLASSES]
    most = 1
    for c in range(classes):
        if count[c] > most:
            most = count[c]
    least = (most >> _RAREST) + 1
    for c in range(classes):
        factor[c] = 256
        if state[_T_EVEN] and count[c] != most:
            factor[c] = (most << 8) // (count[c] if count[c] > least else least)  # < 2**12


@micropython.viper
def even_out(own, member, place: int) -> int:
    """Multiply a member's votes by the factors; returns the class with the most, -1 if none has.

    The votes' address stands at that place of the member's table.
    """
    address = ptr32(own)
    factor = ptr16(address[_THICKET_FACTOR])
    votes = ptr32(ptr32(member)[place])
    classes = ptr32(address[_THICKET_STATE])[_T_CLASSES]
    total = 0
    for c in range(classes):
        votes[c] = (votes[c] >> 8) * factor[c]  # 2**16 * 2**12, and so are all together
        total += votes[c]
    unit = (total >> 12) + 1
    best = 0
    for c in range(classes):
        votes[c] = votes[c] // unit * 4080  # about 2**12 * 4080 = 2**16 * 255 in all
        if votes[c] > votes[best]:
            best = c
    return best if votes[best] else -1


@micropython.viper
def judge_change(own, label: int):
    """A label came that is not as the one before: were the members right that could say it?"""
    address = ptr32(own)
    said = ptr32(address[_THICKET_SAID])
    alone = ptr32(address[_THICKET_ALONE])
    for k in range(_MEMBERS):
        if said[k] >= 0:
            right = _ONE if said[k] == label else 0
            alone[k] = alone[k] + ((right - alone[k]) >> _CHANGES)
