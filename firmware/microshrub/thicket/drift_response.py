"""How a thicket responds to concept drift: errors far above their usual share.

With p the usual share of errors, and r the share over about the last sixteen samples, there is
drift where r > p + margin and (r - p - margin)**2 > p (1 - p) / 2, which is four standard
deviations of 32 samples.

- While the classes are mixed, all samples but the newest 32 are forgotten. p is the mean over the
  last 256 labels.
- While labels come in runs, the last label would hide the change. So r counts the errors of the
  best member that does not use it, and p comes from that member's accuracy. A new class is often
  predicted wrong at first, and contradicts no sample: its errors count once the class is known.
  After drift, nothing is forgotten at once: for 64 labels, the five nearest neighbours with
  another label are contradicted three times as much, and the trees' leaves learn as fast as while
  the classes are mixed. So new samples replace the samples that they contradict, and no others.

The buffers are those of thicket.py.
"""

import micropython
from micropython import const

from .sample_store import contradict, forget, in_runs

# From elsewhere, written by `make constants`:
# places of buffers
_THICKET_STATE = const(0)
_THICKET_PREDICTIONS = const(2)
_GROVE_STATE = const(3)
_THICKET_ALONE = const(5)
_NEIGHBOURS_DISTANCE = const(6)
_NEIGHBOURS_NEAREST = const(7)
_SPROUT_STATE = const(9)
_GROVE_GROWN = const(21)
_STORE_STATE = const(22)
# thicket/members.py
_GROVE = const(0)
_NEW = const(0)
_NEIGHBOURS = const(1)
_OLD = const(1)
_BECAME = const(2)
_OWN = const(4)
_MEMBERS = const(6)
_T_USUAL = const(12)
_T_LATELY = const(13)
_T_ALONE = const(14)
_T_FAMILIAR = const(15)
# thicket/neighbours.py
_FAR = const(65536)
# thicket/sample_store.py
_W_SEEN = const(4)
_W_RUN = const(6)
_W_ALERT = const(7)
# thicket/trees.py
_G_USED = const(1)
_S_GROWING = const(1)
# (end)

_ONE = const(1048576)  # 1 in Q20
_LATELY = const(4)  # log2 of the labels that the share of late looks back over
_MARGIN = const(82)  # 0.08 in Q10
_MARGIN_IN_RUNS = const(205)  # 0.2
_MARGIN_OF_NEW = const(307)  # 0.3: of a class that became known in its run
_LEARNED = const(64)  # labels of a run before which a new class is not known
_KEPT = const(32)  # samples that stay
_KNOWN = const(16)  # samples of a class that is known
_ALERT = const(64)  # labels in a run that contradict more than others
_NEAR = const(3)  # neighbours that a label contradicts,
_NEAR_IN_ALERT = const(5)
_STRENGTH = const(3)


@micropython.viper
def notice(t, label: int, wrong: int):
    """Update the shares of errors with a label, and respond to drift; wrong is 1 for an error."""
    state = ptr32(ptr32(t[_OWN])[_THICKET_STATE])
    labels = ptr32(ptr32(t[_GROVE])[_STORE_STATE])[_W_SEEN] + 1  # <= 257
    usual = state[_T_USUAL]
    state[_T_USUAL] = usual + ((_ONE if wrong else 0) - usual) // labels
    state[_T_LATELY] = int(moved(state[_T_LATELY], wrong))
    changed = int(is_above(state[_T_LATELY], usual, _MARGIN))
    if int(in_runs(t[_GROVE])):
        if state[_T_FAMILIAR] == _OLD or ptr32(ptr32(t[_GROVE])[_STORE_STATE])[_W_ALERT]:
            contradict_near(t, label)
    elif changed:
        forget(t[_GROVE], _KEPT)
        disregard(t[_GROVE])
    if changed:
        state[_T_USUAL] = state[_T_LATELY]


@micropython.viper
def moved(share: int, wrong: int) -> int:
    """Return the recent share of errors, Q20."""
    return share + (((_ONE if wrong else 0) - share) >> _LATELY)


@micropython.viper
def is_above(lately: int, usual: int, margin: int) -> int:
    """Is a share of errors, Q20, far above the usual share?"""
    p = usual >> 10
    above = (lately >> 10) - p - margin
    return int(above > 0 and 2 * above * above > p * (1024 - p))


@micropython.viper
def disregard(t):
    """Let the present trees count little as soon as there are newer trees."""
    address = ptr32(t)
    grown = ptr32(address[_GROVE_GROWN])
    ptr32(address[_SPROUT_STATE])[_S_GROWING] = 0
    for s in range(ptr32(address[_GROVE_STATE])[_G_USED] + 1):
        grown[s] = 1


@micropython.viper
def contradict_near(t, label: int):
    """In a run: let the label speak for and against its neighbours."""
    store = ptr32(ptr32(t[_GROVE])[_STORE_STATE])
    near = ptr32(t[_NEIGHBOURS])
    distance = ptr32(near[_NEIGHBOURS_DISTANCE])
    nearest = ptr16(near[_NEIGHBOURS_NEAREST])
    strength = 1
    reached = _NEAR
    if store[_W_ALERT]:
        store[_W_ALERT] = store[_W_ALERT] - 1
        strength = _STRENGTH
        reached = _NEAR_IN_ALERT
    for r in range(reached):
        if distance[r] < _FAR:
            contradict(t[_GROVE], nearest[r], label, strength)


@micropython.viper
def notice_in_runs(t, label: int):
    """In a run: was the best single member wrong too often?

    A new class is known once it is predicted as well as the others.
    """
    address = ptr32(t[_OWN])
    state = ptr32(address[_THICKET_STATE])
    predictions = ptr32(address[_THICKET_PREDICTIONS])
    alone = ptr32(address[_THICKET_ALONE])
    best = _GROVE
    for k in range(_MEMBERS):
        if predictions[k] >= 0 and (predictions[best] < 0 or alone[k] > alone[best]):
            best = k
    lately = int(moved(state[_T_ALONE], int(predictions[best] != label)))
    usual = _ONE - alone[best]
    state[_T_ALONE] = lately
    store = ptr32(ptr32(t[_GROVE])[_STORE_STATE])
    if state[_T_FAMILIAR] == _NEW:
        if store[_W_RUN] > _LEARNED and lately < usual:
            state[_T_FAMILIAR] = _BECAME
        return
    if int(
        is_above(lately, usual, _MARGIN_IN_RUNS if state[_T_FAMILIAR] == _OLD else _MARGIN_OF_NEW)
    ):
        store[_W_ALERT] = _ALERT
