"""Samples made of a sensor's readings: the same on all engines and on a board, no allocation."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from microshrub_host.library import loader
from microshrub_host.simulation.feature_extraction import Extractor
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.streams.stream import Extraction

CHANNELS = ("x", "y", "t")
AUTO = "window=64 hop=16 statistics=none bands=auto"
ABSENT = -(2**29)
WORDS = (
    "window=32 hop=8 bands=0-10,10-50 band-pass=2-30 plain=t rate=100",
    "window=64 hop=100 bands=20-25 statistics=min,energy rate=100",
    "window=7 hop=1 statistics=deviation high-pass=1 zero=100,-5,3 rate=1000",
    "window=1 hop=3 low-pass=5 rate=50",
    "window=32 hop=8 statistics=crossings bands=auto",
    "window=20 hop=4",
    "window=2 hop=1 statistics=all",
    "window=32 hop=8 statistics=mean turns=x:y,t:x",
    "window=64 hop=16",  # x and y are axes of one sensor
)

BOARD = """
import micropython
from array import array
from microshrub.device.feature_extractor import FeatureExtractor

def run(extractor, values):
    for at in range(0, len(READINGS), 3):
        for c in range(3):
            reading[c] = READINGS[at + c]
        if extractor.take(reading, values):
            for k in range(extractor.features):
                print(values[k], end=" ")
    print()

reading = array("i", [0] * 3)
for options in OPTIONS:
    extractor = FeatureExtractor(3, **options)
    values = array("i", [0] * extractor.features)
    micropython.heap_lock()
    run(extractor, values)
    micropython.heap_unlock()
