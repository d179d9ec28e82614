"""fixed.poisson: its exact distribution over all random numbers, and samples.

`below` gives each of 2**14 numbers with the same probability, so one inversion has a distribution
in whole 16384ths. `chances` computes it in plain Python; the kernel is compared with `chances`,
and `chances` with the true distribution.
"""

from __future__ import annotations

import sys
from array import array
from functools import cache
from math import exp, factorial, sqrt
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from bare_kernels import address_of, bare_kernel
from numpy.typing import NDArray

from microshrub_host.library import loader

fixed: ModuleType = sys.modules[loader.load("checked").__name__ + ".fixed"]
MULTIPLIERS = (16380, 16365)  # of the generator, see test_fixed.py
DRAWS = 16384
ERROR = 14 / 16384  # of a probability; the last one also takes the rounding losses of all others


def chances(part: int) -> list[int]:
    """Return how many of the 16384 random numbers give k, for a mean of part / 256."""
    chance, left, k, counts = fixed.exp_negative(part << 8), DRAWS, 0, []
    while chance:
        counts.append(min(chance, left))
        left -= counts[-1]
        k += 1
        chance = chance * part // (k << 8)
    return [*counts, left]


@cache
def distribution(rate: int) -> NDArray[np.float64]:
    """Return the probabilities of a sum of inversions, with means of 1 and one of the rest."""
    whole = np.ones(1)
    for part in [256] * (rate // 256) + [rate % 256] * (rate % 256 > 0):
        whole = np.convolve(whole, np.array(chances(part)) / DRAWS)
    return whole


def true_chances(mean: float, length: int) -> NDArray[np.float64]:
    return np.array([exp(-mean) * mean**k / factorial(k) for k in range(length)])


def poisson(rng: array[int], rate: int) -> int:
    drawn: int = fixed.poisson(fixed.generator_table(rng), 0, rate)
    return drawn


def state_for(u: int) -> array[int]:
    """Return a generator whose next 14 bits are u: the inverse of a multiplier is 2**16."""
    z, w = 0x10000 + 2 * u, 0x10000
    before = (s * 2**16 % (a * 2**16 - 1) for s, a in zip((z, w), MULTIPLIERS, strict=True))
    return array("i", before)


@pytest.mark.parametrize("rate", [1, 5, 77, 128, 200, 255, 256])
def test_every_random_number_gives_the_value_of_the_inversion(rate: int) -> None:
    expected = np.repeat(np.arange(len(chances(rate))), chances(rate))
    assert len(expected) == DRAWS
    for u in (*range(0, DRAWS, 7), *np.cumsum(chances(rate))[:-1], DRAWS - 1):
        for near in (u - 1, u):
            if 0 <= near < DRAWS:
                state = state_for(int(near))
                assert fixed.below(fixed.generator_table(array("i", state)), 0, DRAWS) == near
                assert poisson(state, rate) == expected[near]


def test_chances_match_the_poisson_distribution() -> None:
    """This holds for every mean up to 1; all but 17 are off by less than 10 of 16384."""
    errors = []
    for part in range(1, 257):
        values = np.array(chances(part))
        assert values.sum() == DRAWS
        assert (values >= 0).all()
        length = max(len(values), 12)
        shares = np.zeros(length)
        shares[: len(values)] = values / DRAWS
        off = np.abs(shares - true_chances(part / 256, length)).max()
        errors.append(float(off))
        assert float(shares @ np.arange(length)) == pytest.approx(part / 256, rel=0.01, abs=0.0005)
    assert max(errors) < ERROR
    assert sum(off >= 10 / DRAWS for off in errors) == 17


@pytest.mark.parametrize("rate", [257, 512, 700, 1536, 4096])
def test_larger_means_are_sums(rate: int) -> None:
    """The errors of the parts add up: a sum's probabilities are means of a part's."""
    computed = distribution(rate)
    parts = -(-rate // 256)
    assert np.abs(computed - true_chances(rate / 256, len(computed))).max() < parts * ERROR
    k = np.arange(len(computed))
    mean = float(computed @ k)
    assert mean == pytest.approx(rate / 256, rel=0.01)
    assert float(computed @ (k - mean) ** 2) == pytest.approx(rate / 256, rel=0.01)


@pytest.fixture(scope="module")
def draw_many() -> Any:
    """A loop over the compiled kernel: (rng, rate, out)."""
    compiled = sys.modules[loader.load("llvm").__name__ + ".fixed"]
    draw = bare_kernel("fixed", "poisson")

    def draws(rng: array[int], rate: int, out: NDArray[np.int64]) -> None:
        table = compiled.generator_table(rng)
        t = address_of(table)
        out[:] = [draw(t, 0, rate) for _ in range(len(out))]

    return draws


@pytest.mark.parametrize("rate", [3, 64, 256, 300, 512, 1000, 1536, 4096])
def test_samples_have_that_distribution(rate: int, draw_many: Any) -> None:
    """200,000 samples pass chi-square; their mean is within 1 % of the true one."""
    from scipy import stats

    rng, out = array("i", [0, 0]), np.zeros(200_000, np.int64)
    fixed.seed_generator(rng, rate)
    draw_many(rng, rate, out)
    computed = distribution(rate)
    assert out.max() < len(computed)
    counts, expected = np.bincount(out, minlength=len(computed)), computed * len(out)
    often = expected >= 10
    assert counts[expected == 0].sum() == 0
    pooled = [*counts[often], counts[~often].sum()]
    rest = max(expected[~often].sum(), 1e-9)
    if rest < 10:
        pooled, rest = list(counts[often]), 0
    shares = np.array([*expected[often], *([rest] if rest else [])])
    shares *= sum(pooled) / shares.sum()
    assert 0.0005 < stats.chisquare(pooled, shares).pvalue < 0.9995
    noise = 4 * sqrt(rate / 256 / len(out))
    assert abs(out.mean() - rate / 256) < 0.01 * rate / 256 + noise


def test_a_mean_of_0_gives_0_and_draws_nothing() -> None:
    rng = array("i", [0, 0])
    fixed.seed_generator(rng, 9)
    before = list(rng)
    assert all(poisson(rng, 0) == 0 for _ in range(100))
    assert list(rng) == before


def test_equal_seeds_give_equal_draws() -> None:
    streams = []
    for seed in (1, 1, 2):
        rng = array("i", [0, 0])
        fixed.seed_generator(rng, seed)
        streams.append([poisson(rng, 1 + 41 * i) for i in range(100)])
    assert streams[0] == streams[1] != streams[2]
