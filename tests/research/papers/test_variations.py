"""Random configurations: distinct, reproducible, and the first of a longer draw."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microshrub_research.papers.variations import SQRT, draw, settled

GRID = {"depth": [2, 4, 8], "split": ["best", "random"], "features": [0, SQRT]}


@given(st.integers(0, 20), st.integers(0, 5))
def test_configurations_are_distinct_and_from_the_lists(count: int, seed: int) -> None:
    drawn = draw(GRID, count, seed)
    assert len(drawn) == min(count, 12)
    assert len({str(each) for each in drawn}) == len(drawn)
    assert all(each[name] in GRID[name] for each in drawn for name in GRID)
    assert drawn == draw(GRID, 20, seed)[: len(drawn)]


def test_the_seed_matters_and_an_empty_grid_has_one_configuration() -> None:
    assert draw(GRID, 5, 1) != draw(GRID, 5, 2)
    assert draw({}, 5, 1) == [{}]


@pytest.mark.parametrize(("features", "root"), [(1, 1), (14, 4), (40, 6), (100, 10)])
def test_a_value_that_depends_on_the_stream_is_computed(features: int, root: int) -> None:
    assert settled({"depth": 2, "features": SQRT}, features) == {"depth": 2, "features": root}
