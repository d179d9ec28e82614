"""One shrub from the sorted window, level by level, without recursion and without sorting.

The nodes of a level that may still split are open. For each level: find the best split of each
open node (splits.py), make the node an inner node or a leaf, and send its samples on, counted. A
level takes O(features * (B + open nodes * classes)), and there are `depth` of them.

Scratch buffers, in this order, "cart.shape" and so on (L = most leaves, A = most nodes that one
level can split):

    shape   'i'  the integers below
    where   'B'  one or two bytes an entry: the open node of sample b; L, which no node has: closed
    line    'B'  one or two bytes an entry, [B] the samples, dealt out to the open nodes
    drawn   'B'  [A * ceil(features / 8)] bits: the max_features features drawn for the node
    counts  'H'  [L * classes] class counts of the open nodes
    left    'H'  [classes] class counts of the samples that the scan has passed in a node
    nodes   'H'  [L * 3] an open node's place in the tree, its children's, what becomes of it
    forks   'H'  [A * 4] an open node's samples, and of the best split so far the feature, the
                 threshold and the number of ties
    scores  'i'  [A * 3] the sum of squares of an open node's class counts, and the merit of its
                 best split: a number, and what that is to be divided by
    ends    'H'  [L + 1] where a node's part of the line ends; the last: that of the closed ones

A node's place is its number (nodes by position) or the index of the kid pointing to it (linked).
"""

import micropython
from micropython import const

from .pool import fill_leaf, leaf_limit
from .splits import draw, scan

# From elsewhere, written by `make constants`:
# places of buffers
_MEMBER = const(3)
_WINDOW_SHAPE = const(5)
_WINDOW_CODES = const(6)
_WINDOW_LABELS = const(7)
_SHRUBS_SHAPE = const(9)
_SHRUBS_FEATURE = const(10)
_SHRUBS_THRESHOLD = const(11)
_SHRUBS_KIDS = const(12)
_CART_SHAPE = const(14)
_CART_WHERE = const(15)
_CART_COUNTS = const(18)
_CART_NODES = const(20)
_CART_FORKS = const(21)
_CART_SCORES = const(22)
# shrub/pool.py
_P_CLASSES = const(0)
_P_DEPTH = const(1)
_P_INNER = const(2)
_P_LEAVES = const(3)
_P_LINKED = const(4)
_P_WIDE_CODES = const(6)
_P_WIDE_KIDS = const(7)
# shrub/window.py
_W_WINDOW = const(0)
_W_SIZE = const(2)
_W_WIDE_CODES = const(4)
# (end)

_C_MAX_FEATURES = const(0)  # features drawn for a node, 0: all
_C_CLOSED = const(1)  # L
_C_WIDE_WHERE = const(2)  # 1: where has 16 bits an entry
_C_INNER_USED = const(3)  # inner nodes and leaves of the shrub so far (linked)
_C_LEAVES_USED = const(4)
_WORDS = const(5)

# columns of nodes, forks and scores
_PLACE = const(0)
_CHILDREN = const(1)
_FATE = const(2)  # _LEAF + the leaf, or the left child's number among the next level's open nodes
_NODE = const(3)
_SAMPLES = const(0)
_FEATURE = const(1)
_THRESHOLD = const(2)
_TIES = const(3)
_FORK = const(4)
_SQUARES = const(0)
_MERIT = const(1)
_BELOW = const(2)
_SCORES = const(3)

_LEAF = const(32768)
_NO_SPLIT = const(-1)  # merit of a node for which no split was found yet
_PURE = const(-2)  # merit of a node that needs none


