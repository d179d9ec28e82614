"""Filters compared with scipy's Butterworth filters, and the coefficients of `build`."""

from __future__ import annotations

import sys
from array import array

import numpy as np
import pytest
from numpy.typing import NDArray

from microshrub_host.library import loader
from microshrub_host.simulation import feature_choice

LIMIT = 2**15
CUT_OFFS = (0.0005, 0.003, 0.01, 0.1, 0.25, 0.4)  # as shares of the rate
OFF = 3  # largest error of the loudest signals, in units of a reading; 1 or 2 for others
STATE = 2**28

Readings = NDArray[np.int64]


def filtered(form: str, cut_off: float, x: Readings, engine: str) -> tuple[Readings, int]:
    """Return the filter's output and the largest absolute state."""
    module = sys.modules[f"{loader.load(engine).__name__}.device.feature_extractor"]
    words = module.filter_words(form, feature_choice.design(cut_off, 1))
    state, value = array("i", [7, 7, 0, 0]), array("i", [0])
    outputs, most = [], 0
    for place, reading in enumerate(x.tolist()):
        value[0] = reading
        module.run_filter(value, state, 2, words, 1, int(not place))
        outputs.append(value[0])
        most = max(most, abs(state[2]), abs(state[3]))
    assert list(state[:2]) == [7, 7]
    return np.array(outputs), most


def exact(form: str, cut_off: float, x: Readings) -> NDArray[np.float64]:
    from scipy import signal

    sections = signal.butter(2, 2 * cut_off, f"{form}pass", output="sos")
    outputs, _ = signal.sosfilt(sections, x, zi=signal.sosfilt_zi(sections) * x[0])
    clipped: NDArray[np.float64] = np.clip(outputs, -LIMIT, LIMIT - 1)
    return clipped


def loudest(form: str, cut_off: float, rows: int) -> Readings:
    """Return the 16-bit readings that drive the filter's output highest."""
    from scipy import signal

    sections = signal.butter(2, 2 * cut_off, f"{form}pass", output="sos")
    answer = signal.sosfilt(sections, np.eye(1, rows)[0])
    readings: Readings = np.where(answer[::-1] >= 0, LIMIT - 1, -LIMIT)
    return readings


@pytest.mark.parametrize("form", ["low", "high"])
@pytest.mark.parametrize("cut_off", CUT_OFFS)
def test_filters_match_scipy(form: str, cut_off: float) -> None:
    rng = np.random.default_rng(3)
    rows = int(np.clip(8 / cut_off, 1000, 20000))
    period = np.arange(rows) * cut_off * 2
    for x, off in (
        (np.clip(rng.normal(0, 3000, rows), -LIMIT, LIMIT - 1).astype(np.int64), 1),
        (rng.integers(-3, 4, rows), 1),
        (np.where(np.arange(rows) < 10, -20000, 20000), 2),
        (np.where(period % 2 < 1, LIMIT - 1, -LIMIT), OFF),
        (loudest(form, cut_off, rows), OFF),
    ):
        outputs, most = filtered(form, cut_off, x, loader.fastest())
        assert outputs == pytest.approx(exact(form, cut_off, x), abs=off)
        assert most < STATE


@pytest.mark.parametrize("form", ["low", "high"])
def test_the_loudest_readings_do_not_overflow(form: str) -> None:
    for cut_off in CUT_OFFS[1:]:
        filtered(form, cut_off, loudest(form, cut_off, 400), "checked")


def test_a_steady_signal_passes_or_is_removed_at_once() -> None:
    x = np.full(50, 16384)
    assert set(filtered("low", 0.001, x, "checked")[0].tolist()) == {16384}
    assert set(filtered("high", 0.001, x, "checked")[0].tolist()) == {0}


def test_invalid_filter_words_are_refused() -> None:
    module = sys.modules[f"{loader.load('checked').__name__}.device.feature_extractor"]
    good = feature_choice.design(0.1, 1)
    for form, numbers, words in (
        ("notch", good, "form .* low, high"),
        ("low", good[:2], "three coefficients, not 2"),
        ("low", [[40000, 0], *good[1:]], "mantissa has to be"),
        ("low", [[1, 31], *good[1:]], "shift has to be"),
    ):
        with pytest.raises(ValueError, match=words):
            module.filter_words(form, numbers)
