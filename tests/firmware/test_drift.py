"""ADWIN's windows compared with lists of bits, and its cuts with the definition in float64.

The kernel's errors, u being 1/16384:

    the means     each rounded down: their difference by less than u
    D             by less than 4/1024, LOG_ODDS_BOUND: two logarithms of 6/16384 each, ln 2 in
                  Q12 and four roundings, the first two of them divided by ln(width) > 2.3
    the variance  between 2 u too low (rounded down twice) and u too high
    the bound     2 v D by u, the root by u, the second term by u, all too low; and it is too
                  high since m is rounded down

So the right bound lies between `certain` and `possible` below, and only cases between the two may
be decided either way.
"""

from __future__ import annotations

import sys
from math import log, sqrt
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from bare_kernels import address_of, bare_kernel
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from property_support import examples

from microshrub_host.library import loader

Bits = NDArray[np.uint8]
DELTA, CLOCK, LEAST, SIZES, BUCKETS = 0.002, 32, 5, 12, 4
MOST = BUCKETS * (2**SIZES - 1)
U = 1 / 16384
LOG_ODDS_BOUND = 4 / 1024


def module(engine: str, name: str) -> ModuleType:
    return sys.modules[f"{loader.load(engine).__name__}.{name}"]


def windows(count: int, engine: str = "checked") -> tuple[Any, ...]:
    """Return windows as in hat.py, cleared after other contents."""
    table = module(engine, "adwin").windows_table(count)
    d = tuple(module(engine, "buffers").allocate(code, n) for _, code, n in table)
    for buffer in d:
        for i in range(len(buffer)):
            buffer[i] = 77
    for k in range(count):
        module(engine, "adwin").clear_window(table_of(d, engine), 0, k)
    return d


def table_of(d: tuple[Any, ...], engine: str = "checked") -> Any:
    """Return the kernels' table; the windows begin at place 0."""
    return module(engine, "buffers").address_table(d)


def buckets(d: tuple[Any, ...], k: int) -> list[tuple[int, int]]:
    """Return (bits, ones) of each bucket, the oldest first."""
    results = []
    for size in reversed(range(SIZES)):
        row = k * SIZES + size
        results += [(1 << size, d[4][row * BUCKETS + i]) for i in range(d[3][row])]
    return results


def check_window(d: tuple[Any, ...], k: int, bits: list[int]) -> None:
    """Check that a window holds the last `width` of the bits, in buckets of its layout."""
    width, total = d[0][k], d[1][k]
    assert width <= min(len(bits), MOST)
    assert total == sum(bits[len(bits) - width :])
    parts = buckets(d, k)
    assert sum(size for size, _ in parts) == width
    assert all(d[3][k * SIZES + size] <= BUCKETS for size in range(SIZES))
    at = len(bits) - width
    for size, ones in parts:
        assert ones == sum(bits[at : at + size])
        at += size
    assert d[2][k] < CLOCK


def level(bits: list[int], width: int) -> int:
    """Return the mean of the last `width` bits in Q14, rounded down."""
    return sum(bits[len(bits) - width :]) * 16384 // width if width else 0


@settings(max_examples=examples(60))
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 300), st.floats(0, 1)), max_size=12),
)
def test_windows_hold_their_last_bits(seed: int, runs: list[tuple[int, int, float]]) -> None:
    """The kernel returns 1 only after a check that cut the window and left a greater mean."""
    drift = module("checked", "adwin")
    d = windows(3)
    rng = np.random.default_rng(seed)
    bits: list[list[int]] = [[], [], []]
    for k, length, p in runs:
        others = [drift_state(d, other) for other in range(3) if other != k]
        for bit in (rng.random(length) < p).astype(int).tolist():
            bits[k].append(bit)
            before = d[0][k] + 1
            change = drift.add_bit(table_of(d), 0, k, bit)
            after = d[0][k]
            assert after <= before
            assert change == int(after < before and level(bits[k], after) > level(bits[k], before))
            assert d[2][k] == 0 or after == before
            assert drift.mean(table_of(d), 0, k) == level(bits[k], after)
        check_window(d, k, bits[k])
        assert others == [drift_state(d, other) for other in range(3) if other != k]


def drift_state(d: tuple[Any, ...], k: int) -> list[list[int]]:
    """Return the complete state of window k."""
    rows = (1, 1, 1, SIZES, SIZES * BUCKETS)
    return [list(buffer[k * n : (k + 1) * n]) for buffer, n in zip(d, rows, strict=True)]


@given(st.integers(0, 400), st.integers(0, 2**32 - 1))
def test_drop_oldest_forgets_one_bucket(length: int, seed: int) -> None:
    drift = module("checked", "adwin")
    d = windows(2)
    bits = np.random.default_rng(seed).integers(0, 2, length).tolist()
    for bit in bits:
        drift.push(table_of(d), 0, 1, bit)
    while d[0][1]:
        oldest, *rest = buckets(d, 1)
        before = d[0][1]
        drift.drop_oldest(table_of(d), 0, 1)
        assert d[0][1] == before - oldest[0]
        assert buckets(d, 1) == rest
        check_window(d, 1, bits)
    assert drift.mean(table_of(d), 0, 1) == 0


