"""Checks the buffers of a grove, a softmax regression or a ring that came from a file.

Every index that the kernels follow must be within its buffer, every path must end, and nothing
may be divided by zero. This takes time in proportion to the bytes of the state.
"""

from array import array

from micropython import const

from .trees import octets

# From elsewhere, written by `make constants`:
# places of buffers
_BAYES_STATE = const(0)
_RING_SHAPE = const(0)
_SOFTMAX_STATE = const(0)
_THICKET_STATE = const(0)
_RING_LABELS = const(2)
_SOFTMAX_MEAN = const(2)
_BAYES_SEEN = const(3)
_GROVE_STATE = const(3)
_NEIGHBOURS_STATE = const(3)
_SOFTMAX_DEVIATION = const(3)
_THICKET_ACCURACY = const(3)
_GROVE_FEATURE = const(5)
_THICKET_ALONE = const(5)
_BAYES_POOLED = const(6)
_NEIGHBOURS_DISTANCE = const(6)
_SOFTMAX_WEIGHT = const(6)
_GROVE_KIDS = const(7)
_NEIGHBOURS_NEAREST = const(7)
_GROVE_LEAVES = const(8)
_THICKET_TELLS = const(8)
_SPROUT_STATE = const(9)
_SPROUT_LINE = const(10)
_SPROUT_BEGIN = const(11)
_SPROUT_END = const(12)
_SPROUT_HOOK = const(13)
_SPROUT_IMPURITY = const(14)
_SPROUT_ORDER = const(16)
_GROVE_ACCURACY = const(19)
_GROVE_WEIGHT = const(20)
_GROVE_GROWN = const(21)
_STORE_STATE = const(22)
_STORE_COUNT = const(24)
_STORE_KEPT = const(25)
_STORE_AGAINST = const(27)
# thicket/bayes.py
_B_SEEN = const(2)
# thicket/drift_response.py
_ALERT = const(64)
# thicket/members.py
_T_CLASSES = const(1)
_BECAME = const(2)
_T_LABEL = const(2)
_T_ASKED = const(3)
_T_KNOWN = const(4)
_T_FRESH = const(5)
_T_REST = const(11)
_T_USUAL = const(12)
_T_LATELY = const(13)
_T_ALONE = const(14)
_T_FAMILIAR = const(15)
_T_TURN = const(16)
_T_PLACE = const(17)
_T_PART = const(18)
_T_GAIN = const(19)
_T_WORDS = const(19)
_T_OF_NEWEST = const(20)
_T_OF_ALL = const(21)
_RESTS = const(100)
# thicket/neighbours.py
_N_MOST = const(0)
_N_VOTERS = const(2)
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
_W_DOOMED = const(2)
_W_SAME = const(3)
_W_SEEN = const(4)
_W_LABEL = const(5)
_CONTRADICTED = const(6)
_W_RUN = const(6)
_COUNT = const(7)
_W_ALERT = const(7)
_FOREIGN = const(65536)
# thicket/trees.py
_G_TREES = const(0)
_S_SLOT = const(0)
_G_USED = const(1)
_S_GROWING = const(1)
_G_MOST = const(2)
_G_WINDOW = const(3)
_S_INNER_USED = const(4)
_G_SINCE = const(5)
_S_LEAF = const(5)
_S_DRAWN = const(6)
_G_RECENT = const(7)
_S_TRIED = const(7)
_S_MERIT = const(8)
_S_BY = const(9)
_S_AT = const(10)
_S_TIES = const(11)
_NARROW = const(128)
# thicket/vote_mixing.py
_PARTS = const(4)
# (end)

_ONE = const(1048576)  # an accuracy of 1, Q20
_MOST_COUNT = const(536870911)  # 2**29 - 1
_MOST_TIES = const(65535)
_MOST_SEEN = const(1024)  # samples that a softmax regression's means look back over
_MOST_MEAN = const(16776960)  # 65535 in 1/256
_MOST_WEIGHT = const(1048576)  # 16 in Q16
_MOST_OF_TREE = const(16384)  # a weight of 1
_MOST_GROWN = const(65535)  # samples of a tree, or of a run
_MOST_LABELS = const(256)  # that the shares of classes look back over
_WHOLE = const(65535)  # such a share of 1
_MOST_OF_CLASS = const(512)  # samples that a naive Bayes' means look back over
_MOST_POOLED = const(1024)
_MOST_VARIANCE = const(4194304)


