"""The rules of QueryStrategy: the label budget, the uncertainty of a sample, whether to query it.

The integers of query.words are below; see active_learning.py.
"""

import micropython
from micropython import const

from .fixed import below
from .uncertainty import has_risen

# From elsewhere, written by `make constants`:
# places of buffers
_QUERY_WORDS = const(0)
_QUERY_RNG = const(1)
_QUERY_UNCERTAINTY = const(3)
# (end)

_Q_SAVED = const(0)  # queries that may be made, one after the other
_Q_NEXT = const(1)  # 0..samples - 1: the part of the next query that is earned, in 1 / samples
_Q_LIMIT = const(2)  # the threshold
_Q_DEBT = const(3)  # how much the threshold has still to rise, in 1 / samples
_Q_ASKS = const(4)  # 1: the last sample is queried
_Q_PHASE = const(5)  # 0, or one of those below
_Q_SEEN = const(6)  # samples so far,
_Q_QUERIES = const(7)  # and how many of them were queried; both are halved at 2**29
_Q_OWED = const(8)  # earned queries of which only every second one counts
_Q_PROBES = const(9)  # samples that are still queried because drift is suspected
_Q_KEPT = const(10)  # saved queries that drift leaves
_Q_LABELS = const(11)
_Q_SAMPLES = const(12)
_Q_MOST_SAVED = const(13)
_Q_CHANCE = const(14)  # of a sample to be drawn at random, in 2**-30
_Q_RISE = const(15)  # while labels are saved: step * labels // samples,
_Q_REST = const(16)  # and step * labels % samples
_Q_RISE_ENOUGH = const(17)  # the same while enough are saved
_Q_REST_ENOUGH = const(18)
_Q_ENOUGH = const(19)  # saved queries
_Q_FALL = const(20)  # step, a number that code for a Cortex-M0 could not hold where it is frozen
_Q_MISLED = const(21)  # how often it was wrong lately where it was certain
_Q_CREDIT = const(22)  # what may be owed at most: 2 for each query in advance
_Q_WORDS = const(23)

# Phases: in the last two, every sample is queried until only _Q_KEPT are saved
_Q_OVER = const(1)  # that has just happened
_Q_DRIFT = const(2)
_Q_BEGINNING = const(3)

_Q_PROBE = const(100)  # samples that are queried when drift is suspected, at most
_Q_LENT = const(20000)  # samples, before which queries are made in advance
_FIRST = const(14000)  # samples before labels are saved
_Q_HIGHEST = const(33554432)  # 2**25: half of it is above any margin
_Q_FULL = const(536870912)  # 2**29


@micropython.viper
def margin(votes: ptr32, classes: int) -> int:
    """How many more votes the first class has than the second, 0..2**24."""
    first = 0
    second = 0
    for c in range(classes):
        vote = votes[c]
        if vote > first:
            second = first
            first = vote
        elif vote > second:
            second = vote
    return first - second


@micropython.viper
def earn(t):
    """Add the share of a query that this sample earns; half of it pays back the advance."""
    words = ptr32(ptr32(t)[_QUERY_WORDS])
    part = words[_Q_NEXT] + words[_Q_LABELS]  # < 2 * samples <= 2**30
    if part >= words[_Q_SAMPLES]:
        part -= words[_Q_SAMPLES]
        owed = words[_Q_OWED]
        if owed:
            words[_Q_OWED] = owed - 1
        if not owed & 1 and words[_Q_SAVED] < words[_Q_MOST_SAVED]:
            words[_Q_SAVED] = words[_Q_SAVED] + 1
    words[_Q_NEXT] = part


@micropython.viper
def borrow(t, queries: int):
    """See that so many queries are saved: make some in advance, as far as is allowed."""
    words = ptr32(ptr32(t)[_QUERY_WORDS])
    more = queries - words[_Q_SAVED]
    allowed = (words[_Q_CREDIT] - words[_Q_OWED]) >> 1
    if more > allowed:
        more = allowed
    if more > 0 and words[_Q_SEEN] < _Q_LENT:
        words[_Q_SAVED] = words[_Q_SAVED] + more
        words[_Q_OWED] = words[_Q_OWED] + 2 * more


