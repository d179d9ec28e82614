"""How a thicket responds to drift: of the concept, and of the ranges of its features.

Concept drift shows in errors far above their usual share. With p the usual share of errors, and r
the share over about the last sixteen samples, there is drift where r > p + margin and
(r - p - margin)**2 > p (1 - p) / 2, which is four standard deviations of 32 samples.

- While the classes are mixed, all samples but the newest 32 are forgotten. p is the mean over the
  last 256 labels.
- While labels come in runs, the last label would hide the change. So r counts the errors of the
  best member that does not use it, and p comes from that member's accuracy. A new class is often
  predicted wrong at first, and contradicts no sample: its errors count once the class is known.
  After drift, nothing is forgotten at once: for 64 labels, the five nearest neighbours with
  another label are contradicted three times as much, and the trees' leaves learn as fast as while
  the classes are mixed. So new samples replace the samples that they contradict, and no others.

When the range of a feature changes, the codes and thresholds of all members move. A code of 8 bits
stands for the middle of the 16-bit codes with these upper bits, a threshold for the last of them.
Means move as codes do; mean distances halve with each doubling of the range, and double when it
halves, up to their maximum. Calling a kernel takes ten times as long as the few sums that move a
code within the range, so move_trees(), which moves thousands of thresholds, has its own copy;
moved_code() moves the tails.

Where ranges shrink, at least a quarter of the samples may come to lie outside of the ranges of two
fifths of the features. If each of their classes was taught lately, with values close together, the
sensor has another unit or gain: all samples but the newest 32 are forgotten, and what naive Bayes
knows. Means and deviations begin anew, and so do the members' accuracies: before a range shrinks,
all codes are about the same, and a member that was right then may be wrong now. If one of these
classes was not taught, nothing is forgotten: its values may be as far apart as before.

The buffers are those of thicket.py.
"""

import micropython
from micropython import const

from ..ranges import moved_code
from ..shrub.moving import move_shrubs
from .sample_store import contradict, forget, in_runs
from .vote_mixing import judge_change, say_alone

# From elsewhere, written by `make constants`:
# places of buffers
_BAYES_STATE = const(0)
_RING_SHAPE = const(0)
_SOFTMAX_STATE = const(0)
_THICKET_STATE = const(0)
_RING_CODES = const(1)
_RING_LABELS = const(2)
_SOFTMAX_MEAN = const(2)
_THICKET_PREDICTIONS = const(2)
_BAYES_SEEN = const(3)
_GROVE_STATE = const(3)
_NEIGHBOURS_STATE = const(3)
_SOFTMAX_DEVIATION = const(3)
_THICKET_ACCURACY = const(3)
_BAYES_MEAN = const(4)
_GROVE_VOTES = const(4)
_BAYES_VARIANCE = const(5)
_GROVE_FEATURE = const(5)
_THICKET_ALONE = const(5)
_BAYES_POOLED = const(6)
_GROVE_THRESHOLD = const(6)
_NEIGHBOURS_DISTANCE = const(6)
_NEIGHBOURS_NEAREST = const(7)
_SPROUT_STATE = const(9)
_GROVE_GROWN = const(21)
_STORE_STATE = const(22)
_STORE_COUNT = const(24)
# ranges.py
_STEP_BITS = const(13)
_BELOW = const(4096)
_CORE_CODES = const(57344)
# thicket/bayes.py
_B_FEATURES = const(0)
_B_CLASSES = const(1)
_B_SEEN = const(2)
# thicket/members.py
_GROVE = const(0)
_NEW = const(0)
_NEIGHBOURS = const(1)
_OLD = const(1)
_BECAME = const(2)
_SOFTMAX = const(2)
_T_LABEL = const(2)
_SHRUBS = const(3)
_THICKET = const(4)
_BAYES = const(5)
_MEMBERS = const(6)
_T_WITH_SOFTMAX = const(6)
_T_WITH_SHRUBS = const(7)
_T_WITH_BAYES = const(8)
_T_USUAL = const(12)
_T_LATELY = const(13)
_T_ALONE = const(14)
_T_FAMILIAR = const(15)
_T_PART = const(18)
# thicket/neighbours.py
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
_W_SEEN = const(4)
_W_RUN = const(6)
_W_ALERT = const(7)
# thicket/softmax.py
_L_SEEN = const(3)
# thicket/trees.py
_G_USED = const(1)
_S_GROWING = const(1)
_G_MOST = const(2)
_S_BY = const(9)
_S_AT = const(10)
# (end)

