"""Detects when a model is wrong more often than usual.

A cumulative sum test (Page, Continuous inspection schemes, Biometrika 1954) on the samples whose
label has come. p is the recent share of errors among samples like this one. Each sample adds log2
of how much more likely its outcome is if the model is now right only 3/4 as often:

    wrong: log2(1 / (4 p) + 3/4)      right: log2(3/4) = -0.415

and a sum below 0 is set to 0, one above 32 to 32. There is drift when the sum passes 8; it is over
when the sum, with p as it was before, is 0 again. Samples with certain predictions are counted
apart from the others: an error among them weighs more.

The words, array('i'), are Q16 unless stated otherwise.
"""

from micropython import const

from .fixed import log2

_SUM = const(0)
_WRONG = const(1)  # p of samples with uncertain predictions,
_WRONG_SURE = const(2)  # and with certain ones
_KNOWN = const(3)  # of how many samples, up to 256, these are the means
_KNOWN_SURE = const(4)
_WORDS = const(5)
ERROR_WORDS = _WORDS

_LEAST = const(655)  # p is at least 1/100
_RIGHT = const(27200)  # -log2(3/4)
_MOST = const(2097152)  # 32 bits
_MEMORY = const(256)
_FEW = const(20)  # samples, with which a share is not known yet
_ONE = const(65536)


def start_errors(words):
    """Start with no labels."""
    words[_SUM] = words[_KNOWN] = words[_KNOWN_SURE] = 0
    words[_WRONG] = words[_WRONG_SURE] = _ONE >> 1


def add_label(words, sure, wrong, memory=_MEMORY):
    """Note one more label; returns the sum, 0..2**21. Allocates nothing.

    The shares are those of so many labels, at most; with a memory of 0 they stay as they are.
    """
    if sure:
        share = _count(words, _WRONG_SURE, _KNOWN_SURE, wrong, memory)
    else:
        share = _count(words, _WRONG, _KNOWN, wrong, memory)
    if share >= 0:
        words[_SUM] += _change(share) if wrong else -_RIGHT
        words[_SUM] = min(max(words[_SUM], 0), _MOST)
    return words[_SUM]


def _count(words, k, n, wrong, memory):
    """Count a label in the words k and n; returns the share before it, or -1 after few labels."""
    share = words[k]
    if memory:
        words[n] = min(words[n] + 1, memory)
        words[k] = share + ((_ONE if wrong else 0) - share) // words[n]
    return share if words[n] > _FEW else -1


def start_again(words):
    """Set the sum to 0; the shares are soon those of new labels."""
    words[_SUM] = 0
    words[_KNOWN] = min(words[_KNOWN], _FEW)
    words[_KNOWN_SURE] = min(words[_KNOWN_SURE], _FEW)


def _change(share):
    """How much a wrong prediction adds, at that share of errors."""
    share = max(share, _LEAST)
    return (log2(((_ONE + 3 * share) << 8) // share) - 163840) << 2  # 10 << 14


def errors_are_sound(words):
    """Whether a loaded state can be used."""
    return (
        min(words) >= 0
        and words[_SUM] <= _MOST
        and max(words[_WRONG], words[_WRONG_SURE]) <= _ONE
        and max(words[_KNOWN], words[_KNOWN_SURE]) <= _MEMORY
    )
