"""The part of a stream that all methods learned, where some learned more than others."""

from __future__ import annotations

import pytest

from microshrub_research.compare.contender import Contender
from microshrub_research.papers.common_part import common_part, shorten
from microshrub_research.papers.experiment import ExperimentResults, Method, RunOutcome


def outcome(method: str, samples: int, size: float = 10.0) -> RunOutcome:
    """Return a run that is right at first and wrong later: after n samples,
    100 - n / 100 percent.
    """
    points = range(100, samples + 1, 100)
    return RunOutcome(
        method, "s", 0, method, "ours", {}, "", samples, 4, 2,
        accuracy=100 - samples / 100,
        running_average_accuracy=50.0,
        average_bytes=size,
        accuracies=[(n, 100 - n / 100) for n in points],
        sizes=[(0, 5.0), *((n, 5.0 + n / 100) for n in points)],
    )  # fmt: skip


def results(*outcomes: RunOutcome) -> ExperimentResults:
    names = dict.fromkeys(one.method for one in outcomes)
    methods = [Method(name, name, [Contender(name, "ours", name)]) for name in names]
    return ExperimentResults(methods, ["s"], outcomes)


def test_equal_lengths_are_unchanged() -> None:
    outcomes = results(outcome("A", 500), outcome("B", 500))
    assert common_part(outcomes) is outcomes


def test_the_shortest_method_decides() -> None:
    long, short = common_part(results(outcome("A", 1000), outcome("B", 300))).results
    assert (long.samples, long.accuracy) == (300, 97.0)
    assert long.running_average_accuracy == pytest.approx((99 + 98 + 97) / 3)
    assert short == outcome("B", 300)


def test_the_longest_run_of_a_method_is_its_length() -> None:
    """A run that stopped early does not shorten the others."""
    outcomes = results(outcome("A", 1000), outcome("B", 300), outcome("B", 1000))
    assert common_part(outcomes) is outcomes


def test_the_mean_size_is_that_of_the_part() -> None:
    """For 3 of 10 points, the mean of 6, 7 and 8 is 3.5 below that of 6 to 15."""
    assert shorten(outcome("A", 1000), 300).average_bytes == pytest.approx(10 - 3.5)


def test_the_first_point_is_the_shortest_part() -> None:
    assert shorten(outcome("A", 1000), 50).samples == 100
