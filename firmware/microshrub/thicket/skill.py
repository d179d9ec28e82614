"""How well each member of a balanced thicket knows each class, however rare that is.

How often a member was right says hardly anything about a rare class: one that never says it is
right 99 times in a hundred. So, of each class's own samples, a mean is kept of

    skill = 1 - (1 - p)**2

with p the part that the label had of the member's votes, once these are weighed so that all
classes count the same (Brier: Verification of forecasts expressed in terms of probability, Monthly
Weather Review 1950). What weights a member is the mean over the classes, as recalls of classes do
in Wang, Minku, Yao: Resampling-based ensemble methods for online class imbalance learning, IEEE
Transactions on Knowledge and Data Engineering 2015, section 3.2.

The buffers are those of balanced.py.
"""

import micropython
from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_THICKET_STATE = const(0)
_BAYES_VOTES = const(1)
_SOFTMAX_VOTES = const(1)
_VOTES = const(1)
_THICKET_SAID = const(2)
_THICKET_ACCURACY = const(3)
_GROVE_VOTES = const(4)
_NEIGHBOURS_VOTES = const(4)
_BALANCED_EVEN = const(12)
_BALANCED_SKILL = const(13)
_BALANCED_JUDGED = const(14)
# thicket/members.py
_GROVE = const(0)
_NEIGHBOURS = const(1)
_T_CLASSES = const(1)
_SOFTMAX = const(2)
_SHRUBS = const(3)
_LAST = const(4)
_OWN = const(4)
_BAYES = const(5)
_MEMBERS = const(6)
# (end)

_MEMORY = const(64)  # samples of a class that a skill looks back over
_FIRST = const(8)  # of them, those that the skill at the start stands for
_SOFTEN = const(3)  # differences of skills count a third of those of accuracies
SOFTEN = _SOFTEN
MOST_JUDGED = _MEMORY - _FIRST
START = const(49152)  # 3/4 in Q16: of a member that gives both of two classes half of its votes


@micropython.viper
def judge(t, label: int):
    """What the members said of the sample that was asked for last, once its label is known.

    What follows for their shares, rate() says.
    """
    own = t[_OWN]
    address = ptr32(own)
    said = ptr32(address[_THICKET_SAID])
    judged = ptr8(address[_BALANCED_JUDGED])
    if judged[label] < _MEMORY - _FIRST:
        judged[label] = judged[label] + 1
    if said[_GROVE] >= 0:
        note(own, _GROVE, label, int(likelihood(own, t[_GROVE], _GROVE_VOTES, label)))
    if said[_NEIGHBOURS] >= 0:
        p = int(likelihood(own, t[_NEIGHBOURS], _NEIGHBOURS_VOTES, label))
        note(own, _NEIGHBOURS, label, p)
    if said[_SOFTMAX] >= 0:
        note(own, _SOFTMAX, label, int(likelihood(own, t[_SOFTMAX], _SOFTMAX_VOTES, label)))
    if said[_SHRUBS] >= 0:
        note(own, _SHRUBS, label, int(likelihood(own, t[_SHRUBS], _VOTES, label)))
    if said[_BAYES] >= 0:
        note(own, _BAYES, label, int(likelihood(own, t[_BAYES], _BAYES_VOTES, label)))
    if said[_LAST] >= 0:
        note(own, _LAST, label, 4095 if said[_LAST] == label else 0)


@micropython.viper
def likelihood(own, member, place: int, label: int) -> int:
    """The label's part of a member's votes, weighed evenly: Q12, 0..4095."""
    address = ptr32(own)
    even = ptr32(address[_BALANCED_EVEN])
    votes = ptr32(ptr32(member)[place])
    total = 0  # <= 2**16 * 2**12, as all votes together are at most about 2**16 * 255
    for c in range(ptr32(address[_THICKET_STATE])[_T_CLASSES]):
        total += (votes[c] >> 8) * even[c]
    return (votes[label] >> 8) * even[label] // ((total >> 12) + 1)


@micropython.viper
def note(own, k: int, label: int, p: int):
    """Move the skill of member k for a class to what it gave the label: p in Q12."""
    address = ptr32(own)
    skill = ptr16(address[_BALANCED_SKILL])
    miss = 4095 - p
    k = ptr32(address[_THICKET_STATE])[_T_CLASSES] * k + label
    change = 65535 - (miss * miss >> 8) - skill[k]  # within +-2**16; the skill is 0..65535 again
    skill[k] = skill[k] + change // (ptr8(address[_BALANCED_JUDGED])[label] + _FIRST)


@micropython.viper
def rate(own):
    """The members' accuracies become their mean skills, over the classes that came."""
    address = ptr32(own)
    accuracy = ptr32(address[_THICKET_ACCURACY])
    skill = ptr16(address[_BALANCED_SKILL])
    judged = ptr8(address[_BALANCED_JUDGED])
    classes = ptr32(address[_THICKET_STATE])[_T_CLASSES]
    at = 0
    for k in range(_MEMBERS):
        total = 0  # < 256 * 2**16
        came = 0
        for c in range(classes):
            if judged[c]:
                total += skill[at + c]
                came += 1
        at += classes
        accuracy[k] = (total << 4) // (_SOFTEN * came)  # the dividend is < 2**28
