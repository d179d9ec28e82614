"""Finds the best split of every open node of a level, in one walk over each feature's order.

For a feature, the samples are dealt out to their open nodes in the order of its codes; then each
node walks over its own, with running class counts of those passed. The splitter `best` is CART
(Breiman and others 1984): every boundary between two different codes, with the threshold halfway.
`random` (Extra-Trees, Geurts and others 2006) draws one threshold per feature, between the node's
least and greatest code; it needs no order.

Gini in integers: the split with the least weighted Gini impurity has the greatest

    merit = sum_c left_c**2 / n_left + sum_c right_c**2 / n_right.

The sums of squares are updated with 2n + 1. Up to a window of 64 two merits are compared as
fractions, exactly; beyond it they are held in Q10, whose two divisions are spared where a product
tells that a merit is less than the best so far. Ties are broken at random.

With n = n_left + n_right, t_c of class c and S = sum_c t_c**2 in the node,

    merit * n_left * n_right = n sum_c left_c**2 + (S - 2 sum_c t_c left_c) n_left,

and for two classes it is (S n_left n_right + 2 lead**2) / n with lead = n left_1 - t_1 n_left. So
up to 64, the square of the lead stands for their merit until a level is done.

The scratch buffers are those of cart.py.
"""

import micropython
from micropython import const

from ..fixed import below

# From elsewhere, written by `make constants`:
# places of buffers
_RNG = const(4)
_WINDOW_SHAPE = const(5)
_WINDOW_CODES = const(6)
_WINDOW_LABELS = const(7)
_WINDOW_ORDER = const(8)
_SHRUBS_SHAPE = const(9)
_CART_SHAPE = const(14)
_CART_WHERE = const(15)
_CART_LINE = const(16)
_CART_DRAWN = const(17)
_CART_COUNTS = const(18)
_CART_LEFT = const(19)
_CART_FORKS = const(21)
_CART_SCORES = const(22)
_CART_ENDS = const(23)
# shrub/cart.py
_PURE = const(-2)
_C_MAX_FEATURES = const(0)
_SAMPLES = const(0)
_SQUARES = const(0)
_C_CLOSED = const(1)
_FEATURE = const(1)
_MERIT = const(1)
_BELOW = const(2)
_C_WIDE_WHERE = const(2)
_THRESHOLD = const(2)
_SCORES = const(3)
_TIES = const(3)
_FORK = const(4)
# shrub/pool.py
_P_CLASSES = const(0)
# shrub/window.py
_W_WINDOW = const(0)
_W_FEATURES = const(1)
_W_SIZE = const(2)
_W_WIDE_CODES = const(4)
_W_SORTED = const(6)
# (end)

_EXACT = const(64)  # greatest window whose merits are fractions


@micropython.viper
def draw(t, open_nodes: int):
    """Draw max_features different features for each open node (Floyd's sampling)."""
    address = ptr32(t)
    wanted = ptr32(address[_CART_SHAPE])[_C_MAX_FEATURES]
    if wanted:
        drawn = ptr8(address[_CART_DRAWN])
        features = ptr32(address[_WINDOW_SHAPE])[_W_FEATURES]
        stride = (features + 7) >> 3
        for a in range(open_nodes):
            first = a * stride
            for k in range(first, first + stride):
                drawn[k] = 0
            for j in range(features - wanted, features):
                f = int(below(t, _RNG, j + 1))
                if (drawn[first + (f >> 3)] >> (f & 7)) & 1:
                    f = j
                k = first + (f >> 3)
                drawn[k] = drawn[k] | (1 << (f & 7))