def thicket_is_sound(b, searches):
    """Are a thicket's own words and its searches sound? Both arguments are buffers."""
    state = b[_THICKET_STATE]
    classes = state[_T_CLASSES]
    length = searches[0][_RING_SHAPE][_R_LENGTH]
    return (
        0 <= state[_T_LABEL] < classes
        and -1 <= state[_T_ASKED] < 1 << 24
        and min(state[_T_KNOWN], state[_T_FRESH], state[_T_FAMILIAR]) >= 0
        and max(state[_T_KNOWN], state[_T_FRESH]) <= 1
        and state[_T_FAMILIAR] <= _BECAME
        and 0 <= state[_T_REST] <= _RESTS
        and min(state[_T_USUAL], state[_T_LATELY], state[_T_ALONE]) >= 0
        and max(state[_T_USUAL], state[_T_LATELY], state[_T_ALONE]) <= _ONE
        and 0 <= state[_T_TURN] < classes
        and 0 <= state[_T_PLACE] < length
        and 0 <= state[_T_PART] <= _PARTS
        and _looks_back(state)
        and are_within(b[_THICKET_ACCURACY], 0, _ONE)
        and are_within(b[_THICKET_ALONE], 0, _ONE)
        and are_within(b[_THICKET_TELLS], 0, (_ONE << 7) + 127)
        and search_is_sound(searches[0], 0)
        and search_is_sound(searches[-1], state[_T_PART])
    )


def ring_is_sound(b):
    """Do the ring's ends fit each other, and are its labels classes?"""
    shape = b[_RING_SHAPE]
    held = shape[_R_HELD]
    head = shape[_R_HEAD]
    full = held == shape[_R_LENGTH]
    return (
        0 <= held <= shape[_R_LENGTH]
        and 0 <= head < shape[_R_LENGTH]
        and (full or head == held)
        and max(b[_RING_LABELS]) < shape[_R_CLASSES]
    )


def _looks_back(state):
    """Are the words sound that only a thicket of more than 64 KB has?"""
    if len(state) == _T_WORDS:
        return True
    both = state[_T_OF_NEWEST], state[_T_OF_ALL]  # predictions
    return -_ONE <= state[_T_GAIN] <= _ONE and min(both) >= -1 and max(both) < state[_T_CLASSES]


def softmax_is_sound(b):
    """Are means, deviations and weights where they cannot overflow?"""
    return (
        0 <= b[_SOFTMAX_STATE][3] <= _MOST_SEEN
        and are_within(b[_SOFTMAX_MEAN], 0, _MOST_MEAN)
        and are_within(b[_SOFTMAX_DEVIATION], 0, _MOST_MEAN)
        and are_within(b[_SOFTMAX_WEIGHT], -_MOST_WEIGHT, _MOST_WEIGHT)
    )


def bayes_is_sound(b):
    """Are counts and variances where they cannot overflow? Means may be anything."""
    return (
        max(b[_BAYES_SEEN]) <= _MOST_OF_CLASS
        and 1 <= b[_BAYES_STATE][_B_SEEN] <= _MOST_POOLED
        and are_within(b[_BAYES_POOLED], 0, _MOST_VARIANCE)
    )


def grove_is_sound(b):
    """Do the paths of voting trees end in leaves, and can the growing tree go on?"""
    return (
        trees_are_sound(b)
        and store_is_sound(b)
        and are_within(b[_GROVE_ACCURACY], 0, _ONE)
        and are_within(b[_GROVE_WEIGHT], 0, _MOST_OF_TREE)
        and are_within(b[_GROVE_GROWN], 0, _MOST_GROWN)
        and _leaves_are(b)
    )


def store_is_sound(b):
    """Are the classes counted right, and is the next sample's place valid?"""
    shape = b[_RING_SHAPE]
    state = b[_STORE_STATE]
    held = shape[_R_HELD]
    first = state[_W_FIRST]
    if held == shape[_R_LENGTH] and shape[_R_HEAD] < first:
        return False
    if not _counts_are(b[_STORE_COUNT], b[_RING_LABELS], held):
        return False
    if not _counts_are(b[_STORE_KEPT], b[_RING_LABELS], min(held, first)):
        return False
    foreign = state[_W_DOOMED] >= _FOREIGN
    doomed = _FOREIGN if foreign else 0
    for place in range(min(held, first)):
        count = b[_STORE_AGAINST][place]
        if foreign and count > 127:
            count &= _COUNT
        doomed += int(count >= _CONTRADICTED)
    return (
        state[_W_DOOMED] == doomed
        and 0 <= state[_W_HAND] < first
        and 0 <= state[_W_SEEN] <= _MOST_LABELS
        and 0 <= state[_W_LABEL] < shape[_R_CLASSES]
        and 0 <= state[_W_RUN] <= _MOST_GROWN
        and 0 <= state[_W_SAME] <= _WHOLE
        and 0 <= state[_W_ALERT] <= _ALERT
    )