@pytest.mark.parametrize("ones", [0, 1])
def test_a_full_window_forgets_its_oldest_bits(ones: int) -> None:
    """With over 20,000 equal bits, 16-bit widths and 32-bit sums suffice, and there is no cut."""
    drift = module("checked", "adwin")
    d = windows(2)
    widest = 0
    for i in range(1, 20_601):
        assert drift.add_bit(table_of(d), 0, 0, ones) == 0
        assert MOST - 2 * 2048 < d[0][0] <= MOST or d[0][0] == i
        assert d[1][0] == ones * d[0][0]
        widest = max(widest, d[0][0])
    assert widest == MOST
    check_window(d, 0, [ones] * 20_600)
    assert d[0][1] == d[1][1] == 0


def test_a_full_window_of_mixed_bits_stays_exact() -> None:
    drift = module("checked", "adwin")
    d = windows(1)
    bits = (np.random.default_rng(4).random(20_600) < 0.5).astype(int).tolist()
    for i, bit in enumerate(bits, 1):
        drift.add_bit(table_of(d), 0, 0, bit)
        if i % 997 == 0 or i > 20_590:
            check_window(d, 0, bits[:i])
    assert d[0][0] > 12_000


# The decision


def test_log_odds_keeps_its_bound_for_every_width() -> None:
    drift = module("checked", "adwin")
    for width in range(2 * LEAST, MOST + 1):
        exact = log(2 * log(width) / DELTA)
        assert abs(drift.log_odds(width, 1000) / 1024 - exact) < LOG_ODDS_BOUND
        assert 7.7 < exact < 9.2


def decide(d: tuple[Any, ...], k: int) -> tuple[bool, bool, bool]:
    """Return ADWIN's decision on these buckets: (cut, cut for certain, possibly cut)."""
    width, total = d[0][k], d[1][k]
    share = total / width
    v, odds = share * (1 - share), log(2 * log(width) / DELTA)
    low_v = max(0.0, 2 * (v - 2 * U) * (odds - LOG_ODDS_BOUND) - U)
    high_v = 2 * (v + U) * (odds + LOG_ODDS_BOUND)
    cut = certain = possible = False
    older = ones = 0
    for size, n in buckets(d, k):
        older, ones = older + size, ones + n
        newer = width - older
        if older < LEAST or newer < LEAST:
            continue
        apart = abs(ones / older - (total - ones) / newer)
        m = older * newer / width
        low = sqrt(low_v / m) + 2 * (odds - LOG_ODDS_BOUND) / (3 * m) - 2 * U
        high = sqrt(high_v / int(m)) + 2 * (odds + LOG_ODDS_BOUND) / (3 * int(m))
        cut |= apart > sqrt(2 * v * odds / m) + 2 * odds / (3 * m)
        certain |= apart - U > high
        possible |= apart + U > low
    return cut, certain, possible


def test_differs_matches_the_definition_in_floats() -> None:
    """5,000 decisions cover small and large changes of the mean, narrow and wide windows."""
    drift = module("checked", "adwin")
    rng = np.random.default_rng(1)
    count = unclear = cuts = other = 0
    for _ in range(200):
        d = windows(1)
        for _ in range(int(rng.integers(1, 4))):
            p = rng.random() ** 2
            for bit in (rng.random(int(2 ** rng.uniform(2, 9))) < p).astype(int).tolist():
                drift.push(table_of(d), 0, 0, bit)
                if d[0][0] >= 2 * LEAST and rng.random() < 0.15:
                    differs = bool(drift.differs(table_of(d), 0, 0, 1000))
                    cut, certain, possible = decide(d, 0)
                    assert certain <= differs <= possible
                    count += 1
                    cuts += cut
                    unclear += certain != possible
                    other += differs != cut
    assert count > 5000
    assert 0.1 < cuts / count < 0.9
    assert unclear < 0.1 * count
    assert other < 0.03 * count


# As a detector


def long_runs() -> Any:
    """Return a loop over add_bit, from (d, k, bits, returned) to the number of 1s returned."""
    add_bit = bare_kernel("adwin", "add_bit")

    def feed(d: tuple[Any, ...], k: int, bits: Bits, returned: Bits) -> int:
        table = table_of(d, "llvm")
        t = address_of(table)
        returned[:] = [add_bit(t, 0, k, bit) for bit in bits.tolist()]
        return int(returned.sum())

    return feed


@pytest.fixture(scope="module")
def feed() -> Any:
    return long_runs()


def draw(rng: np.random.Generator, length: int, p: float) -> Bits:
    return (rng.random(length) < p).astype(np.uint8)


