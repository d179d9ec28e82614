"""How the members' votes are mixed: each counts according to its recent accuracy.

The buffers are those of thicket.py.
"""

import micropython
from micropython import const

from .decays import exp_decays

# From elsewhere, written by `make constants`:
# places of buffers
_THICKET_STATE = const(0)
_BAYES_VOTES = const(1)
_SOFTMAX_VOTES = const(1)
_THICKET_VOTES = const(1)
_VOTES = const(1)
_THICKET_SAID = const(2)
_THICKET_ACCURACY = const(3)
_GROVE_VOTES = const(4)
_NEIGHBOURS_VOTES = const(4)
_THICKET_SHARE = const(4)
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

_ONE = const(1048576)  # an accuracy of 1, Q20
_MEMORY = const(8)  # log2 of the samples that an accuracy looks back over
_NOTHING = const(1048576)  # exp_decay() of it is 0
_CERTAIN = const(65280)  # votes of 65536 * 255, by 256


@micropython.viper
def opinion(member, place: int, best: int) -> int:
    """The class with the most votes, or -1: a member that has learned nothing yet has none.

    The votes' address stands at that place of the member's table.
    """
    return best if ptr32(ptr32(member)[place])[best] else -1


@micropython.viper
def mix(t) -> int:
    """Mix the members' votes, each by its share; returns the class with the most."""
    own = t[_OWN]
    address = ptr32(own)
    votes = ptr32(address[_THICKET_VOTES])
    share = ptr32(address[_THICKET_SHARE])
    classes = ptr32(address[_THICKET_STATE])[_T_CLASSES]
    for c in range(classes):
        votes[c] = 0
    add(own, t[_GROVE], _GROVE_VOTES, share[_GROVE])
    add(own, t[_NEIGHBOURS], _NEIGHBOURS_VOTES, share[_NEIGHBOURS])
    if share[_SOFTMAX]:
        add(own, t[_SOFTMAX], _SOFTMAX_VOTES, share[_SOFTMAX])
    if share[_SHRUBS]:
        add(own, t[_SHRUBS], _VOTES, share[_SHRUBS])
    if share[_BAYES]:
        add(own, t[_BAYES], _BAYES_VOTES, share[_BAYES])
    if share[_LAST]:
        c = ptr32(address[_THICKET_SAID])[_LAST]
        votes[c] = votes[c] + _CERTAIN * share[_LAST]
    best = 0
    for c in range(classes):
        votes[c] = votes[c] >> 4
        if votes[c] > votes[best]:
            best = c
    return best


@micropython.viper
def weigh(own, place: int, sharpness: int):
    """The members' shares of the votes, from accuracies; one that abstains has none.

    The address of the accuracies stands at that place of the table. A share is proportional to
    exp(sharpness * (accuracy - the best one's)).
    """
    address = ptr32(own)
    said = ptr32(address[_THICKET_SAID])
    accuracy = ptr32(address[place])
    share = ptr32(address[_THICKET_SHARE])
    top = 0
    for k in range(_MEMBERS):
        if said[k] >= 0 and accuracy[k] > top:
            top = accuracy[k]
    for k in range(_MEMBERS):
        share[k] = _NOTHING
        if said[k] >= 0:
            share[k] = (sharpness * (top - accuracy[k])) >> 4  # 60 * 2**20
    exp_decays(0, 0, _MEMBERS, own, _THICKET_SHARE)


@micropython.viper
def divide(own):
    """Make the shares add up to about 4096."""
    share = ptr32(ptr32(own)[_THICKET_SHARE])
    total = 0  # <= 7 * 2**14
    for k in range(_MEMBERS):
        total += share[k]
    for k in range(_MEMBERS):
        if share[k]:  # to divide takes most of the time
            share[k] = (share[k] << 12) // total


@micropython.viper
def add(own, member, place: int, share: int):
    """Add a member's votes, of which there are about 65536 * 255 in all or none."""
    address = ptr32(own)
    votes = ptr32(address[_THICKET_VOTES])
    x = ptr32(ptr32(member)[place])
    for c in range(ptr32(address[_THICKET_STATE])[_T_CLASSES]):
        votes[c] = votes[c] + (x[c] >> 8) * share  # 2**16 * 2**12, and so are all together


@micropython.viper
def judge(own, label: int):
    """Was each member right? One that abstained was not."""
    address = ptr32(own)
    said = ptr32(address[_THICKET_SAID])
    accuracy = ptr32(address[_THICKET_ACCURACY])
    for k in range(_MEMBERS):
        right = _ONE if said[k] == label else 0
        accuracy[k] = accuracy[k] + ((right - accuracy[k]) >> _MEMORY)
