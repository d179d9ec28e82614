"""Energies in bands compared with numpy's FFT, in the logarithm's unit, for various signals."""

from __future__ import annotations

import math
import sys
from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from property_support import examples

from microshrub_host.library import loader

ROWS = (32, 64, 128, 256, 512)
LIMIT = 2**15
CLOSE = 8  # 1/256 of log2, 0.1 dB, for a band with a thousandth of the energy
FLOOR = 0.001  # share of the signal's amplitude below which an energy is lost in it

Window = NDArray[np.int64]
Rng = np.random.Generator


def spectrum(ring: array[int], engine: str = "checked"):  # type: ignore[no-untyped-def]
    module = sys.modules[f"{loader.load(engine).__name__}.device.spectrum"]
    return module.Spectrum(len(ring), ring, 1)


def energies(x: Window) -> NDArray[np.float64]:
    """Return the energy of each frequency, of the readings without mean and in a Hann window."""
    rows = len(x)
    weights = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(rows) / rows)
    mean = (x.sum() + rows // 2) // rows
    squares: NDArray[np.float64] = np.abs(np.fft.rfft((x - mean) * weights)) ** 2
    return squares


def check(x: Window, engine: str = "checked", first: int = 5) -> None:
    rows, expected = len(x), energies(x)
    ring = array("H", [int(v) & 65535 for v in np.roll(x, first)])
    computed = spectrum(ring, engine)
    computed.take(first, 0)
    half = rows // 2
    for low, high in ((0, half), (1, 3), (half // 4, half // 2), (half, half), (0, 0)):
        code, energy = computed.energy(low, high), expected[low : high + 1].sum()
        loudest = expected[computed.loudest()]
        assert 0 <= code < 2**14
        value = 2 ** (code / 256) if code else 0.0
        noise = FLOOR * math.sqrt(expected.sum()) + math.sqrt(energy) * CLOSE / 256 / 2
        assert math.sqrt(value) == pytest.approx(math.sqrt(energy), abs=noise + 1)
        if energy > expected.sum() / 1000 and energy > 1000:
            assert code == pytest.approx(256 * math.log2(energy), abs=CLOSE)
            assert math.sqrt(loudest) >= math.sqrt(expected[low : high + 1].max()) - 2 * noise - 2


def signal(kind: int, rows: int, size: float, rng: Rng) -> Window:
    n = np.arange(rows)
    tone = np.sin(2 * np.pi * rng.uniform(0, 0.5) * n + rng.uniform(0, 7))
    x = (
        rng.normal(0, 0.3, rows),
        tone,
        np.sign(rng.normal(size=rows)),
        tone + rng.normal(0, 1 / size, rows),
    )[kind] * size
    x = x + rng.uniform(-1, 1) * (LIMIT - size)
    values: Window = np.clip(np.rint(x), -LIMIT, LIMIT - 1).astype(np.int64)
    return values


@settings(max_examples=examples(25))
@given(st.sampled_from(ROWS[:3]), st.integers(0, 3), st.floats(0, 15), st.integers(0, 2**32))
def test_energies_match_numpy(rows: int, kind: int, bits: float, seed: int) -> None:
    check(signal(kind, rows, 2**bits, np.random.default_rng(seed)))


@pytest.mark.parametrize("rows", ROWS)
def test_a_compiled_engine_matches_numpy(rows: int) -> None:
    rng = np.random.default_rng(rows)
    for k in range(200):
        check(signal(k % 4, rows, 2 ** rng.uniform(0, 15), rng), loader.fastest(), k % rows)


@pytest.mark.parametrize("rows", [32, 512])
def test_the_loudest_signals_do_not_overflow(rows: int) -> None:
    low, high, n = -LIMIT, LIMIT - 1, np.arange(rows)
    for x in (
        np.full(rows, low),
        np.where(n % 2, low, high),
        np.where(n % 4 < 2, low, high),
        np.where(n < rows // 2, low, high),
        np.where(n == rows // 2, low, high),
        np.where(np.cos(2 * np.pi * 3 * n / rows) < 0, low, high),
    ):
        check(x.astype(np.int64))


def test_silence_has_no_energy() -> None:
    computed = spectrum(array("H", [700] * 64))
    computed.take(0, 0)
    assert computed.energy(0, 32) == 0


def test_the_sines_are_rounded_once() -> None:
    module = sys.modules[f"{loader.load('checked').__name__}.device.spectrum"]
    for rows in ROWS:
        exact = [math.sin(2 * math.pi * k / rows) for k in range(rows // 4 + 1)]
        assert list(module.sine_table(rows)) == [round(32768 * s) for s in exact]
        assert all(abs(32768 * s % 1 - 0.5) > 1e-9 for s in exact)  # so rounding is certain


def test_a_window_whose_length_is_no_power_of_two() -> None:
    with pytest.raises(ValueError, match="32, 64, 128, 256 or 512 readings"):
        spectrum(array("H", [0] * 60))