@micropython.viper
def scan(r: int, b: int, t, open_nodes: int):
    """Walk over every feature and leave in forks and scores the best split of each open node.

    r and b are the innermost loop's; whatever is passed, viper has the first two arguments, and
    no other variable, in registers.
    """
    address = ptr32(t)
    shape = ptr32(address[_WINDOW_SHAPE])
    codes8 = ptr8(address[_WINDOW_CODES])
    labels = ptr8(address[_WINDOW_LABELS])
    order8 = ptr8(address[_WINDOW_ORDER])
    order16 = ptr16(address[_WINDOW_ORDER])
    where8 = ptr8(address[_CART_WHERE])
    where16 = ptr16(address[_CART_WHERE])
    line8 = ptr8(address[_CART_LINE])
    line16 = ptr16(address[_CART_LINE])
    drawn = ptr8(address[_CART_DRAWN])
    left = ptr16(address[_CART_LEFT])
    forks = ptr16(address[_CART_FORKS])
    scores = ptr32(address[_CART_SCORES])
    ends = ptr16(address[_CART_ENDS])
    classes = ptr32(address[_SHRUBS_SHAPE])[_P_CLASSES]
    features = shape[_W_FEATURES]
    size = shape[_W_SIZE]
    wide = shape[_W_WIDE_CODES]
    wide_line = int(shape[_W_WINDOW] > 256)
    exact = int(shape[_W_WINDOW] <= _EXACT)
    in_order = shape[_W_SORTED]
    two = int(exact and wide and in_order and classes == 2)  # has a loop of its own
    # a merit times passed * rest is at most window**3 / 4 <= 2**28; in Q(slack) at most 2**30
    slack = 10
    if not exact:
        cube = shape[_W_WINDOW] * shape[_W_WINDOW] * shape[_W_WINDOW] >> 2
        while cube > 1 << (30 - slack):
            slack -= 1
    wide_where = ptr32(address[_CART_SHAPE])[_C_WIDE_WHERE]
    narrow = 0 if wide_line or wide_where else in_order
    choosy = ptr32(address[_CART_SHAPE])[_C_MAX_FEATURES]
    stride = (features + 7) >> 3
    # at the root, the order of a feature is the line
    whole = int(in_order and open_nodes == 1 and forks[_SAMPLES] == size)
    if whole:
        line8 = ptr8(address[_WINDOW_ORDER])
        line16 = ptr16(address[_WINDOW_ORDER])
    cut = 0
    closed = ptr32(address[_CART_SHAPE])[_C_CLOSED]
    for f in range(features):
        base = f * shape[_W_WINDOW]  # < 256 * 1024 = 2**18
        column = address[_WINDOW_CODES] + 2 * base  # where codes have 16 bits
        if choosy or not f:
            # where each node's part of the line begins; dealing moves that to its end. Those that
            # want no split of this feature, and the closed ones, have theirs behind the others'
            dealt = 0
            rest = size
            for a in range(open_nodes):
                samples = forks[a * _FORK + _SAMPLES]
                yes = int(scores[a * _SCORES + _MERIT] != _PURE)
                if yes and choosy:
                    yes = (drawn[a * stride + (f >> 3)] >> (f & 7)) & 1
                if yes:
                    ends[a] = dealt
                    dealt += samples
                else:
                    rest -= samples
                    ends[a] = rest
        if not dealt:
            continue
        ends[closed] = dealt
        rest = base + size
        if whole:
            ends[0] = size
            rest = base
        r = base
        while narrow and rest - r:
            b = order8[r]
            goes = address[_CART_ENDS] + 2 * where8[b]
            k = ptr16(goes)[0]
            ptr16(goes)[0] = k + 1
            line8[k] = b
            r += 1
        while rest - r:
            b = r - base
            if in_order:
                b = order16[r] if wide_line else order8[r]
            a = where16[b] if wide_where else where8[b]
            k = ends[a]
            ends[a] = k + 1
            if wide_line:
                line16[k] = b
            else:
                line8[k] = b
            r += 1
        for a in range(open_nodes):
            fork = address[_CART_FORKS] + 2 * _FORK * a
            samples = ptr16(fork)[_SAMPLES]
            end = ends[a]
            begin = end - samples
            ends[a] = begin  # as it was, for the next feature
            if end > dealt:
                continue
            if not in_order:
                cut = int(draw_threshold(t, base, begin, end))
            if whole:
                begin = base
                end += base
            score = a * _SCORES
            merit = scores[score + _MERIT]
            below_it = scores[score + _BELOW]
            counts = address[_CART_COUNTS] + 2 * classes * a
            if two:
                ones = ptr16(counts)[1]
                zeros = samples - ones
                lead = 0  # samples * ones passed - ones * samples passed
                last = ptr16(column)[line8[begin]]  # the code before
            else:
                for c in range(classes):
                    left[c] = 0
                squares = scores[score + _SQUARES]
                squares_left = 0
                met = 0  # for each sample passed, how many of its class the node has
                bound = merit >> (10 - slack)
                last = -1  # there is none
            r = begin
            while end - r:
                better = -1
                # on to the next boundary that is as good as the best so far
                if two:
                    while end - r:
                        b = line8[r]
                        code = ptr16(column)[b]
                        if code - last:
                            last = code
                            # lead**2 is at most (64**2 / 4)**2 = 2**20, and each side 2**30
                            if lead * lead * below_it >= merit * ((r - begin) * (end - r)):
                                before = ptr16(column)[line8[r - 1]]
                                over = lead * lead
                                under = (r - begin) * (end - r)
                                better = over * below_it - merit * under
                                break
                        if labels[b]:
                            lead += zeros
                        else:
                            lead -= ones
                        r += 1
                else:
                    while end - r:
                        b = line16[r] if wide_line else line8[r]
                        code = ptr16(column)[b] if wide else codes8[base + b]
                        if not in_order:
                            code = int(code > cut)
                        if code - last:
                            before = last
                            last = code
                            passed = r - begin
                            under = passed * (end - r)
                            if under:
                                over = squares_left * samples + (squares - 2 * met) * passed
                                if exact:  # 64**3 / 4 = 2**16 and 64**2 / 4 = 2**10 at most
                                    better = over * below_it - merit * under  # < 2**26
                                elif over << slack >= bound * under:
                                    # in Q10: a sum of squares is at most 1023**2, << 10: < 2**30
                                    over = (squares_left << 10) // passed
                                    under = squares - 2 * met + squares_left  # the right one's
                                    over += (under << 10) // (end - r)
                                    under = 1
                                    better = over - merit
                                if better >= 0:
                                    break
                        b = labels[b]
                        code = left[b]
                        left[b] = code + 1
                        squares_left += 2 * code + 1  # by which n**2 grows
                        met += ptr16(counts)[b]
                        r += 1
                if better >= 0:
                    ties = 1
                    if not better:
                        ties = ptr16(fork)[_TIES] + 1
                    if ties == 1 or int(below(t, _RNG, ties)) == 0:
                        merit = over
                        below_it = under
                        scores[score + _MERIT] = merit
                        scores[score + _BELOW] = below_it
                        bound = merit >> (10 - slack)
                        ptr16(fork)[_FEATURE] = f
                        ptr16(fork)[_THRESHOLD] = (before + last) >> 1 if in_order else cut
                    if ties < 65535:
                        ptr16(fork)[_TIES] = ties
    for a in range(open_nodes if two else 0):
        score = a * _SCORES
        over = scores[score + _MERIT]
        if over >= 0:
            over = 2 * over + scores[score + _SQUARES] * scores[score + _BELOW]  # < 2**23
            scores[score + _MERIT] = over // forks[a * _FORK + _SAMPLES]