_ONE = const(1048576)  # 1 in Q20
_LATELY = const(4)  # log2 of the labels that the share of late looks back over
_MARGIN = const(82)  # 0.08 in Q10
_MARGIN_IN_RUNS = const(205)  # 0.2
_MARGIN_OF_NEW = const(307)  # 0.3: of a class that became known in its run
_LEARNED = const(64)  # labels of a run before which a new class is not known
_KEPT = const(32)  # samples that stay
_KNOWN = const(16)  # samples of a class that is known
_ALERT = const(64)  # labels in a run that contradict more than others
_NEAR = const(3)  # neighbours that a label contradicts,
_NEAR_IN_ALERT = const(5)
_STRENGTH = const(3)
_INSIDE = const(16)  # the lowest upper 8 bits of a code inside a range,
_INSIDE_UP_TO = const(239)  # and the highest
_RECENT = const(256)  # the newest samples, whose values made a range shrink
_WITNESSES = const(64)  # samples that are looked at before all are
_CAME = const(8)  # a class was taught lately if so many of the newest samples are of it
_MOST_MOMENT = const(65535)  # a mean distance, or its square


@micropython.viper
def notice(t, label: int, wrong: int):
    """Update the shares of errors with a label, and respond to drift; wrong is 1 for an error."""
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    labels = ptr32(ptr32(t[_GROVE])[_STORE_STATE])[_W_SEEN] + 1  # <= 257
    usual = state[_T_USUAL]
    state[_T_USUAL] = usual + ((_ONE if wrong else 0) - usual) // labels
    state[_T_LATELY] = int(recent_share(state[_T_LATELY], wrong))
    changed = int(is_above(state[_T_LATELY], usual, _MARGIN))
    if int(in_runs(t[_GROVE])):
        if state[_T_FAMILIAR] == _OLD or ptr32(ptr32(t[_GROVE])[_STORE_STATE])[_W_ALERT]:
            contradict_near(t, label)
    elif changed:
        forget(t[_GROVE], _KEPT)
        disregard(t[_GROVE])
    if changed:
        state[_T_USUAL] = state[_T_LATELY]


@micropython.viper
def recent_share(share: int, wrong: int) -> int:
    """Return the recent share of errors, Q20."""
    return share + (((_ONE if wrong else 0) - share) >> _LATELY)


@micropython.viper
def is_above(lately: int, usual: int, margin: int) -> int:
    """Return whether a share of errors, Q20, is far above the usual share."""
    p = usual >> 10
    above = (lately >> 10) - p - margin
    return int(above > 0 and 2 * above * above > p * (1024 - p))


@micropython.viper
def disregard(t):
    """Let the present trees count little as soon as there are newer trees."""
    address = ptr32(t)
    grown = ptr32(address[_GROVE_GROWN])
    ptr32(address[_SPROUT_STATE])[_S_GROWING] = 0
    for s in range(ptr32(address[_GROVE_STATE])[_G_USED] + 1):
        grown[s] = 1


@micropython.viper
def contradict_near(t, label: int):
    """In a run: let the label speak for and against its neighbours."""
    store = ptr32(ptr32(t[_GROVE])[_STORE_STATE])
    near = ptr32(t[_NEIGHBOURS])
    distance = ptr32(near[_NEIGHBOURS_DISTANCE])
    nearest = ptr16(near[_NEIGHBOURS_NEAREST])
    strength = 1
    reached = _NEAR
    if store[_W_ALERT]:
        store[_W_ALERT] = store[_W_ALERT] - 1
        strength = _STRENGTH
        reached = _NEAR_IN_ALERT
    for r in range(reached):
        if distance[r] < _FAR:
            contradict(t[_GROVE], nearest[r], label, strength)


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
        state[_T_FAMILIAR] = int(held >= _KNOWN)
    if held and (other or runs):
        say_alone(t)
        if other:
            judge_change(t[_THICKET], label)
        if runs:
            notice_in_runs(t, label)


