"""The best split of every open node of a level, in one walk over each feature's order.

Every open node keeps running class counts of its samples that the walk has passed, so one walk
evaluates the boundaries of all open nodes. The splitter `best` is CART (Breiman and others 1984):
every boundary between two different codes, with the threshold halfway. `random` (Extra-Trees,
Geurts and others 2006) draws one threshold a feature between the node's least and greatest code;
it needs no order.

Gini in integers: the split with the least weighted Gini impurity has the greatest

    sum_c left_c**2 / n_left + sum_c right_c**2 / n_right,

held in Q10. The sums of squares are updated with 2n + 1. Ties are broken at random.

The scratch buffers g are those of cart.py.
"""

import micropython
from micropython import const

from .fixed import below

# words of the scratch's shape, columns of forks and scores, shapes of window (W) and pool (P): see
# cart.py, window.py and shrubs.py
_MAX_FEATURES = const(0)  # features drawn for a node, 0: all
_CLOSED = const(1)  # L
_WIDE_WHERE = const(2)  # 1: where has 16 bits an entry
_SAMPLES = const(0)
_PASSED = const(1)
_LAST = const(2)
_CUT = const(3)
_FEATURE = const(4)
_THRESHOLD = const(5)
_TIES = const(6)
_FORK = const(7)
_SQUARES_LEFT = const(0)
_SQUARES_RIGHT = const(1)
_SCORE = const(2)
_SCORES = const(3)
_PURE = const(-2)  # score of a node that needs none
_W_WINDOW = const(0)
_W_FEATURES = const(1)
_W_SIZE = const(2)
_W_WIDE_CODES = const(4)
_W_WIDE_ORDER = const(5)
_W_SORTED = const(6)
_P_CLASSES = const(0)


@micropython.viper
def draw(w, g, rng, open_nodes: int):
    """Draw max_features different features for each open node (Floyd's sampling)."""
    wanted = ptr32(g[0])[_MAX_FEATURES]
    if wanted:
        drawn = ptr8(g[3])
        features = ptr32(w[0])[_W_FEATURES]
        stride = (features + 7) >> 3
        for a in range(open_nodes):
            first = a * stride
            for k in range(first, first + stride):
                drawn[k] = 0
            for j in range(features - wanted, features):
                f = int(below(rng, j + 1))
                if (drawn[first + (f >> 3)] >> (f & 7)) & 1:
                    f = j
                k = first + (f >> 3)
                drawn[k] = drawn[k] | (1 << (f & 7))


@micropython.viper
def scan(w, p, g, rng, open_nodes: int):
    """Walk over every feature and leave in forks and scores the best split of each open node."""
    shape = ptr32(w[0])
    codes8 = ptr8(w[1])
    codes16 = ptr16(w[1])
    labels = ptr8(w[2])
    order8 = ptr8(w[3])
    order16 = ptr16(w[3])
    where8 = ptr8(g[1])
    where16 = ptr16(g[1])
    wanted = ptr8(g[2])
    counts = ptr16(g[4])
    left = ptr16(g[5])
    forks = ptr16(g[7])
    scores = ptr32(g[8])
    classes = ptr32(p[0])[_P_CLASSES]
    wide_where = ptr32(g[0])[_WIDE_WHERE]
    size = shape[_W_SIZE]
    wide = shape[_W_WIDE_CODES]
    wide_order = shape[_W_WIDE_ORDER]
    in_order = shape[_W_SORTED]
    steps = size if in_order else 2 * size  # random: first all that go left, then all others
    for f in range(shape[_W_FEATURES]):
        base = f * shape[_W_WINDOW]  # < 256 * 1024 = 2**18
        if not int(want(w, p, g, f, open_nodes)):
            continue
        if not in_order:
            draw_thresholds(w, g, rng, base, open_nodes)
        for i in range(steps):
            b = i
            if in_order:
                b = order16[base + i] if wide_order else order8[base + i]
            elif i >= size:
                b = i - size
            a = where16[b] if wide_where else where8[b]
            if not wanted[a]:
                continue
            fork = a * _FORK
            score = a * _SCORES
            code = codes16[base + b] if wide else codes8[base + b]
            if not in_order:
                code = int(code > forks[fork + _CUT])
                if code != int(i >= size):
                    continue
            passed = forks[fork + _PASSED]
            last = forks[fork + _LAST]
            if code != last and passed > 0:
                # a sum of squares is at most passed**2, passed < 1024, so << 10 gives < 2**30,
                # and each quotient is at most 1024 * passed
                merit = (scores[score + _SQUARES_LEFT] << 10) // passed + (
                    scores[score + _SQUARES_RIGHT] << 10
                ) // (forks[fork + _SAMPLES] - passed)
                best = scores[score + _SCORE]
                ties = 1
                if merit == best:
                    ties = forks[fork + _TIES] + 1
                if merit > best or (merit == best and int(below(rng, ties)) == 0):
                    scores[score + _SCORE] = merit
                    forks[fork + _FEATURE] = f
                    forks[fork + _THRESHOLD] = (
                        (last + code) >> 1 if in_order else forks[fork + _CUT]
                    )
                if merit >= best and ties < 65535:
                    forks[fork + _TIES] = ties
            k = a * classes + labels[b]
            n = left[k]
            left[k] = n + 1
            # classes with n of their samples left: n**2 grows by 2n + 1, r**2 shrinks by 2r - 1
            scores[score + _SQUARES_LEFT] = scores[score + _SQUARES_LEFT] + 2 * n + 1
            scores[score + _SQUARES_RIGHT] = (
                scores[score + _SQUARES_RIGHT] - 2 * (counts[k] - n) + 1
            )
            forks[fork + _PASSED] = passed + 1
            forks[fork + _LAST] = code


