"""The kernels of a thicket: predict with the members, mix their votes, and teach them.

The kernels get a tuple of tables of addresses: grove, neighbours, softmax, shrubs, Thicket's own
table, bayes, and the neighbours of a sample that is replayed (vote_mixing.py). Its last item is
the buffer of that sample's codes.
"""

import micropython
from micropython import const

from ..shrub.ensemble import learn as learn_shrubs
from ..shrub.ensemble import predict as ask_shrubs
from .bayes import follow as follow_bayes
from .bayes import predict as ask_bayes
from .drift_response import notice, notice_in_runs
from .grove import follow, tend
from .grove import predict as ask_grove
from .neighbour_reach import aim, ask_twice, find, judge_lookback
from .neighbours import ask as ask_neighbours
from .neighbours import count_votes
from .sample_store import in_runs
from .softmax import average, step
from .softmax import predict as ask_softmax
from .vote_mixing import (
    judge,
    judge_change,
    learn_again,
    mix,
    opinion,
    predict_alone,
    replay,
    say_alone,
    share_out,
)

# From elsewhere, written by `make constants`:
# places of buffers
_THICKET_STATE = const(0)
_VOTES = const(1)
_THICKET_PREDICTIONS = const(2)
_THICKET_ACCURACY = const(3)
_GROVE_VOTES = const(4)
_NEIGHBOURS_VOTES = const(4)
_THICKET_TAUGHT = const(7)
_STORE_STATE = const(22)
_STORE_COUNT = const(24)
# thicket/sample_store.py
_W_SEEN = const(4)
_W_RUN = const(6)
_W_ALERT = const(7)
# thicket/vote_mixing.py
_FULL = const(256)
# (end)

_GROVE = const(0)  # places in the kernels' tuple, and numbers of the members
_NEIGHBOURS = const(1)
_SOFTMAX = const(2)
_SHRUBS = const(3)
_THICKET = const(4)  # from here on, only places in the tuple
_LAST = const(4)
_BAYES = const(5)
_AGAIN = const(6)  # the neighbours of a sample that is replayed
_ROW = const(7)  # the codes of that sample
_MEMBERS = const(6)

_T_FEATURES = const(0)  # from here on, words of the state
_T_CLASSES = const(1)
_T_LABEL = const(2)  # the label of the sample learned last
_T_ASKED = const(3)  # a sum over the codes of the sample predicted last, or -1
_T_KNOWN = const(4)  # 1: that sample's label was learned
_T_FRESH = const(5)  # 1: the label before the newest predicted sample was known
_T_WITH_SOFTMAX = const(6)  # 1: there is a softmax regression
_T_WITH_SHRUBS = const(7)
_T_WITH_BAYES = const(8)
_T_WITH_REPLAY = const(9)  # 2: neighbour_reach.py decides how many samples count
_T_EVEN = const(10)  # 1: without labels, classes are equally likely if features tell them
_T_REST = const(11)  # how often trees may still grow before the next label
_T_USUAL = const(12)  # Q20: the usual share of wrong predictions; see drift_response.py
_T_LATELY = const(13)  # the recent share of wrong predictions
_T_ALONE = const(14)  # in runs, the share of the best member that needs no label
_T_FAMILIAR = const(15)  # whether the class of this run is known, see below
_T_TURN = const(16)  # the class of the sample that is replayed
_T_PLACE = const(17)  # the place of that sample in the store
_T_PART = const(18)  # the part of its replay that is done, 0..4
_T_WORDS = const(19)  # only thickets of more than 64 KB have the rest, see neighbour_reach.py
_T_GAIN = const(19)  # Q20: how much more often the newest neighbours alone were right,
_T_OF_NEWEST = const(20)  # what the newest neighbours alone predicted, or -1
_T_OF_ALL = const(21)  # what all neighbours predicted
_T_FAR = const(22)

_LOOKBACK = const(2)  # a value of _T_WITH_REPLAY

_ALWAYS_EVEN = const(2)  # a value of _T_EVEN

_NEW = const(0)  # the class of this run is not known yet,
_OLD = const(1)  # since before the run,
_BECAME = const(2)  # the class became known in this run

FIXED = (_T_FEATURES, _T_CLASSES, _T_WITH_SOFTMAX, _T_WITH_SHRUBS, _T_WITH_BAYES,
    _T_WITH_REPLAY, _T_EVEN)  # fmt: skip

