"""Surprise: whether a model has become wrong more often than it usually is.

A cumulative sum test (Page, Continuous inspection schemes, Biometrika 1954) on the samples whose
label came. With p the share that was wrong lately, of samples like this one, each adds log2 of how
much likelier what happened is if the model is now right only 3/4 as often:

    wrong: log2(1 / (4 p) + 3/4)      right: log2(3/4) = -0.415

and a sum below 0 is 0. Something has changed where it passes 8. Samples of which the model is sure
are counted apart from the others: an error among the former surprises more.

The words, array('i'), are Q16 where nothing else is said.
"""

from micropython import const

from .fixed import log2

_SUM = const(0)
_WRONG = const(1)  # p of samples of which the model is not sure,
_WRONG_SURE = const(2)  # and of those of which it is
_KNOWN = const(3)  # how many samples these are the means of, up to 256
_KNOWN_SURE = const(4)
_WORDS = const(5)
SURPRISE_WORDS = _WORDS

_LEAST = const(655)  # p is at least 1/100
_RIGHT = const(27200)  # -log2(3/4)
_CHANGE = const(524288)  # 8 bits
_MEMORY = const(256)
_FEW = const(20)  # samples of which no share is known yet
_ONE = const(65536)


def start_surprise(words):
    """Nothing is known yet."""
    words[_SUM] = words[_KNOWN] = words[_KNOWN_SURE] = 0
    words[_WRONG] = words[_WRONG_SURE] = _ONE >> 1


def has_changed(words, sure, wrong, doubtful=False):
    """Note one label more; returns whether something has changed now. Allocates nothing."""
    if sure:
        share = _count(words, _WRONG_SURE, _KNOWN_SURE, wrong)
    else:
        share = _count(words, _WRONG, _KNOWN, wrong)
    if share < 0:
        return False
    change = _change(share) if wrong else -_RIGHT
    words[_SUM] = max(words[_SUM] + change, 0)  # < 8 + 5 bits
    if words[_SUM] <= (_CHANGE >> 1 if doubtful else _CHANGE):
        return False
    words[_SUM] = 0
    words[_KNOWN] = min(words[_KNOWN], _FEW)  # so that the new shares are known soon
    words[_KNOWN_SURE] = min(words[_KNOWN_SURE], _FEW)
    return True


def _count(words, k, n, wrong):
    """Count a label in the words k and n; returns the share before it, -1 while few are known."""
    share = words[k]
    known = words[n] = min(words[n] + 1, _MEMORY)
    words[k] = share + ((_ONE if wrong else 0) - share) // known
    return share if known > _FEW else -1


def _change(share):
    """What a wrong prediction adds, where so many were wrong."""
    share = max(share, _LEAST)
    return (log2(((_ONE + 3 * share) << 8) // share) - 163840) << 2  # 10 << 14


def surprise_is_sound(words):
    """Whether a state that was read can be used."""
    return (
        min(words) >= 0
        and words[_SUM] <= _CHANGE
        and max(words[_WRONG], words[_WRONG_SURE]) <= _ONE
        and max(words[_KNOWN], words[_KNOWN_SURE]) <= _MEMORY
    )