@pytest.mark.parametrize("p", [0.05, 0.2, 0.5])
def test_false_alarms_are_as_rare_as_delta_requires(p: float, feed: Any) -> None:
    """In 100 streams of 20,000 bits, with a check every 32 bits, at most a tenth of delta is used.

    Delta is a bound that ADWIN's proof adds up over all cuts; the alarms here are 0 to 1 of 62,500
    checks, of which delta would allow 125.
    """
    rng = np.random.default_rng(int(p * 100))
    alarms = 0
    for _ in range(100):
        d, bits = windows(1, "llvm"), draw(rng, 20_000, p)
        alarms += feed(d, 0, bits, np.zeros_like(bits))
    looks = 100 * 20_000 / CLOCK
    assert alarms <= DELTA * looks / 10


def bits_to_notice(old: int, p: float, rise: float) -> int:
    """Return how many new bits, after `old` old ones, make half of the rise significant."""
    new = LEAST
    while True:
        share = (old * p + new * (p + rise)) / (old + new)
        odds, m = log(2 * log(old + new) / DELTA), old * new / (old + new)
        if sqrt(2 * share * (1 - share) * odds / m) + 2 * odds / (3 * m) < rise / 2:
            return new + CLOCK
        new += 1


@pytest.mark.parametrize(("old", "rise"), [(10_000, 0.1), (1000, 0.3), (10_000, 0.3)])
@pytest.mark.parametrize("p", [0.05, 0.2, 0.5])
def test_a_rise_is_detected_in_time(p: float, old: int, rise: float, feed: Any) -> None:
    """Each of 40 streams needs at most 1.5 times the bits for half of the rise, 140 to 2,634."""
    rng = np.random.default_rng(old)
    limit = bits_to_notice(old, p, rise) * 3 // 2
    for _ in range(40):
        d = windows(1, "llvm")
        feed(d, 0, draw(rng, old, p), np.zeros(old, np.uint8))
        new = draw(rng, limit, p + rise)
        assert feed(d, 0, new, np.zeros_like(new)) >= 1
        feed(d, 0, draw(rng, 5000, p + rise), np.zeros(5000, np.uint8))
        assert abs(d[1][0] / d[0][0] - (p + rise)) < rise / 2  # and the old bits are forgotten


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.2), (0.6, 0.5), (0.95, 0.05), (1.0, 0.0)])
def test_a_fall_is_forgotten_without_an_alarm(p: float, q: float, feed: Any) -> None:
    """In 100 streams of 2,000 bits and 2,000 more, the mean becomes the new bits' mean."""
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(100):
        d = windows(1, "llvm")
        feed(d, 0, draw(rng, 2000, p), np.zeros(2000, np.uint8))
        new = draw(rng, 2000, q)
        alarms += feed(d, 0, new, np.zeros_like(new))
        assert d[0][0] < 2600 or p - q < 0.2
        assert abs(d[1][0] / d[0][0] - q) < 0.1
    assert alarms <= 2  # by chance


def rivers(bits: Bits, most: int) -> list[int]:
    """Return the bit counts at which River's ADWIN cuts its window."""
    from river.drift import ADWIN

    other = ADWIN(delta=DELTA, clock=CLOCK, max_buckets=most, min_window_length=LEAST)
    results = []
    for i, bit in enumerate(bits.tolist(), 1):
        other.update(bit)
        if other.drift_detected:
            results.append(i)
    return results


@pytest.mark.parametrize("most", [4, 5])
@pytest.mark.parametrize(("p", "q"), [(0.1, 0.4), (0.05, 0.3), (0.3, 0.8), (0.0, 1.0)])
def test_large_rises_are_detected_when_river_detects_them(
    p: float, q: float, most: int, feed: Any
) -> None:
    """Of 10 streams, at least 8 are within three checks of River's, all within ten."""
    rng = np.random.default_rng(7)
    apart = []
    for _ in range(10):
        bits = np.concatenate([draw(rng, 3000, p), draw(rng, 1500, q)])
        alarms = np.zeros_like(bits)
        feed(windows(1, "llvm"), 0, bits, alarms)
        ours = next(i + 1 for i in np.flatnonzero(alarms).tolist() if i >= 3000)
        theirs = next(i for i in rivers(bits, most) if i > 3000)
        apart.append(abs(ours - theirs) / CLOCK)
    assert sorted(apart)[7] <= 3
    assert max(apart) <= 10


def test_a_rise_is_detected_as_late_as_delta_implies() -> None:
    d = windows(1)
    rng = np.random.default_rng(11)
    rates = np.repeat([0.3, 0.45, 0.3], 1500)
    bits = (rng.random(len(rates)) < rates).tolist()
    cut = [
        i
        for i, bit in enumerate(bits)
        if module("checked", "adwin").add_bit(table_of(d), 0, 0, bit)
    ]
    assert cut == [1823, 1919]  # with delta 0.02 it would be 1695