_RESTS = const(100)  # how often trees grow after the last label
_LATER = const(2)  # the neighbours predict after the other members
_LONG = const(8)  # after so many labels of a run, samples are replayed,
_TAUGHT = const(64)  # if there were so many labels in all
_FEW = const(16)  # a class with so many samples is known
_MOST_TAUGHT = const(65535)  # labels of a class, at which all classes' counts are halved
_ALIKE = const(64)  # after so many labels of a run, naive Bayes skips what it knows


@micropython.viper
def predict(t, rows, at: int) -> int:
    """Return the class of the sample at rows[at], whatever came before it; leave the votes.

    Unless labels come in runs, predict_next() returns the same without the last label.
    """
    arrive(t, rows, at)
    if int(in_runs(t[_GROVE])):
        return int(predict_alone(t, rows, at))
    ask(t, rows, at, 0)
    ptr32(ptr32(t[_THICKET])[_THICKET_PREDICTIONS])[_LAST] = -1
    return int(hear(t))


@micropython.viper
def predict_next(t, rows, at: int) -> int:
    """Return the class of a sample that follows the last one, whose label may be a hint."""
    arrive(t, rows, at)
    return int(predict_known(t, rows, at, 0))


@micropython.viper
def arrive(t, rows, at: int):
    """Note whether the label before a sample is known, unless the sample was predicted before."""
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    row = int(row_sum(0, 0, t[_THICKET], rows, at))
    if state[_T_KNOWN] or row != state[_T_ASKED]:
        state[_T_FRESH] = state[_T_KNOWN]
        state[_T_KNOWN] = 0
        state[_T_ASKED] = row


@micropython.viper
def predict_known(t, rows, at: int, neighbours_known: int) -> int:
    """Return the class of a sample from all members; a member that lacks data abstains.

    neighbours_known is 1 if its nearest neighbours were found before.
    """
    ask(t, rows, at, neighbours_known)
    return int(hear(t))


@micropython.viper
def hear(t) -> int:
    """Mix the members' predictions; returns the class with the most votes."""
    return int(mix(t, int(share_out(t, _THICKET_ACCURACY, _FULL))))


@micropython.viper
def learn(t, rows, at: int, label: int) -> int:
    """Learn a sample, the newest or a late one; returns the class predicted before."""
    late = int(come_back(t, rows, at))
    predicted = int(predict_known(t, rows, at, int(find(t, rows, at))))
    teach(t, rows, at, label, int(predicted != label))
    if not late:
        ptr32(ptr32(t[_THICKET])[_THICKET_STATE])[_T_KNOWN] = 1
    return predicted


@micropython.viper
def come_back(t, rows, at: int) -> int:
    """Note that a sample's label came; returns whether another sample was predicted since."""
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    row = int(row_sum(0, 0, t[_THICKET], rows, at))
    if state[_T_ASKED] < 0 or state[_T_KNOWN]:
        state[_T_FRESH] = state[_T_KNOWN]
        state[_T_ASKED] = row
    late = int(row != state[_T_ASKED])
    if late:
        state[_T_FRESH] = 0
    return late


@micropython.viper
def teach(t, rows, at: int, label: int, wrong: int):
    """Learn the sample that was predicted last; wrong is 1 if the prediction was wrong.

    In runs, the softmax regression learns some of the samples held, too. In a long run, naive
    Bayes learns 32 samples each time that the run's length doubles, and those that it predicted
    wrong; after drift (drift_response.py), it learns all of them.
    """
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    known = int(ptr32(ptr32(t[_THICKET])[_THICKET_PREDICTIONS])[_BAYES] == label)
    judge(t[_THICKET], label)
    judge_alone(t, label)
    taught = ptr16(ptr32(t[_THICKET])[_THICKET_TAUGHT])
    taught[label] = taught[label] + 1
    if taught[label] == _MOST_TAUGHT:
        for c in range(state[_T_CLASSES]):
            taught[c] = taught[c] >> 1
    if state[_T_WITH_REPLAY] == _LOOKBACK:
        judge_lookback(t, label)
    notice(t, label, wrong)
    grove = t[_GROVE]
    follow(grove, rows, at, label)
    store = ptr32(ptr32(grove)[_STORE_STATE])
    often = 0
    if known and store[_W_ALERT] == 0:
        while store[_W_RUN] >> often >= _ALIKE:
            often += 1
    if state[_T_WITH_BAYES] and store[_W_RUN] & ((1 << often) - 1) == 0:
        follow_bayes(t[_BAYES], rows, at, label)
    if state[_T_WITH_SOFTMAX]:
        step(t[_SOFTMAX], label, 1)
        average(t[_SOFTMAX], rows, at)
        if state[_T_WITH_REPLAY] and int(in_runs(grove)):
            learn_again(t)
    if state[_T_WITH_SHRUBS]:
        learn_shrubs(t[_SHRUBS], rows, at, label)
    state[_T_LABEL] = label
    state[_T_REST] = _RESTS
    if store[_W_RUN] >= _LONG and store[_W_SEEN] >= _TAUGHT and state[_T_WITH_REPLAY]:
        replay(t)


