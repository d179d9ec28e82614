"""How a thicket's bytes are divided among its members.

The constants were chosen on ten streams together, of 3 to 42 features and 2 to 10 classes.
"""

from micropython import const

from ..shrub.ensemble import ShrubEnsemble
from .bayes import GaussianNaiveBayes
from .grove import Grove
from .softmax import SoftmaxRegression

_LEAST = const(8)  # samples that a tree is grown on
_SMALL = const(65536)  # bytes up to which
_MOST = const(1024)  # so many samples are enough,
_MOST_OF_ALL = const(8192)  # and so many with more bytes
_MOST_TREES = const(64)
_TREES = const(36)  # more of them gain little where they have leaves enough


def softmax_share(features, classes, limit):
    """A planned softmax regression, and whether it takes part.

    It does if it needs at most a third of the bytes; otherwise, one of the smallest size stands in
    for it, since the kernels' tuple always has the same form.
    """
    wanted = SoftmaxRegression.plan(features=features, classes=classes)
    if wanted.table_bytes() <= limit // 3:
        return wanted, True
    return SoftmaxRegression.plan(features=1, classes=2), False


def bayes_share(features, classes, limit, rest, seed):
    """A planned naive Bayes, and whether it takes part: if it needs at most a fifth of the bytes.

    It does not, either, if that leaves too little of the rest for a grove.
    """
    wanted = GaussianNaiveBayes.plan(features=features, classes=classes, seed=seed)
    needed = wanted.table_bytes()
    least = _grove(features, classes, _LEAST, 0, 0, seed).table_bytes()
    if needed <= limit // 5 and needed + least <= rest:
        return wanted, True
    return GaussianNaiveBayes.plan(features=1, classes=2), False


def shrubs_share(features, classes, limit, seed):
    """Planned fast shrubs, and whether they take part: if they need at most a sixth of the bytes.

    A tiny window, a new shrub with every sample and a large step follow runs of one label.
    """
    wanted = ShrubEnsemble.plan(
        features=features, classes=classes, window=12, trees=4, depth=3, step=8, seed=seed
    )
    if wanted.table_bytes() <= limit // 6:
        return wanted, True
    return ShrubEnsemble.plan(features=1, classes=2, window=2, trees=1, depth=1), False


def reach(features, limit):
    """How many samples the nearest neighbours search: with the bytes, so many features of them.

    That bounds their time, which is most of a prediction's: on a Cortex-M0 it is about 50
    instructions a feature of a sample, but for the sums that are not added up to their end.
    """
    return max(limit // (7 * features), _LEAST)


def grove_share(features, classes, limit, seed):
    """The plan of the largest grove that fits into `limit` bytes; None if none does.

    All of it grows together: the window first of all, since the nearest neighbours search it, too,
    with more leaves to a tree and more trees. Within 64 KB, a window of 1024 samples is enough,
    and what bytes there are besides go to more trees. Beyond, they go to samples and leaves.
    """
    large = limit > _SMALL
    low = _LEAST
    high = _MOST_OF_ALL if large else _MOST
    if _grove(features, classes, low, 0, large, seed).table_bytes() > limit:
        return None
    while low < high:  # the greatest window that fits, by halving
        window = (low + high + 1) // 2
        if _grove(features, classes, window, 0, large, seed).table_bytes() <= limit:
            low = window
        else:
            high = window - 1
    trees = 0
    if low == _MOST and not large:
        trees = _MOST_TREES
        while trees and _grove(features, classes, low, trees, 0, seed).table_bytes() > limit:
            trees -= 1
    return _grove(features, classes, low, trees, large, seed)


def _grove(features, classes, window, trees, large, seed):
    """The plan of a grove with that window, and the given number of trees, or the usual one."""
    return Grove.plan(
        features=features,
        classes=classes,
        window=window,
        trees=trees or min(4 + window // 32, _TREES),
        leaves=min(max(window // 8, 4), _MOST_OF_ALL // 8 if large else 96),
        every=min(max(window // 4, 4), 64),
        seed=seed,
    )