"""


def readings(rows: int = 300) -> NDArray[np.int32]:
    rng = np.random.default_rng(8)
    values = rng.normal(0, 4000, (rows, 3)).astype(np.int32)
    values[:, 1] += (9000 * np.sin(np.arange(rows) * 1.3)).astype(np.int32)
    values[::17, 0] = 60000  # beyond 16 bits
    values[5::23, 1] = ABSENT
    values[40, 2] = 2**29 - 1
    return values


def extraction(words: str) -> Extraction:
    return FeatureOptions.of(words.split()).extraction(CHANNELS)


def samples(words: str, engine: str, rows: NDArray[np.int32]) -> list[list[int]]:
    extractor = Extractor(extraction(words), engine)
    return [sample for row in rows.tolist() if (sample := extractor.take(row))]


@pytest.mark.parametrize("words", WORDS)
def test_engines_agree(words: str) -> None:
    rows = samples(words, "checked", readings())
    options = FeatureOptions.of(words.split())
    assert len(rows) == (len(readings()) - options.window) // options.hop + 1
    assert {len(sample) for sample in rows} == {len(options.names(CHANNELS))}
    assert samples(words, loader.fastest(), readings()) == rows


def test_a_board_makes_the_same_and_allocates_nothing(
    run_micropython: Callable[[str], str],
) -> None:
    rows = readings()
    options = [extraction(words).options for words in WORDS]
    program = f"from array import array\nREADINGS = array('i', {rows.ravel().tolist()})\n"
    lines = run_micropython(f"{program}OPTIONS = {options}\n{BOARD}").splitlines()
    for words, line in zip(WORDS, lines, strict=True):
        flat = [v for sample in samples(words, loader.fastest(), rows) for v in sample]
        assert list(map(int, line.split())) == flat


def test_plain_columns_are_unchanged() -> None:
    rows = samples(WORDS[0], "checked", readings())
    last = readings()[31::8, 2].tolist()
    assert [sample[-4] for sample in rows] == last  # before the turns


def sense(engine: str, angle: float, loud: float, rows: int = 64) -> list[int]:
    """Return the turns of a circle, whose angle grows with each reading; with an offset."""
    at = angle * np.arange(rows)
    circle = np.rint(loud * np.stack([np.cos(at) + 9, np.sin(at), 0 * at], 1)).astype(int)
    return samples("window=64 statistics=none turns=x:y", engine, circle.astype(np.int32))[0]


@pytest.mark.parametrize("loud", [30, 900, 3200])
def test_a_turn_shows_the_sense_of_rotation_at_any_loudness(loud: float) -> None:
    angle = 2 * np.pi / 16
    lags = np.array([1, 2, 4])
    expected = 2048 * np.sin(lags * angle) * (1 - lags / 64)
    assert sense("checked", angle, loud) == pytest.approx(expected, rel=0.04)
    assert sense("checked", -angle, loud) == pytest.approx(-expected, rel=0.04)


def test_a_slow_circle_stands_out_from_noise_with_a_longer_lag() -> None:
    chance = np.random.default_rng(4)
    at = 2 * np.pi * np.arange(64) / 50
    circle = 600 * np.stack([np.cos(at), np.sin(at), 0 * at], 1)
    turns = []
    for _ in range(40):
        rows = np.rint(circle + chance.normal(0, 150, circle.shape)).astype(np.int32)
        turns.append(samples("window=64 statistics=none turns=x:y", "checked", rows)[0])
    clear = np.mean(turns, axis=0) / np.std(turns, axis=0)
    assert clear[0] > 2
    assert clear[2] > 1.5 * clear[0]


def test_a_turn_matches_numpy_and_is_zero_where_an_axis_stands_still() -> None:
    rows = readings(64).astype(np.int64)
    rows[rows == ABSENT] = 0
    rows = np.clip(rows, -32768, 32767)
    rows[:, 2] = 17
    computed = samples("window=64 statistics=none turns=all", "checked", rows.astype(np.int32))[0]
    a, b = (rows[:, k] - rows[:, k].mean() for k in range(2))
    for turn, lag in zip(computed, (1, 2, 4), strict=False):
        area = np.sum(a[:-lag] * b[lag:] - b[:-lag] * a[lag:])
        assert turn == pytest.approx(1024 * area / np.sqrt(np.sum(a**2) * np.sum(b**2)), abs=25)
    assert computed[3:] == [0] * 6


def test_chosen_bands_are_shares_of_the_whole_at_any_loudness() -> None:
    """The features are log2 of each share, in 1/256; the shares add up to 1."""
    rows = np.random.default_rng(5).normal(0, 900, (300, 3)).astype(np.int32)
    results = []
    for loud in (1, 2, 8):
        parts = np.array(samples(AUTO, "checked", rows * loud)).reshape(-1, 11)[:, 3:]
        assert np.abs(np.sum(2.0 ** (parts / 256), axis=1) - 1).max() < 0.03
        results.append(np.where(parts > -2560, parts, 0))  # fainter shares are less precise
    for louder in results[1:]:
        assert np.abs(louder - results[0]).max() <= 16


def test_tones_are_the_loudest_frequency_and_its_double_at_any_loudness() -> None:
    """x: two tones; y: a tone above a quarter of the rate; t: silence."""
    angle = 2 * np.pi * np.arange(64) / 64
    one = np.sin(5 * angle) + 0.5 * np.sin(10 * angle)
    for loud in (100, 1000, 10_000):
        rows = loud * np.column_stack([one, np.sin(20 * angle), 0 * angle])
        computed = samples(AUTO, "checked", np.rint(rows).astype(np.int32))[-1]
        (x, y, t) = (computed[at : at + 3] for at in (0, 11, 22))
        parts = 256 * np.log2([5, 0.8, 0.2])
        assert x == pytest.approx(parts.tolist(), abs=8)
        assert y == pytest.approx([256 * np.log2(20), 0, -2560], abs=8)
        assert t == [0, -2560, -2560]


def test_after_a_gap_no_earlier_reading_counts() -> None:
    extractor = Extractor(extraction(WORDS[0]), "checked")
    rows = readings().tolist()
    for row in rows[:50]:
        extractor.take(row)
    extractor._extractor.restart()
    fresh = Extractor(extraction(WORDS[0]), "checked")
    assert [extractor.take(row) for row in rows] == [fresh.take(row) for row in rows]


GOOD = extraction(WORDS[0]).options


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"window": 33}, "32, 64, 128, 256 or 512 readings"),
        ({"window": 0}, "window .* 1..1024"),
        ({"hop": 0}, "hop .* 1..1024"),
        ({"zero": [0]}, "zero .* 3 numbers"),
        ({"statistics": [8]}, "statistics .* 0..7"),
        ({"bands": [[3, 2]]}, "last frequency .* 3..16"),
        ({"bands": [[1]]}, "a band is two frequencies"),
        ({"tones": True, "bands": []}, "tones need bands"),
        ({"turns": [[0, 3]]}, "turns"),
        ({"lags": [0]}, "lags .* 1..32"),
        ({"lags": [33]}, "lags .* 1..32"),
        ({"plain": [3]}, "plain .* 0..2"),
        ({"window": 1, "bands": []}, "a window of one reading has no statistics"),
    ],
)
def test_invalid_options_are_refused(wrong: dict[str, Any], words: str) -> None:
    module = loader.load("checked").device.feature_extractor
    with pytest.raises(ValueError, match=words):
        module.FeatureExtractor(3, **GOOD | wrong)


def test_absent_readings_before_the_first_are_the_zero() -> None:
    options = GOOD | {"window": 1, "hop": 1, "statistics": [], "bands": [], "filters": []}
    options.pop("turns")
    options.pop("lags")
    module = loader.load("checked").device.feature_extractor
    extractor = module.FeatureExtractor(3, **options | {"zero": [7, 8, 9], "plain": []})
    values = array("i", [1, 1, 1])
    assert extractor.take(array("i", [ABSENT] * 3), values)
    assert list(values) == [0, 0, 0]
