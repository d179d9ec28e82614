"""One shrub from the sorted window, level by level, without recursion and without sorting.

The nodes of a level that may still split are open. For each level: count the classes of the open
nodes, find the best split of each (splits.py), make the node an inner node or a leaf, and send its
samples on. A level takes O(features * (B + open nodes * classes)), and there are `depth` of them.

Scratch buffers (a tuple, in this order; L = most leaves, A = most nodes that one level can split):

    shape   'i'  the integers below
    where   'B'  one or two bytes an entry: the open node of sample b; L, which no node has: closed
    wanted  'B'  [L + 1] 1: the feature at hand is evaluated for the node
    drawn   'B'  [A * ceil(features / 8)] bits: the max_features features drawn for the node
    counts  'H'  [L * classes] class counts of the open nodes
    left    'H'  [A * classes] class counts of the samples that the scan has passed
    nodes   'H'  [L * 3] an open node's place in the tree, its children's, what becomes of it
    forks   'H'  [A * 7] an open node's samples, those passed, the last code, the random threshold,
                 and of the best split so far the feature, the threshold and the number of ties
    scores  'i'  [A * 3] an open node's sums of squares left and right, the score of its best split

A node's place is its number (nodes by position) or the index of the kid pointing to it (linked).
"""

import micropython
from micropython import const

from .shrubs import leaf_limit
from .splits import draw, scan

_MAX_FEATURES = const(0)  # features drawn for a node, 0: all
_CLOSED = const(1)  # L
_WIDE_WHERE = const(2)  # 1: where has 16 bits an entry
_INNER_USED = const(3)  # inner nodes and leaves of the shrub so far (linked)
_LEAVES_USED = const(4)
_WORDS = const(5)

# columns of nodes, forks and scores
_PLACE = const(0)
_CHILDREN = const(1)
_FATE = const(2)  # _LEAF + the leaf, or the left child's number among the next level's open nodes
_NODE = const(3)
_SAMPLES = const(0)
_FEATURE = const(4)
_THRESHOLD = const(5)
_FORK = const(7)
_SQUARES_LEFT = const(0)
_SQUARES_RIGHT = const(1)
_SCORE = const(2)
_SCORES = const(3)

_LEAF = const(32768)
_NO_SPLIT = const(-1)  # score of a node for which no split was found yet
_PURE = const(-2)  # score of a node that needs none

# the shapes of the window (W) and the pool (P), see there
_W_WINDOW = const(0)
_W_SIZE = const(2)
_W_WIDE_CODES = const(4)
_P_CLASSES = const(0)
_P_DEPTH = const(1)
_P_INNER = const(2)
_P_LEAVES = const(3)
_P_LINKED = const(4)
_P_ONE_HOT = const(5)
_P_WIDE_CODES = const(6)
_P_WIDE_KIDS = const(7)