@micropython.viper
def judge_alone(t, label: int):
    """Judge the members that do not use the label before, if the label's class is known."""
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    grove = t[_GROVE]
    held = ptr16(ptr32(grove)[_STORE_COUNT])[label]
    other = int(label != state[_T_LABEL])
    runs = int(in_runs(grove))
    if other:
        if state[_T_FAMILIAR] == _NEW:
            state[_T_ALONE] = 0
        state[_T_FAMILIAR] = int(held >= _FEW)
    if held and (other or runs):
        say_alone(t)
        if other:
            judge_change(t[_THICKET], label)
        if runs:
            notice_in_runs(t, label)


@micropython.viper
def rest(t) -> int:
    """Go on for a while if the last label left time for it; returns the time left.

    Trees grow, and in runs, the softmax regression learns some of the samples held.
    """
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    if state[_T_REST] == 0:
        return 0
    tend(t[_GROVE])
    if state[_T_WITH_SOFTMAX] and state[_T_WITH_REPLAY] and int(in_runs(t[_GROVE])):
        learn_again(t)
    state[_T_REST] = state[_T_REST] - 1
    return state[_T_REST]


# Of the next one, total and f are 0: viper keeps the first arguments in registers.


@micropython.viper
def row_sum(total: int, f: int, thicket, rows, at: int) -> int:
    """Return a number that identifies a sample: 24 bits that depend on all its codes."""
    x = ptr16(rows)
    f = at
    end = at + ptr32(ptr32(thicket)[_THICKET_STATE])[_T_FEATURES]
    while f < end:
        total = (total * 31 + x[f]) & 0xFFFFFF  # < 2**24 * 2**5 = 2**29
        f += 1
    return total


@micropython.viper
def ask(t, rows, at: int, neighbours_known: int):
    """Let each member predict the sample; only the others if neighbours_known is _LATER."""
    address = ptr32(t[_THICKET])
    state = ptr32(address[_THICKET_STATE])
    predictions = ptr32(address[_THICKET_PREDICTIONS])
    if neighbours_known == 0:
        aim(t[_GROVE], t[_NEIGHBOURS])
    k = int(ask_grove(t[_GROVE], rows, at))
    predictions[_GROVE] = int(opinion(t[_GROVE], _GROVE_VOTES, k))
    if neighbours_known != _LATER:
        if neighbours_known:
            k = int(count_votes(t[_NEIGHBOURS]))
        elif state[_T_WITH_REPLAY] == _LOOKBACK:
            k = int(ask_twice(t, rows, at))
        else:
            k = int(ask_neighbours(t[_NEIGHBOURS], rows, at))
        predictions[_NEIGHBOURS] = int(opinion(t[_NEIGHBOURS], _NEIGHBOURS_VOTES, k))
    predictions[_SOFTMAX] = -1
    if state[_T_WITH_SOFTMAX]:
        predictions[_SOFTMAX] = int(ask_softmax(t[_SOFTMAX], rows, at))
    predictions[_SHRUBS] = -1
    if state[_T_WITH_SHRUBS]:
        k = int(ask_shrubs(t[_SHRUBS], rows, at))
        predictions[_SHRUBS] = int(opinion(t[_SHRUBS], _VOTES, k))
    predictions[_LAST] = state[_T_LABEL] if state[_T_FRESH] else -1
    predictions[_BAYES] = -1
    if state[_T_WITH_BAYES]:
        predictions[_BAYES] = int(ask_bayes(t[_BAYES], rows, at))