@micropython.viper
def move(t, uncertain: int):
    """Move the threshold after a sample, towards the wanted share of uncertain samples.

    It is above 0 before it falls by a step.
    """
    words = ptr32(ptr32(t)[_QUERY_WORDS])
    rise = words[_Q_RISE_ENOUGH]
    debt = words[_Q_DEBT] + words[_Q_REST_ENOUGH]  # < 2 * samples <= 2**30
    if words[_Q_SEEN] >= _FIRST and words[_Q_SAVED] < words[_Q_ENOUGH]:
        rise = words[_Q_RISE]
        debt = words[_Q_DEBT] + words[_Q_REST]
    if debt >= words[_Q_SAMPLES]:
        debt -= words[_Q_SAMPLES]
        rise += 1
    words[_Q_DEBT] = debt
    limit = words[_Q_LIMIT] + rise - uncertain * words[_Q_FALL]
    words[_Q_LIMIT] = limit if limit < _Q_HIGHEST else _Q_HIGHEST


@micropython.viper
def wants(t, sure: int) -> int:
    """1 if a sample with that margin is uncertain, or drawn at random."""
    words = ptr32(ptr32(t)[_QUERY_WORDS])
    # a threshold in units of 2**11, <= 2**14, times 1/2 <= r < 3/2 in Q15: < 2**30
    r = 16384 + int(below(t, _QUERY_RNG, 32768))
    uncertain = int(sure < (words[_Q_LIMIT] >> 11) * r >> 4)
    move(t, uncertain)
    if uncertain:
        return 1
    chance = words[_Q_CHANCE]
    r = int(below(t, _QUERY_RNG, 32768)) - (chance >> 15)
    if not r:
        r = int(below(t, _QUERY_RNG, 32768)) - (chance & 32767)
    return int(r < 0)


@micropython.viper
def probe(t, sure: int) -> int:
    """1 if a sample with that margin is to be queried because drift is suspected."""
    words = ptr32(ptr32(t)[_QUERY_WORDS])
    suspected = int(has_risen(t, _QUERY_UNCERTAINTY, sure, words[_Q_SEEN]))
    if suspected and words[_Q_PHASE] < _Q_DRIFT:
        most = words[_Q_SAVED] >> 2
        lent = words[_Q_CREDIT] >> 3
        if most < lent:
            borrow(t, lent)
            most = lent
        words[_Q_PROBES] = most if most < _Q_PROBE else _Q_PROBE
    if not words[_Q_PROBES]:
        return 0
    words[_Q_PROBES] = words[_Q_PROBES] - 1
    return 1


@micropython.viper
def decide(t, votes, classes: int) -> int:
    """1 if the sample with these votes is to be queried, else 0; notes the query."""
    words = ptr32(ptr32(t)[_QUERY_WORDS])
    earn(t)
    sure = int(margin(votes, classes))
    asks = int(probe(t, sure))
    saved = words[_Q_SAVED]
    if saved <= words[_Q_KEPT]:
        words[_Q_KEPT] = 0
        if words[_Q_PHASE]:
            words[_Q_PHASE] = _Q_OVER
    if words[_Q_PHASE] < _Q_DRIFT:
        asks = asks | int(wants(t, sure))
    if words[_Q_PHASE] >= _Q_DRIFT:
        asks = 1
    if not saved:
        asks = 0
    words[_Q_SAVED] = saved - asks
    words[_Q_ASKS] = asks
    if words[_Q_SEEN] == _Q_FULL:
        words[_Q_SEEN] = _Q_FULL >> 1
        words[_Q_QUERIES] = words[_Q_QUERIES] >> 1
    words[_Q_SEEN] = words[_Q_SEEN] + 1
    words[_Q_QUERIES] = words[_Q_QUERIES] + asks
    return asks
