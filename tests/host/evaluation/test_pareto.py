"""The Pareto front of bytes and accuracy, compared with its definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microshrub_host.evaluation.pareto import area, draw, front

POINTS = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 100)), max_size=30)


@given(POINTS)
def test_the_front_has_all_points_that_no_other_beats(points: list[tuple[int, int]]) -> None:
    best = front(points)
    kept = [points[i] for i in best]
    assert kept == sorted(set(kept)), "by bytes, each once"
    for size, accuracy in points:
        beaten = any(s <= size and a >= accuracy and (s, a) != (size, accuracy) for s, a in points)
        assert ((size, accuracy) in kept) == (not beaten)
    assert all(i == points.index(points[i]) for i in best), "the first of the same ones"


@given(POINTS, st.integers(1, 40))
def test_the_area_is_the_mean_of_the_best_within_a_budget(
    points: list[tuple[int, int]], most: int
) -> None:
    best = [max((a for s, a in points if s <= budget), default=0) for budget in range(most)]
    assert area(points, most) == pytest.approx(sum(best) / most / 100)


def test_an_area_needs_a_width() -> None:
    with pytest.raises(ValueError, match=r"^most_bytes .* 0, not 0"):
        area([(1, 2)], 0)


def test_a_drawing_has_one_line_per_group_that_ends_at_the_budget() -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    groups = {"small": [(100, 70.0), (200, 60.0)], "large": [(1000, 90.0)], "none": []}
    draw(axes, groups, most_bytes=2000, looks={"small": {"color": "C3"}})
    small, large = axes.get_lines()
    assert (small.get_label(), small.get_color()) == ("small", "C3")
    assert small.get_xydata().tolist() == [[100, 70], [2000, 70]]
    assert large.get_xydata().tolist() == [[1000, 90], [2000, 90]]