def _counts_are(counts, labels, held):
    """Is each class counted as often as it is among the first labels?"""
    left = array("H", counts)
    for place in range(held):
        if not left[labels[place]]:
            return False
        left[labels[place]] -= 1
    return not max(left)


def search_is_sound(b, part):
    """Does a search that was begun stay within the ring, whose buffers b has?"""
    state = b[_NEIGHBOURS_STATE]
    length = b[_RING_SHAPE][_R_LENGTH]
    if max(b[_NEIGHBOURS_NEAREST]) >= length:
        return False
    if not are_within(b[_NEIGHBOURS_DISTANCE], 0, _FAR):
        return False
    if not part:
        return True
    for k in (0, _N_SECOND):
        low = state[k + _N_LOW]
        size = state[k + _N_SIZE]
        if low < 0 or size < 0 or low + size > length:
            return False
        if not low <= state[k + _N_FROM] <= low + size or not 0 < state[k + _N_STEP] <= max(
            size, 1
        ):
            return False
        if not 0 <= state[k + _N_COUNT] <= size:
            return False
    return 0 <= state[_N_VOTERS] <= state[_N_MOST]


def trees_are_sound(b):
    """Like grove_is_sound(), whatever the leaves and the trees' weights are."""
    grove = b[_GROVE_STATE]
    sprout = b[_SPROUT_STATE]
    used = grove[_G_USED]
    slot = sprout[_S_SLOT]
    if not ring_is_sound(b) or not 0 <= used <= grove[_G_TREES]:
        return False
    if not 0 <= slot <= used or (used < grove[_G_TREES] and slot != used):
        return False
    if grove[_G_MOST] > _NARROW and not 0 <= grove[_G_RECENT] <= grove[_G_WINDOW]:
        return False
    if not 0 <= grove[_G_SINCE] <= _MOST_COUNT or sprout[_S_GROWING] not in (0, 1):
        return False
    if max(b[_GROVE_FEATURE]) >= b[_RING_SHAPE][_R_FEATURES]:
        return False
    if max(b[_SPROUT_ORDER]) >= b[_RING_SHAPE][_R_FEATURES]:
        return False
    for s in range(used + 1):
        if (s != slot or sprout[_S_GROWING]) and not _ends(b, s):
            return False
    return not sprout[_S_GROWING] or _can_grow(b, sprout)


def are_within(buffer, low, high):
    """Is every item in the range?"""
    return low <= min(buffer) and max(buffer) <= high


def _leaves_are(b):
    """The frequencies of each leaf leave something of 255, or nothing, for the last class."""
    leaves = b[_GROVE_LEAVES]
    others = b[_RING_SHAPE][_R_CLASSES] - 1
    for k in range(0, len(leaves), others) if others > 1 else ():
        total = 0
        for c in range(k, k + others):
            total += leaves[c]
        if total > 255:
            return False
    return True


def _ends(b, s):
    """Do the paths of a slot's tree end in leaves? A node's kids have greater numbers."""
    kids = b[_GROVE_KIDS]
    most = b[_GROVE_STATE][_G_MOST]
    inner = most - 1
    upper = len(kids) // octets(most) if octets(most) > 1 else 0
    reached = bytearray(inner + most)
    reached[0] = 1
    for n in range(inner):
        if reached[n]:
            first = 2 * (s * inner + n)
            for k in range(first, first + 2):
                kid = kids[k] + (kids[upper + k] << 8 if upper else 0)
                if not n < kid < inner + most:
                    return False
                reached[kid] = 1
    return True


def _can_grow(b, sprout):
    """Do the growing tree's leaves have samples, and is the split found for one of them valid?"""
    most = b[_GROVE_STATE][_G_MOST]
    used = sprout[_S_INNER_USED]
    features = b[_RING_SHAPE][_R_FEATURES]
    leaf = sprout[_S_LEAF]
    if not 0 <= used < most or max(b[_SPROUT_LINE]) >= b[_RING_SHAPE][_R_LENGTH]:
        return False
    if not 0 <= leaf <= most or (leaf < most and (leaf > used or used == most - 1)):
        return False
    for k in range(used + 1):
        if not b[_SPROUT_BEGIN][k] < b[_SPROUT_END][k] <= b[_GROVE_STATE][_G_WINDOW]:
            return False
        if b[_SPROUT_HOOK][k] >= 2 * max(used, 1) or b[_SPROUT_IMPURITY][k] < 0:
            return False
    if not 0 <= sprout[_S_TRIED] <= sprout[_S_DRAWN] <= features:
        return False
    if not 0 <= sprout[_S_MERIT] <= _MOST_COUNT or not 0 <= sprout[_S_TIES] <= _MOST_TIES:
        return False
    return 0 <= sprout[_S_BY] < features and 0 <= sprout[_S_AT] <= 255