def cart_table(features, classes, window, depth, max_features):
    """The scratch buffers."""
    most = leaf_limit(window, depth)
    forks = leaf_limit(window, depth - 1)
    return [
        ("cart.shape", "i", _WORDS),
        ("cart.where", "B", window * (2 if most > 255 else 1)),
        ("cart.wanted", "B", most + 1),
        ("cart.drawn", "B", forks * ((features + 7) // 8) if max_features else 0),
        ("cart.counts", "H", most * classes),
        ("cart.left", "H", forks * classes),
        ("cart.nodes", "H", most * _NODE),
        ("cart.forks", "H", forks * _FORK),
        ("cart.scores", "i", forks * _SCORES),
    ]


def start_cart(g, window, depth, max_features):
    """Set up the scratch g."""
    shape = g[0]
    shape[_MAX_FEATURES] = max_features
    shape[_CLOSED] = leaf_limit(window, depth)
    shape[_WIDE_WHERE] = int(shape[_CLOSED] > 255)


@micropython.viper
def grow(w, p, g, rng, member, slot: int) -> int:
    """Grow a shrub on the window w in a slot of the pool p and return its depth.

    member takes the leaf of each sample b of the window at member[slot * B + b]; rng breaks ties
    and draws features and thresholds.
    """
    depth = int(ptr32(p[0])[_P_DEPTH])
    nodes = 1
    level = 0
    plant(w, p, g, slot)
    while nodes:
        open_nodes = nodes
        count(w, p, g, open_nodes, level)
        if level < depth:
            draw(w, g, rng, open_nodes)
            scan(w, p, g, rng, open_nodes)
        nodes = int(settle(p, g, slot, open_nodes, level))
        move(w, p, g, member, slot)
        level += 1
    return level - 1


@micropython.viper
def plant(w, p, g, slot: int):
    """All samples in the root; no inner node of the slot splits yet."""
    shape = ptr32(g[0])
    tree = ptr32(p[0])
    where8 = ptr8(g[1])
    where16 = ptr16(g[1])
    nodes = ptr16(g[6])
    inner = tree[_P_INNER]
    shape[_INNER_USED] = 0
    shape[_LEAVES_USED] = 0
    nodes[_PLACE] = 0
    for b in range(ptr32(w[0])[_W_SIZE]):
        if shape[_WIDE_WHERE]:
            where16[b] = 0
        else:
            where8[b] = 0
    if not tree[_P_LINKED]:
        feature = ptr8(p[1])
        threshold8 = ptr8(p[2])
        threshold16 = ptr16(p[2])
        for n in range(slot * inner, slot * inner + inner):
            feature[n] = 0
            if tree[_P_WIDE_CODES]:
                threshold16[n] = 65535
            else:
                threshold8[n] = 255


@micropython.viper
def count(w, p, g, open_nodes: int, level: int):
    """Class counts of the open nodes, and which of them are pure."""
    shape = ptr32(g[0])
    where8 = ptr8(g[1])
    where16 = ptr16(g[1])
    labels = ptr8(w[2])
    counts = ptr16(g[4])
    forks = ptr16(g[7])
    scores = ptr32(g[8])
    classes = ptr32(p[0])[_P_CLASSES]
    closed = shape[_CLOSED]
    wide = shape[_WIDE_WHERE]
    for k in range(open_nodes * classes):
        counts[k] = 0
    for b in range(ptr32(w[0])[_W_SIZE]):
        a = where16[b] if wide else where8[b]
        if a != closed:
            k = a * classes + labels[b]
            counts[k] = counts[k] + 1
    if level < ptr32(p[0])[_P_DEPTH]:
        for a in range(open_nodes):
            samples = 0
            most = 0
            squares = 0
            for k in range(a * classes, a * classes + classes):
                samples += counts[k]
                squares += counts[k] * counts[k]  # at most B**2 = 2**20 in all
                if counts[k] > most:
                    most = counts[k]
            forks[a * _FORK + _SAMPLES] = samples
            scores[a * _SCORES + _SQUARES_LEFT] = 0
            scores[a * _SCORES + _SQUARES_RIGHT] = squares
            scores[a * _SCORES + _SCORE] = _PURE if most == samples else _NO_SPLIT


@micropython.viper
def settle(p, g, slot: int, open_nodes: int, level: int) -> int:
    """Make each open node a leaf or an inner node; returns how many nodes the next level has."""
    tree = ptr32(p[0])
    shape = ptr32(g[0])
    feature = ptr8(p[1])
    threshold8 = ptr8(p[2])
    threshold16 = ptr16(p[2])
    kids8 = ptr8(p[3])
    kids16 = ptr16(p[3])
    nodes = ptr16(g[6])
    forks = ptr16(g[7])
    scores = ptr32(g[8])
    inner = tree[_P_INNER]
    linked = tree[_P_LINKED]
    depth = tree[_P_DEPTH]
    first_kid = slot * (2 * inner + 1)
    born = 0
    for a in range(open_nodes):
        node = a * _NODE
        place = nodes[node + _PLACE]
        grows = 0
        if level < depth:
            grows = int(scores[a * _SCORES + _SCORE] >= 0)
        number = 0
        if grows:
            n = place
            if linked:
                n = shape[_INNER_USED]
                shape[_INNER_USED] = n + 1
                number = n
            feature[slot * inner + n] = forks[a * _FORK + _FEATURE]
            if tree[_P_WIDE_CODES]:
                threshold16[slot * inner + n] = forks[a * _FORK + _THRESHOLD]
            else:
                threshold8[slot * inner + n] = forks[a * _FORK + _THRESHOLD]
            nodes[node + _CHILDREN] = 2 * n + 1
            nodes[node + _FATE] = born
            born += 2
        else:
            leaf = 0
            if linked:
                leaf = shape[_LEAVES_USED]
                shape[_LEAVES_USED] = leaf + 1
                number = inner + leaf
            else:  # the leftmost leaf below the node; depth <= 10 here
                leaf = ((place + 1) << (depth - level)) - 1 - inner
            fill_leaf(p, g, slot, a, leaf)
            nodes[node + _FATE] = _LEAF + leaf
        if linked:
            if tree[_P_WIDE_KIDS]:
                kids16[first_kid + place] = number
            else:
                kids8[first_kid + place] = number
    for a in range(open_nodes):
        left = nodes[a * _NODE + _FATE]
        if left < _LEAF:
            nodes[left * _NODE + _PLACE] = nodes[a * _NODE + _CHILDREN]
            nodes[(left + 1) * _NODE + _PLACE] = nodes[a * _NODE + _CHILDREN] + 1
    return born


@micropython.viper
def fill_leaf(p, g, slot: int, a: int, leaf: int):
    """Write the class frequencies, or the majority class, of open node a into a leaf.

    The frequencies are the rounded running sums' differences, so they add up to 255 exactly.
    """
    tree = ptr32(p[0])
    leaves = ptr8(p[4])
    counts = ptr16(g[4])
    classes = tree[_P_CLASSES]
    first = a * classes
    at = slot * tree[_P_LEAVES] + leaf
    samples = 0
    most = 0
    for c in range(classes):
        samples += counts[first + c]
        if counts[first + c] > counts[first + most]:
            most = c
    if tree[_P_ONE_HOT]:
        leaves[at] = most
    else:
        at = at * (classes - 1)  # < 256 * 1024 * 255 < 2**26
        so_far = 0
        given = 0
        for c in range(classes - 1):
            so_far += counts[first + c]
            upto = (so_far * 510 + samples) // (2 * samples)  # <= 1024 * 511 < 2**20
            leaves[at + c] = upto - given
            given = upto


@micropython.viper
def move(w, p, g, member, slot: int):
    """Send the samples of each open node on to its children, or note their leaf."""
    shape = ptr32(w[0])
    codes8 = ptr8(w[1])
    codes16 = ptr16(w[1])
    where8 = ptr8(g[1])
    where16 = ptr16(g[1])
    nodes = ptr16(g[6])
    forks = ptr16(g[7])
    member8 = ptr8(member)
    member16 = ptr16(member)
    window = shape[_W_WINDOW]
    wide = shape[_W_WIDE_CODES]
    wide_where = ptr32(g[0])[_WIDE_WHERE]
    wide_leaf = int(ptr32(p[0])[_P_LEAVES] > 256)
    closed = ptr32(g[0])[_CLOSED]
    row = slot * window
    for b in range(shape[_W_SIZE]):
        a = where16[b] if wide_where else where8[b]
        if a == closed:
            continue
        fate = nodes[a * _NODE + _FATE]
        if fate >= _LEAF:
            if wide_leaf:
                member16[row + b] = fate - _LEAF
            else:
                member8[row + b] = fate - _LEAF
            fate = closed
        else:
            at = forks[a * _FORK + _FEATURE] * window + b
            code = codes16[at] if wide else codes8[at]
            fate += int(code > forks[a * _FORK + _THRESHOLD])
        if wide_where:
            where16[b] = fate
        else:
            where8[b] = fate
