"""Features of windows as an engineer makes them by hand, in floating point:
for a forest on a PC.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_QUANTILES = (5, 25, 50, 75, 95)
_MULTIPLES = (0.5, 1, 1.5, 2, 3, 4)  # multiples of the loudest frequency
_BANDS = 16
_TINY = 1e-9


def hand_made(readings: Values, ends: NDArray[np.intp] | None, window: int, rate: int) -> Values:
    """Return the features of windows that end with these readings, shape (windows, features)."""
    assert ends is not None
    return np.array([_of_window(readings[end - window + 1 : end + 1], rate) for end in ends])


def _of_window(rows: Values, rate: int) -> list[float]:
    result = [
        value for channel in rows.T for value in (*_shape(channel), *_spectrum(channel, rate))
    ]
    if rows.shape[1] > 1:
        spread = rows + np.arange(rows.size).reshape(rows.shape) * _TINY  # never constant
        result += np.corrcoef(spread.T)[np.triu_indices(rows.shape[1], 1)].tolist()
    return result


def _shape(x: Values) -> list[float]:
    """Return moments, quantiles, crossings, steps, and the peak and lag of the autocorrelation."""
    away = x - x.mean()
    deviation = float(away.std()) + _TINY
    quantiles = np.percentile(x, _QUANTILES).tolist()
    alike = np.correlate(away, away, "full")[len(x) - 1 :] / (away @ away + _TINY)
    below = np.flatnonzero(alike < 0)
    begin = int(below[0]) if len(below) else 1
    period = begin + int(alike[begin:].argmax())
    steps = float(np.diff(x).std())
    return [
        float(x.mean()), deviation, float(x.min()), float(x.max()), *quantiles,
        quantiles[3] - quantiles[1], float(np.sqrt((x**2).mean())), float(np.abs(away).mean()),
        float((away**3).mean()) / deviation**3, float((away**4).mean()) / deviation**4,
        float(np.mean(np.diff(np.sign(away)) != 0)), float(np.abs(away).max()) / deviation,
        steps, steps / deviation, float(alike[period]), float(period),
    ]  # fmt: skip


def _spectrum(x: Values, rate: int) -> list[float]:
    """Return the loudest frequency and its multiples, centroid, spread, entropy,
    and equal bands.
    """
    energy = np.abs(np.fft.rfft((x - x.mean()) * np.hanning(len(x)))) ** 2
    hertz = np.fft.rfftfreq(len(x), 1 / rate)
    part = energy / (energy.sum() + _TINY)
    loudest = int(energy.argmax())
    centroid = float(part @ hertz)
    spread = float(np.sqrt(part @ (hertz - centroid) ** 2))
    entropy = -float(part @ np.log(part + 1e-12))
    multiples = [round(loudest * multiple) for multiple in _MULTIPLES]
    near = [float(part[max(at - 1, 0) : at + 2].sum()) for at in multiples]
    bands = [float(band.sum()) for band in np.array_split(energy[1:], _BANDS)]
    whole = sum(bands) + _TINY
    logs = [float(np.log(band + 1)) for band in bands]
    return [
        float(hertz[loudest]), centroid, spread, entropy, *near, *logs,
        *(band / whole for band in bands),
    ]  # fmt: skip
