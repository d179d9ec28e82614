"""Asks the members of a thicket, has their votes mixed, and teaches them.

The kernels get a tuple of tables of addresses: grove, neighbours, softmax, shrubs, Thicket's own
table, bayes, and the neighbours of a sample that is replayed (vote_mixing.py). Its last item is
the buffer of that sample's codes.

Asking the neighbours takes most of a prediction's time, so they search only `reach` samples. While
the classes are mixed, these are the newest. In runs, two fifths are the newest samples, which are
of one class or two, and the others are spread over the rest of the places. With few samples of a
class, few neighbours vote: one for every twelve samples of a class, 1 to k.

A thicket of more than 64 KB may hold thousands of samples. Without concept drift, more samples
raise the accuracy; with drift, they lower it by more. So while the labels are mixed, the
neighbours of such a thicket predict twice: from the newest 1,024 samples alone, and from all of
them, by one search in two parts. The prediction with the higher accuracy over the last few hundred
labels counts, and trees grow on as many samples. Meanwhile the prediction from the newest samples
is kept in the buffers of a replayed sample, as replay happens only while labels come in runs.
"""

import micropython
from micropython import const

from ..shrub.ensemble import learn as learn_shrubs
from ..shrub.ensemble import predict as ask_shrubs
from .bayes import follow as follow_bayes
from .bayes import predict as ask_bayes
from .drift_response import judge_alone, notice
from .grove import follow, tend
from .grove import predict as ask_grove
from .neighbours import ask as ask_neighbours
from .neighbours import begin, count_votes, search
from .sample_store import in_runs
from .scaling import average
from .softmax import predict as ask_softmax
from .softmax import step
from .vote_mixing import (
    ask_again,
    compare_classes,
    draw_again,
    even_out,
    judge,
    judge_again,
    judge_lookback,
    learn_again,
    mix,
    opinion,
    say_alone,
    search_part,
    share_out,
    voters,
)

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_THICKET_STATE = const(0)
_VOTES = const(1)
_THICKET_PREDICTIONS = const(2)
_NEIGHBOURS_STATE = const(3)
_THICKET_ACCURACY = const(3)
_GROVE_VOTES = const(4)
_NEIGHBOURS_VOTES = const(4)
_NEIGHBOURS_SAMPLE = const(5)
_THICKET_ALONE = const(5)
_NEIGHBOURS_DISTANCE = const(6)
_NEIGHBOURS_NEAREST = const(7)
_THICKET_TAUGHT = const(7)
_STORE_STATE = const(22)
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
_R_HELD = const(3)
_R_HEAD = const(4)
# thicket/sample_store.py
_W_FIRST = const(0)
_W_HAND = const(1)
_W_SEEN = const(4)
_W_RUN = const(6)
_W_ALERT = const(7)
# thicket/vote_mixing.py
_PARTS = const(4)
_FULL = const(256)
_NEWEST = const(1024)
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
_T_WITH_REPLAY = const(9)  # 2: the neighbours predict twice, see above
_T_EVEN = const(10)  # 1: without labels, classes are equally likely if features tell them
_T_REST = const(11)  # how often trees may still grow before the next label
_T_USUAL = const(12)  # Q20: the usual share of wrong predictions; see drift_response.py
_T_LATELY = const(13)  # the recent share of wrong predictions
_T_ALONE = const(14)  # in runs, the share of the best member that needs no label
_T_FAMILIAR = const(15)  # whether the class of this run is known, see below
_T_TURN = const(16)  # the class of the sample that is replayed
_T_PLACE = const(17)  # the place of that sample in the store
_T_PART = const(18)  # the part of its replay that is done, 0..4
_T_WORDS = const(19)  # only thickets of more than 64 KB have the rest
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
def predict_alone(t, rows, at: int) -> int:
    """Return the class of the sample at rows[at]; leave the votes in the table."""
    address = ptr32(t[_THICKET])
    state = ptr32(address[_THICKET_STATE])
    predictions = ptr32(address[_THICKET_PREDICTIONS])
    aim(t[_GROVE], t[_NEIGHBOURS])
    ask_grove(t[_GROVE], rows, at)
    if state[_T_WITH_REPLAY] == _LOOKBACK:
        ask_twice(t, rows, at)
    else:
        ask_neighbours(t[_NEIGHBOURS], rows, at)
    predictions[_BAYES] = -1
    if state[_T_WITH_BAYES]:
        predictions[_BAYES] = int(ask_bayes(t[_BAYES], rows, at))
    if state[_T_WITH_SOFTMAX]:
        ask_softmax(t[_SOFTMAX], rows, at)
    evidence = int(say_alone(t))
    return int(mix(t, int(share_out(t, _THICKET_ALONE, evidence))))


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
def replay(t):
    """Continue the replay of a sample, or draw another one; there is at least one."""
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    part = state[_T_PART]
    if part == 0:
        draw_again(t)
        aim(t[_GROVE], t[_AGAIN])
        ask_again(t)
    else:
        search_part(t[_AGAIN], 0, part)
        search_part(t[_AGAIN], _N_SECOND, part)
        if part == _PARTS:
            count_votes(t[_AGAIN])
            compare_classes(t, _FULL)
            predicted = int(even_out(t[_THICKET], t[_AGAIN], _NEIGHBOURS_VOTES))
            judge_again(t, _NEIGHBOURS, predicted)
    state[_T_PART] = part + 1 if part < _PARTS else 0


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
    left = low if low else held - newest
    plan[_N_VOTERS] = int(voters(t, plan[_N_MOST]))
    plan[_N_SKIP] = -1
    plan[_N_FROM] = shape[_R_HEAD]
    plan[_N_LOW] = low
    plan[_N_SIZE] = held - low
    plan[_N_STEP] = 1
    plan[_N_COUNT] = newest
    plan[_N_SECOND + _N_FROM] = ptr32(address[_STORE_STATE])[_W_HAND]
    plan[_N_SECOND + _N_LOW] = 0
    plan[_N_SECOND + _N_SIZE] = left
    plan[_N_SECOND + _N_STEP] = int(stride(left)) if spread else 1
    plan[_N_SECOND + _N_COUNT] = reach - newest


@micropython.viper
def stride(size: int) -> int:
    """Return a long step that visits each of `size` places once before it visits one again.

    It is about five eighths of `size`, with no common divisor (Euclid).
    """
    step = size * 5 // 8 + 1
    common = 0
    while common != 1:
        common = size
        left = step
        while left:
            k = common % left
            common = left
            left = k
        step += 1
    return step - 1 if step <= size else 1


@micropython.viper
def find(t, rows, at: int) -> int:
    """Return whether the last search was for the sample whose label came.

    It was if the sample was predicted and no sample was taken in since. A function that changes
    held samples, or aims without a search, writes 0 for the number of nearest samples.
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
def ask_twice(t, rows, at: int) -> int:
    """Compute the neighbours' votes in a store of over 1,024 samples."""
    near = t[_NEIGHBOURS]
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    plan = ptr32(ptr32(near)[_NEIGHBOURS_STATE])
    count = plan[_N_COUNT]
    newest = _NEWEST if count > _NEWEST else count
    state[_T_OF_NEWEST] = -1
    if int(in_runs(t[_GROVE])) or newest == count + plan[_N_SECOND + _N_COUNT]:
        return int(ask_neighbours(near, rows, at))
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