@micropython.viper
def want(w, p, g, f: int, open_nodes: int) -> int:
    """Mark the open nodes for which feature f is evaluated, clear them; returns how many."""
    shape = ptr32(g[0])
    wanted = ptr8(g[2])
    drawn = ptr8(g[3])
    left = ptr16(g[5])
    forks = ptr16(g[7])
    scores = ptr32(g[8])
    classes = ptr32(p[0])[_P_CLASSES]
    stride = (ptr32(w[0])[_W_FEATURES] + 7) >> 3
    wanted[shape[_CLOSED]] = 0
    some = 0
    for a in range(open_nodes):
        yes = int(scores[a * _SCORES + _SCORE] != _PURE)
        if yes and shape[_MAX_FEATURES]:
            yes = (drawn[a * stride + (f >> 3)] >> (f & 7)) & 1
        wanted[a] = yes
        if yes:
            for k in range(a * classes, a * classes + classes):
                left[k] = 0
            # where the last walk ended, what had passed to the left is now all to the right again
            score = a * _SCORES
            squares = scores[score + _SQUARES_RIGHT] + scores[score + _SQUARES_LEFT]
            scores[score + _SQUARES_RIGHT] = squares
            scores[score + _SQUARES_LEFT] = 0
            forks[a * _FORK + _PASSED] = 0
            some += 1
    return some


@micropython.viper
def draw_thresholds(w, g, rng, base: int, open_nodes: int):
    """Draw a threshold for each wanted node, from its least code to below its greatest.

    A node whose samples all have one code is not wanted any more.
    """
    codes8 = ptr8(w[1])
    codes16 = ptr16(w[1])
    where8 = ptr8(g[1])
    where16 = ptr16(g[1])
    wanted = ptr8(g[2])
    forks = ptr16(g[7])
    wide = ptr32(w[0])[_W_WIDE_CODES]
    wide_where = ptr32(g[0])[_WIDE_WHERE]
    for a in range(open_nodes):
        forks[a * _FORK + _LAST] = 65535  # least code
        forks[a * _FORK + _CUT] = 0  # greatest
    for b in range(ptr32(w[0])[_W_SIZE]):
        a = where16[b] if wide_where else where8[b]
        if wanted[a]:
            code = codes16[base + b] if wide else codes8[base + b]
            if code < forks[a * _FORK + _LAST]:
                forks[a * _FORK + _LAST] = code
            if code > forks[a * _FORK + _CUT]:
                forks[a * _FORK + _CUT] = code
    for a in range(open_nodes):
        if wanted[a]:
            least = forks[a * _FORK + _LAST]
            spread = forks[a * _FORK + _CUT] - least
            if spread:
                forks[a * _FORK + _CUT] = least + int(below(rng, spread))
            else:
                wanted[a] = 0
