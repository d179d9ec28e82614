"""Rehearsal: how a thicket learns from a sample whose label is not queried.

A model that learns one label in ten could ignore the other nine samples. Instead, with each of
them, or with a random ten for each label:

- If its class has at least 250/255 of the votes, the sample may be taken into the ring with the
  class that was predicted: at random, at most three such samples for each label. So the ring
  follows clusters that move. Nothing else learns it, and no member is judged by it. None is
  taken in while recent labels contradict certain predictions: the model would confirm a concept
  that has drifted away.
- The grove's next tree grows, as it does with a label: with a tenth of the labels, as many new
  trees grow as with all labels, from the samples in the ring.
- The softmax regression learns four more times, from samples drawn at random among the newest 512:
  older samples may belong to an earlier concept.

When the QueryStrategy notices a drift that contradicts certain predictions, all samples but the
newest 32 are forgotten, unless labels come in runs. drift_response.py is late here: it compares
errors with the usual errors, and queried samples have many errors anyway.

With fewer than one label in 20, nothing is rehearsed, and nothing is forgotten at once: the model
would rehearse an old concept, or have hardly any samples for a long time. All this was chosen with
a tenth of the labels: the parts on eight streams together, the share of the votes on four of them,
the softmax regression's four and 512 on weather alone, and how many samples to forget on streams
that change every few thousand samples. Rehearsal needs no state: the grove's generator draws its
random numbers.
"""

from array import array

import micropython
from micropython import const

from ..fixed import below
from .drift_response import disregard
from .grove import tend
from .sample_store import fetch, forget, in_runs, take
from .softmax import predict as ask_softmax
from .softmax import step

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_THICKET_STATE = const(0)
_THICKET_VOTES = const(1)
_RING_LABELS = const(2)
_NEIGHBOURS_STATE = const(3)
_GROVE_RNG = const(17)
_STORE_STATE = const(22)
# thicket/drift_response.py
_KEPT = const(32)
# thicket/members.py
_GROVE = const(0)
_NEIGHBOURS = const(1)
_SOFTMAX = const(2)
_THICKET = const(4)
_T_WITH_SOFTMAX = const(6)
# thicket/neighbours.py
_N_COUNT = const(8)
# thicket/sample_ring.py
_R_LENGTH = const(0)
_R_HELD = const(3)
_R_HEAD = const(4)
# thicket/sample_store.py
_W_FIRST = const(0)
# (end)

_SURE = const(16384000)  # 250 * 2**16
_TAKEN = const(3)  # the most samples that are taken in per label
_REHEARSED = const(10)  # the most samples that are rehearsed per label
_STEPS = const(4)
_RECENT = const(512)  # samples that the softmax regression learns again
_WHOLE = const(32768)  # a chance of 1
_LEAST = const(16384)  # the lowest chance of rehearsing: 1/2, for one label in 20


@micropython.viper
def rehearse(t, x, row, predicted: int, chance: int, often: int):
    """Learn the sample x, the last that was predicted, as the predicted class, without a label."""
    address = ptr32(t[_THICKET])
    state = ptr32(address[_THICKET_STATE])
    if often < _WHOLE and int(below(t[_GROVE], _GROVE_RNG, _WHOLE)) >= often:
        return
    if (
        ptr32(address[_THICKET_VOTES])[predicted] >= _SURE
        and int(below(t[_GROVE], _GROVE_RNG, _WHOLE)) < chance
    ):
        take(t[_GROVE], x, 0, predicted)
    tend(t[_GROVE])
    if state[_T_WITH_SOFTMAX] and ptr32(ptr32(t[_GROVE])[_RING_SHAPE])[_R_HELD]:
        for _ in range(_STEPS):
            label = int(recall(t[_GROVE], row))
            ask_softmax(t[_SOFTMAX], row, 0)
            step(t[_SOFTMAX], label, 1)


@micropython.viper
def let_go(t):
    """Forget the samples of the concept before a drift."""
    if int(in_runs(t[_GROVE])):
        return
    forget(t[_GROVE], _KEPT)
    disregard(t[_GROVE])
    ptr32(ptr32(t[_NEIGHBOURS])[_NEIGHBOURS_STATE])[_N_COUNT] = 0


@micropython.viper
def recall(t, row) -> int:
    """Fill row with the codes of a recent sample, drawn at random; returns its label."""
    address = ptr32(t)
    ring = ptr32(address[_RING_SHAPE])
    begin = ptr32(address[_STORE_STATE])[_W_FIRST]  # of the ring, once all places are taken
    if ring[_R_HELD] < ring[_R_LENGTH]:
        begin = 0
    newest = ring[_R_HELD] - begin
    b = ring[_R_HEAD] - 1 - int(below(t, _GROVE_RNG, newest if newest < _RECENT else _RECENT))
    if b < begin:
        b += newest  # the ring is full, or there would be none before the first
    fetch(t, row, b)
    return ptr8(address[_RING_LABELS])[b]


class Rehearsal:
    """Lets a thicket learn between the queries of a QueryStrategy.

    model     a Thicket
    strategy  the QueryStrategy that decides on its queries

        predicted = model.predict_next(x)
        if not strategy.ask(model.votes):
            rehearsal.rehearse(x, predicted)
        else:
            ...                                      # once the person has answered
            if strategy.note(model.votes, predicted != label):
                rehearsal.let_go()
            model.learn(x, label)
    """

    def __init__(self, model, strategy):
        self._model = model
        self._strategy = strategy
        self._row = array("H", bytes(2 * model.features))
        self._often = min(_WHOLE * _REHEARSED * strategy.labels // strategy.samples, _WHOLE)
        if self._often < _LEAST:
            self._often = 0
        taken = min(_WHOLE * _TAKEN * strategy.labels // strategy.samples, _WHOLE)
        self._chance = max(taken, _WHOLE * _TAKEN // _REHEARSED)

    def rehearse(self, x, predicted):
        """Learn x, the sample predicted last, as the predicted class. Allocates nothing."""
        if self._often:
            chance = 0 if self._strategy.is_misled else self._chance
            rehearse(self._model._addresses, x, self._row, predicted, chance, self._often)

    def let_go(self):
        """Forget all but the newest samples, after drift. Allocates nothing."""
        if self._often:
            let_go(self._model._addresses)
