"""The random generator compared with big integers and chi-square, the functions with math."""

from __future__ import annotations

import ast
import sys
from array import array
from collections.abc import Iterator
from math import exp, isqrt, log2
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microshrub_host.library import library_files, loader

fixed: ModuleType = sys.modules[loader.load("checked").__name__ + ".fixed"]

SEEDS = st.integers(0, 2**30 - 1)
EDGES = (0, 1, 2**15, 2**16, 2**29, 2**30 - 2, 2**30 - 1)
BITS = 2**15  # a draw has 15 random bits


def read_multipliers() -> tuple[int, int]:
    """Return _A and _B from the source."""
    tree = ast.parse((library_files.folder() / "fixed.py").read_text(encoding="utf-8"))
    constants = {
        node.targets[0].id: ast.literal_eval(node.value.args[0])
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
    }
    return constants["_A"], constants["_B"]


MULTIPLIERS = read_multipliers()
MODULI = tuple(a * 2**16 - 1 for a in MULTIPLIERS)


def is_prime(n: int) -> bool:
    """Whether n is prime, by Miller and Rabin, with bases that are exact below 3.3e24."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    if n < 2 or any(n % p == 0 for p in bases):
        return n in bases
    twos = (n - 1 & 1 - n).bit_length() - 1
    for base in bases:
        x = pow(base, (n - 1) >> twos, n)
        if x not in (1, n - 1) and all((x := x * x % n) != n - 1 for _ in range(twos - 1)):
            return False
    return True


def seeded(seed: int) -> array[int]:
    rng = array("i", [0] * fixed.RNG_WORDS)
    fixed.seed_generator(rng, seed)
    return rng


def below(rng: array[int], n: int) -> int:
    drawn: int = fixed.below(fixed.generator_table(rng), 0, n)
    return drawn


def reference(state: list[int], n: int) -> Iterator[tuple[list[int], int]]:
    """Yield state and draw of each step: multiply-with-carry multiplies modulo a * 2**16 - 1."""
    while True:
        state = [x * a % m for x, a, m in zip(state, MULTIPLIERS, MODULI, strict=True)]
        yield state, ((state[0] ^ state[1]) % BITS) * n // BITS


def test_is_prime_is_right_for_small_numbers() -> None:
    sieve = [n for n in range(2000) if n > 1 and all(n % p for p in range(2, n))]
    assert [n for n in range(2000) if is_prime(n)] == sieve


@pytest.mark.parametrize("a", MULTIPLIERS)
def test_the_period_is_as_long_as_documented(a: int) -> None:
    modulus, period = a * 2**16 - 1, a * 2**15 - 1
    assert is_prime(modulus)
    assert is_prime(period)
    # The order of a divides a prime and is not 1, so every state but the two fixed points, 0 and
    # the modulus, recurs after exactly `period` steps.
    assert pow(a, period, modulus) == 1
    assert a % modulus != 1
    assert modulus < 2**30


def test_the_generators_differ() -> None:
    assert MULTIPLIERS[0] != MULTIPLIERS[1]


@given(SEEDS, st.integers(1, 65536))
def test_draws_match_the_big_integer_generator(seed: int, n: int) -> None:
    rng = seeded(seed)
    expected = reference(list(rng), n)
    for _ in range(50):
        draw = below(rng, n)
        assert (list(rng), draw) == next(expected)


@pytest.mark.parametrize("seed", EDGES)
def test_a_long_run_stays_with_the_reference_and_within_30_bits(seed: int) -> None:
    rng = seeded(seed)
    expected = reference(list(rng), BITS)
    for _ in range(20000):
        draw = below(rng, BITS)
        assert (list(rng), draw) == next(expected)
        assert all(0 < x < m for x, m in zip(rng, MODULI, strict=True))


@given(SEEDS)
@pytest.mark.parametrize("edge", EDGES)
def test_every_seed_gives_a_state_that_changes(edge: int, seed: int) -> None:
    for given_seed in (edge, seed):
        state = seeded(given_seed)
        assert all(0 < x < m for x, m in zip(state, MODULI, strict=True))


def test_neighbouring_seeds_give_other_draws() -> None:
    from scipy import stats

    streams = []
    for seed in range(2000):
        rng = seeded(seed)
        streams.append(tuple(below(rng, 256) for _ in range(8)))
    assert len(set(streams)) == len(streams)
    first = [draws[0] for draws in streams]
    assert stats.chisquare([first.count(k) for k in range(256)]).pvalue > 0.001


def state_before(z: int, w: int) -> array[int]:
    """Return the state whose next draw is made from z and w: the inverse of a is 2**16."""
    return array("i", [s * 2**16 % m for s, m in zip((z, w), MODULI, strict=True)])


def test_below_is_below_for_every_n() -> None:
    none, all_bits = state_before(12345, 12345), state_before(0x5555, 0x2AAA)
    for n in range(1, 65537):
        assert below(array("i", none), n) == 0
        assert below(array("i", all_bits), n) == n * (BITS - 1) // BITS <= n - 1


@given(SEEDS, st.integers(1, BITS))
def test_every_value_below_n_is_possible(seed: int, n: int) -> None:
    value = seed % n
    least = -(-value * BITS // n)  # the least 15 bits that give it
    z = seed % (MODULI[0] - BITS) // BITS * BITS + BITS + least
    assert below(state_before(z, BITS), n) == value


@pytest.mark.parametrize("n", [2, 3, 7, 10, 256, 1000])
@pytest.mark.parametrize("seed", [1, 20, 2**30 - 1])
def test_draws_are_uniform(n: int, seed: int) -> None:
    from scipy import stats

    rng = seeded(seed)
    counts = [0] * n
    for _ in range(20000):
        counts[below(rng, n)] += 1
    assert 0.001 < stats.chisquare(counts).pvalue < 0.999


@pytest.mark.parametrize("n", [2, 5, 16])
@pytest.mark.parametrize("lag", [1, 2, 3])
def test_draws_do_not_depend_on_earlier_ones(n: int, lag: int) -> None:
    from scipy import stats

    rng = seeded(5)
    draws = [below(rng, n) for _ in range(20000)]
    counts = [0] * n * n
    for before, after in zip(draws[::2], draws[lag::2], strict=False):
        counts[before * n + after] += 1
    assert 0.001 < stats.chisquare(counts).pvalue < 0.999


def test_exp_negative_keeps_its_bound_everywhere() -> None:
    for x in range(65537):
        assert abs(fixed.exp_negative(x) / 16384 - exp(-x / 65536)) < 5 / 16384


def test_exp_negative_is_1_at_0_and_fits_14_bits() -> None:
    assert fixed.exp_negative(0) == 16384
    assert all(0 < fixed.exp_negative(x) <= 16384 for x in range(65537))


LOG2_BOUND = 6 / 16384


def test_log2_keeps_its_bound_for_every_17_bits() -> None:
    for n in range(1, 2**17):
        assert abs(fixed.log2(n) / 16384 - log2(n)) < LOG2_BOUND


@given(st.integers(1, 2**30 - 1))
def test_log2_keeps_its_bound_anywhere(n: int) -> None:
    assert abs(fixed.log2(n) / 16384 - log2(n)) < LOG2_BOUND


@pytest.mark.parametrize("top", range(30))
def test_log2_keeps_its_bound_around_powers_of_two_and_between(top: int) -> None:
    """There are 16,384 values of each size; the lower bits of larger ones hardly matter."""
    assert fixed.log2(1 << top) == top << 14
    between = range(1 << top, 2 << top, max(1, (1 << top) >> 14))
    for n in (*between, (2 << top) - 1):
        assert abs(fixed.log2(n) / 16384 - log2(n)) < LOG2_BOUND


def test_n_log2_keeps_its_bound_everywhere_and_30_bits() -> None:
    assert fixed.n_log2(0) == fixed.n_log2(1) == 0
    for n in range(2, 32769):
        y = fixed.n_log2(n)
        assert abs(y / 1024 - n * log2(n)) < (6 * n + 16) / 16384
        assert 0 < y < 2**29


def test_square_root_matches_math() -> None:
    roots = range(2**15)
    for n in (*range(2**16), *(r * r for r in roots), *(r * r - 1 for r in roots[1:]), 2**30 - 1):
        assert fixed.square_root(n) == isqrt(n)


@given(st.integers(0, 2**30 - 1))
def test_square_root_matches_math_anywhere(n: int) -> None:
    assert fixed.square_root(n) == isqrt(n)


def test_exp_decay_matches_exp_of_minus_x() -> None:
    for x in [*range(0, 1 << 20, 977), (1 << 31) - 1]:
        assert abs(fixed.exp_decay(x) / 16384 - exp(-x / 65536)) < 6 / 16384