@micropython.viper
def draw_threshold(t, base: int, begin: int, end: int) -> int:
    """Draw a threshold for a node, from its least code to below its greatest.

    Its samples, line[begin..end - 1], are put in order: those that go left, then the others. If
    all have one code, the threshold is 65535.
    """
    address = ptr32(t)
    codes8 = ptr8(address[_WINDOW_CODES])
    codes16 = ptr16(address[_WINDOW_CODES])
    line8 = ptr8(address[_CART_LINE])
    line16 = ptr16(address[_CART_LINE])
    wide = ptr32(address[_WINDOW_SHAPE])[_W_WIDE_CODES]
    wide_line = int(ptr32(address[_WINDOW_SHAPE])[_W_WINDOW] > 256)
    least = 65535
    greatest = 0
    for r in range(begin, end):
        b = line16[r] if wide_line else line8[r]
        code = codes16[base + b] if wide else codes8[base + b]
        if code < least:
            least = code
        if code > greatest:
            greatest = code
    if greatest == least:
        return 65535
    cut = least + int(below(t, _RNG, greatest - least))
    for r in range(begin, end):
        b = line16[r] if wide_line else line8[r]
        code = codes16[base + b] if wide else codes8[base + b]
        if code <= cut:
            if wide_line:
                line16[r] = line16[begin]
                line16[begin] = b
            else:
                line8[r] = line8[begin]
                line8[begin] = b
            begin += 1
    return cut