@micropython.viper
def notice_in_runs(t, label: int):
    """Return whether, in a run, the best single member was wrong too often.

    A new class is known once it is predicted as well as the others.
    """
    address = ptr32(t[_THICKET])
    state = ptr32(address[_THICKET_STATE])
    predictions = ptr32(address[_THICKET_PREDICTIONS])
    alone = ptr32(address[_THICKET_ALONE])
    best = _GROVE
    for k in range(_MEMBERS):
        if predictions[k] >= 0 and (predictions[best] < 0 or alone[k] > alone[best]):
            best = k
    lately = int(recent_share(state[_T_ALONE], int(predictions[best] != label)))
    usual = _ONE - alone[best]
    state[_T_ALONE] = lately
    store = ptr32(ptr32(t[_GROVE])[_STORE_STATE])
    if state[_T_FAMILIAR] == _NEW:
        if store[_W_RUN] > _LEARNED and lately < usual:
            state[_T_FAMILIAR] = _BECAME
        return
    if int(
        is_above(lately, usual, _MARGIN_IN_RUNS if state[_T_FAMILIAR] == _OLD else _MARGIN_OF_NEW)
    ):
        store[_W_ALERT] = _ALERT


@micropython.viper
def move_samples(t, feature: int, bits: int, doublings: int, steps: int):
    """Move the samples of a ring or a store."""
    address = ptr32(t)
    shape = ptr32(address[_RING_SHAPE])
    codes = ptr8(address[_RING_CODES])
    known = -1  # the last code, and its new value: many codes are equal
    moved = 0
    k = feature
    for _ in range(shape[_R_HELD]):
        if codes[k] != known:
            known = codes[k]
            moved = int(moved_code((known << 8) + 128, bits, doublings, steps)) >> 8
        codes[k] = moved
        k += shape[_R_FEATURES]


@micropython.viper
def move_grove(t, feature: int, bits: int, doublings: int, steps: int):
    """Move a grove: its samples and its trees."""
    move_samples(t, feature, bits, doublings, steps)
    move_trees(t, feature, bits, doublings, steps)


@micropython.viper
def move_trees(t, feature: int, bits: int, doublings: int, steps: int):
    """Move the thresholds of a grove's trees, and of the growing tree's best split."""
    address = ptr32(t)
    grove = ptr32(address[_GROVE_STATE])
    by = ptr8(address[_GROVE_FEATURE])
    threshold = ptr8(address[_GROVE_THRESHOLD])
    sprout = ptr32(address[_SPROUT_STATE])
    after = bits + doublings
    lower = 7 * steps << (_STEP_BITS - after) if after < _STEP_BITS else 7 * steps
    up = 0 - doublings if doublings < 0 else 0
    down = doublings + up
    known = -1
    moved = 0
    for k in range((grove[_G_USED] + 1) * (grove[_G_MOST] - 1)):
        if by[k] == feature:
            if threshold[k] != known:
                known = threshold[k]
                code = (known << 8) + 255
                u = code - _BELOW
                c = (u << up >> down) + lower
                if 0 <= u < _CORE_CODES and 0 <= c < _CORE_CODES:
                    moved = (c + _BELOW) >> 8
                else:
                    moved = int(moved_code(code, bits, doublings, steps)) >> 8
            threshold[k] = moved
    if sprout[_S_BY] == feature:
        sprout[_S_AT] = int(moved_code((sprout[_S_AT] << 8) + 255, bits, doublings, steps)) >> 8


@micropython.viper
def move_bayes(t, feature: int, bits: int, doublings: int, steps: int):
    """Move means and variances."""
    address = ptr32(t)
    state = ptr32(address[_BAYES_STATE])
    mean = ptr16(address[_BAYES_MEAN])
    variance = ptr16(address[_BAYES_VARIANCE])
    pooled = ptr32(address[_BAYES_POOLED])
    features = state[_B_FEATURES]
    k = feature
    for _ in range(state[_B_CLASSES]):
        mean[k] = int(moved_code(mean[k], bits, doublings, steps))
        variance[k] = int(rescaled(variance[k], 2 * doublings, 0))
        k += features
    if state[_B_SEEN] > 1:
        pooled[feature] = int(rescaled(pooled[feature], 2 * doublings, 6))


@micropython.viper
def move_softmax(t, feature: int, bits: int, doublings: int, steps: int):
    """Move a mean and a mean distance; the weights stay, as they are for scaled features."""
    address = ptr32(t)
    mean = ptr32(address[_SOFTMAX_MEAN])
    deviation = ptr32(address[_SOFTMAX_DEVIATION])
    mean[feature] = int(moved_code(mean[feature] >> 8, bits, doublings, steps)) << 8
    deviation[feature] = int(rescaled(deviation[feature], doublings, 8))


