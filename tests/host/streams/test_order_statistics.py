"""Statistics of a column that is read in parts equal those of the whole column."""

from __future__ import annotations

import math

import numpy as np
import pytest

from microshrub_host.streams import stored_values
from microshrub_host.streams.stored_values import Numbers
from microshrub_host.streams.units import Scale


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("PART", 64), ("_SAMPLE", 32), ("_MARGIN", 3)):
        monkeypatch.setattr(stored_values, name, value)


def columns() -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    normal = rng.normal(size=1000)
    return [
        normal,
        np.sort(normal),
        np.where(rng.random(1000) < 0.9, 0.0, normal),
        np.round(normal * 3),
        np.where(rng.random(1000) < 0.3, np.nan, 1e9 + np.round(normal, 2)),
        np.full(1000, 7.5),
        np.where(np.arange(1000) == 500, 1e308, normal),
    ]


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("place", range(7))
def test_median_and_quantiles_equal_numpys(place: int) -> None:
    column = columns()[place]
    known = column[~np.isnan(column)]
    numbers = Numbers(column)
    assert numbers.count == len(known)
    assert numbers.median() == np.median(known)
    assert numbers.largest() == np.abs(known).max()
    for share in (0, 0.25, 0.99, 0.999, 1):
        sizes = np.abs(known)
        assert numbers.size(share, math.floor) == np.quantile(sizes, share, method="lower")
        assert numbers.size(share, math.ceil) == np.quantile(sizes, share, method="higher")
    middle = numbers.median()
    assert numbers.minus(middle).largest() == np.abs(known - middle).max()
    assert numbers.up_to(1).count == np.count_nonzero(np.abs(known) <= 1)


@pytest.mark.parametrize("place", range(7))
def test_a_wide_column_is_wide_around_any_middle(place: int) -> None:
    column = columns()[place]
    known = column[~np.isnan(column)]
    numbers = Numbers(column)
    widths = [0.0, 0.1, 1.0, 2.0, 1e6]
    wide = [width for width in widths if numbers.wider_than(width, 50)]
    for middle in [0.0, numbers.median(), *np.quantile(known, [0.05, 0.3, 0.95])]:
        assert all(np.count_nonzero(np.abs(known - middle) >= w / 2) > 50 for w in wide)
    assert bool(wide) == (place not in (2, 5))  # there, most numbers are equal


def test_units_do_not_depend_on_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.column_stack(columns())
    whole = Scale.fit(values).units()
    monkeypatch.setattr(stored_values, "PART", 64)
    monkeypatch.setattr(stored_values, "_SAMPLE", 32)
    assert Scale.fit(values).units() == whole