def cart_table(features, classes, window, depth, max_features):
    """The scratch buffers."""
    most = leaf_limit(window, depth)
    forks = leaf_limit(window, depth - 1)
    return [
        ("cart.shape", "i", _WORDS),
        ("cart.where", "B", window * (2 if most > 255 else 1)),
        ("cart.line", "B", window * (2 if window > 256 else 1)),
        ("cart.drawn", "B", forks * ((features + 7) // 8) if max_features else 0),
        ("cart.counts", "H", most * classes),
        ("cart.left", "H", classes),
        ("cart.nodes", "H", most * _NODE),
        ("cart.forks", "H", forks * _FORK),
        ("cart.scores", "i", forks * _SCORES),
        ("cart.ends", "H", most + 1),
    ]


def start_cart(b, window, depth, max_features):
    """Set up the scratch; b are the learner's buffers."""
    shape = b[_CART_SHAPE]
    shape[_C_MAX_FEATURES] = max_features
    shape[_C_CLOSED] = leaf_limit(window, depth)
    shape[_C_WIDE_WHERE] = int(shape[_C_CLOSED] > 255)


@micropython.viper
def grow(t, slot: int) -> int:
    """Grow a shrub on the window in a slot of the pool and return its depth.

    member takes the leaf of each sample b of the window at member[slot * B + b].
    """
    address = ptr32(t)
    depth = int(ptr32(address[_SHRUBS_SHAPE])[_P_DEPTH])
    nodes = 1
    level = 0
    plant(t, slot)
    while nodes:
        open_nodes = nodes
        if level < depth:
            weigh(t, open_nodes)
            if ptr32(address[_CART_SHAPE])[_C_MAX_FEATURES]:
                draw(t, open_nodes)
            scan(0, 0, t, open_nodes)
        nodes = int(settle(t, slot, open_nodes, level))
        move(t, slot, nodes)
        level += 1
    return level - 1


@micropython.viper
def plant(t, slot: int):
    """All samples in the root, counted; no inner node of the slot splits yet."""
    address = ptr32(t)
    shape = ptr32(address[_CART_SHAPE])
    tree = ptr32(address[_SHRUBS_SHAPE])
    where8 = ptr8(address[_CART_WHERE])
    where16 = ptr16(address[_CART_WHERE])
    labels = ptr8(address[_WINDOW_LABELS])
    counts = ptr16(address[_CART_COUNTS])
    nodes = ptr16(address[_CART_NODES])
    inner = tree[_P_INNER]
    shape[_C_INNER_USED] = 0
    shape[_C_LEAVES_USED] = 0
    nodes[_PLACE] = 0
    wide = shape[_C_WIDE_WHERE]
    for c in range(tree[_P_CLASSES]):
        counts[c] = 0
    for b in range(ptr32(address[_WINDOW_SHAPE])[_W_SIZE]):
        c = labels[b]
        counts[c] = counts[c] + 1
        if wide:
            where16[b] = 0
        else:
            where8[b] = 0
    if not tree[_P_LINKED]:
        feature = ptr8(address[_SHRUBS_FEATURE])
        threshold8 = ptr8(address[_SHRUBS_THRESHOLD])
        threshold16 = ptr16(address[_SHRUBS_THRESHOLD])
        for n in range(slot * inner, slot * inner + inner):
            feature[n] = 0
            if tree[_P_WIDE_CODES]:
                threshold16[n] = 65535
            else:
                threshold8[n] = 255


@micropython.viper
def weigh(t, open_nodes: int):
    """Note how many samples the open nodes have and how mixed they are; none has a split yet."""
    address = ptr32(t)
    counts = ptr16(address[_CART_COUNTS])
    forks = ptr16(address[_CART_FORKS])
    scores = ptr32(address[_CART_SCORES])
    classes = ptr32(address[_SHRUBS_SHAPE])[_P_CLASSES]
    for a in range(open_nodes):
        samples = 0
        most = 0
        squares = 0
        for k in range(a * classes, a * classes + classes):
            n = counts[k]
            samples += n
            squares += n * n  # at most B**2 = 2**20 in all
            if n > most:
                most = n
        forks[a * _FORK + _SAMPLES] = samples
        scores[a * _SCORES + _SQUARES] = squares
        scores[a * _SCORES + _MERIT] = _PURE if most == samples else _NO_SPLIT
        scores[a * _SCORES + _BELOW] = 1


@micropython.viper
def settle(t, slot: int, open_nodes: int, level: int) -> int:
    """Make each open node a leaf or an inner node; returns how many nodes the next level has."""
    address = ptr32(t)
    tree = ptr32(address[_SHRUBS_SHAPE])
    shape = ptr32(address[_CART_SHAPE])
    feature = ptr8(address[_SHRUBS_FEATURE])
    threshold8 = ptr8(address[_SHRUBS_THRESHOLD])
    threshold16 = ptr16(address[_SHRUBS_THRESHOLD])
    kids8 = ptr8(address[_SHRUBS_KIDS])
    kids16 = ptr16(address[_SHRUBS_KIDS])
    nodes = ptr16(address[_CART_NODES])
    forks = ptr16(address[_CART_FORKS])
    scores = ptr32(address[_CART_SCORES])
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
            grows = int(scores[a * _SCORES + _MERIT] >= 0)
        number = 0
        if grows:
            n = place
            if linked:
                n = shape[_C_INNER_USED]
                shape[_C_INNER_USED] = n + 1
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
                leaf = shape[_C_LEAVES_USED]
                shape[_C_LEAVES_USED] = leaf + 1
                number = inner + leaf
            else:  # the leftmost leaf below the node; depth <= 10 here
                leaf = ((place + 1) << (depth - level)) - 1 - inner
            fill_leaf(t, slot, a, leaf)
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
def move(t, slot: int, nodes_below: int):
    """Send the samples of each open node on to its children, counted, or note their leaf."""
    address = ptr32(t)
    shape = ptr32(address[_WINDOW_SHAPE])
    labels = ptr8(address[_WINDOW_LABELS])
    counts = ptr16(address[_CART_COUNTS])
    classes = ptr32(address[_SHRUBS_SHAPE])[_P_CLASSES]
    codes8 = ptr8(address[_WINDOW_CODES])
    codes16 = ptr16(address[_WINDOW_CODES])
    where8 = ptr8(address[_CART_WHERE])
    where16 = ptr16(address[_CART_WHERE])
    nodes = ptr16(address[_CART_NODES])
    forks = ptr16(address[_CART_FORKS])
    member8 = ptr8(address[_MEMBER])
    member16 = ptr16(address[_MEMBER])
    window = shape[_W_WINDOW]
    wide = shape[_W_WIDE_CODES]
    wide_where = ptr32(address[_CART_SHAPE])[_C_WIDE_WHERE]
    wide_leaf = int(ptr32(address[_SHRUBS_SHAPE])[_P_LEAVES] > 256)
    closed = ptr32(address[_CART_SHAPE])[_C_CLOSED]
    row = slot * window
    for k in range(nodes_below * classes):
        counts[k] = 0
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
            k = fate * classes + labels[b]
            counts[k] = counts[k] + 1
        if wide_where:
            where16[b] = fate
        else:
            where8[b] = fate