@micropython.viper
def rescaled(v: int, doublings: int, fraction: int) -> int:
    """Return a mean distance, or its square, after the range of its codes has doubled or halved.

    `fraction` is its bits behind the point, up to 8. (A large number as an argument could not be
    frozen for a Cortex-M0, whose code holds no large numbers.)
    """
    if doublings >= 0:
        return v >> doublings
    halvings = 0 - doublings
    most = _MOST_MOMENT << fraction  # < 2**24
    return v << halvings if v <= most >> halvings else most


@micropython.viper
def move_thicket(t, feature: int, bits: int, doublings: int, steps: int):
    """Move every member; t is the tuple that the kernels of members.py get."""
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    move_grove(t[_GROVE], feature, bits, doublings, steps)
    ptr32(ptr32(t[_NEIGHBOURS])[_NEIGHBOURS_STATE])[_N_COUNT] = 0  # what was found was elsewhere
    if state[_T_WITH_SOFTMAX]:
        move_softmax(t[_SOFTMAX], feature, bits, doublings, steps)
    if state[_T_WITH_SHRUBS]:
        move_shrubs(t[_SHRUBS], feature, bits, doublings, steps)
    if state[_T_WITH_BAYES]:
        move_bayes(t[_BAYES], feature, bits, doublings, steps)
    if doublings < 0:
        leave_unit(t)


@micropython.viper
def leave_unit(t):
    """After a range shrank: forget what was learned in another unit, if there was one."""
    if int(is_new_unit(t[_GROVE])) == 0:
        return
    forget(t[_GROVE], _KEPT)
    disregard(t[_GROVE])
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    state[_T_PART] = 0  # of a replayed sample, which may be gone
    accuracy = ptr32(ptr32(t[_THICKET])[_THICKET_ACCURACY])
    for k in range(_MEMBERS):
        accuracy[k] = _ONE >> 1
    if state[_T_WITH_SOFTMAX]:
        ptr32(ptr32(t[_SOFTMAX])[_SOFTMAX_STATE])[_L_SEEN] = 0
    if state[_T_WITH_BAYES]:
        address = ptr32(t[_BAYES])
        bayes = ptr32(address[_BAYES_STATE])
        seen = ptr16(address[_BAYES_SEEN])
        bayes[_B_SEEN] = 1
        for c in range(bayes[_B_CLASSES]):
            seen[c] = 0


@micropython.viper
def is_new_unit(t) -> int:
    """Return whether many samples lie outside of many ranges, all of classes taught lately."""
    address = ptr32(t)
    shape = ptr32(address[_RING_SHAPE])
    labels = ptr8(address[_RING_LABELS])
    lately = ptr32(address[_GROVE_VOTES])  # of each class, until the next prediction
    held = shape[_R_HELD]
    if held <= 2 * _KEPT:
        return 0
    low = ptr32(address[_STORE_STATE])[_W_FIRST] if held == shape[_R_LENGTH] else 0
    for c in range(shape[_R_CLASSES]):
        lately[c] = 0
    place = shape[_R_HEAD]
    for _ in range(held - low if held - low < _RECENT else _RECENT):
        place = (place if place > low else held) - 1
        lately[labels[place]] = lately[labels[place]] + 1
    if int(are_outside(t, held // _WITNESSES)):
        return int(are_outside(t, 1))
    return 0


@micropython.viper
def are_outside(t, step: int) -> int:
    """Do the same with every `step`-th sample: many are a quarter of them."""
    address = ptr32(t)
    codes = ptr8(address[_RING_CODES])
    labels = ptr8(address[_RING_LABELS])
    lately = ptr32(address[_GROVE_VOTES])
    features = ptr32(address[_RING_SHAPE])[_R_FEATURES]
    held = ptr32(address[_RING_SHAPE])[_R_HELD]
    away = 0
    i = 0
    while i < held:
        outside = 0
        first = i * features  # < 65535 * 256 < 2**24
        for f in range(features):
            code = codes[first + f]
            if code < _INSIDE or code > _INSIDE_UP_TO:
                outside += 1
        if 5 * outside >= 2 * features:
            if lately[labels[i]] < _CAME:
                return 0
            away += step
        i += step
    return int(4 * away >= held)
