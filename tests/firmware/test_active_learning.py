"""QueryStrategy: its budget, its choice of samples, drift, wrong arguments, all engines."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from locked_support import printed_on, printed_on_micropython
from property_support import examples

from microshrub_host.library import loader

library = loader.load(loader.fastest())
checked = loader.load("checked")
ALL = 65536 * 255


def in_advance(labels: int, samples: int) -> int:
    """Return the queries that may exceed the budget in the beginning."""
    return max(10, 2000 * labels // samples)


def owed_at_most(labels: int, samples: int) -> int:
    """Return the queries that may exceed the budget when drift is suspected."""
    return max(10, 3000 * labels // samples)


def votes(*shares: float) -> array[int]:
    return array("i", [int(share * ALL) for share in shares])


def queries(strategy: Any, margins: Any) -> list[bool]:
    """Return which samples with these margins, 0..1, are queried."""
    return [strategy.ask(votes((1 + m) / 2, (1 - m) / 2)) for m in margins]


@settings(max_examples=examples(60))
@given(
    st.integers(1, 50),
    st.integers(1, 400),
    st.integers(0, 2**30 - 1),
    st.lists(st.lists(st.integers(0, 2**24), min_size=3, max_size=3), max_size=200),
)
def test_queries_never_exceed_the_allowed_number(
    labels: int, more: int, seed: int, stream: list[list[int]]
) -> None:
    """This holds for any answers."""
    samples = labels + more
    strategy = checked.QueryStrategy(3, labels, samples, seed)
    total = 0
    for n, row in enumerate(stream):
        asks = strategy.ask(array("i", row))
        if asks:
            strategy.note(array("i", row), n > seed % 200)
        total += asks
        assert total <= (n + 1) * labels / samples + owed_at_most(labels, samples)
    assert (strategy.seen, strategy.queries) == (len(stream), total)
    strategy.load(strategy.save())


def answered(strategy: Any, margins: Any, wrong: Any) -> Any:
    """Return which samples are queried, if the model is wrong on the marked ones."""
    queried = []
    for margin, error in zip(margins, wrong, strict=True):
        row = votes((1 + margin) / 2, (1 - margin) / 2)
        queried.append(strategy.ask(row))
        if queried[-1]:
            strategy.note(row, bool(error))
    return np.array(queried)


def outcomes(seed: int, samples: int, usual: float = 1.0) -> tuple[Any, Any]:
    """Draw margins, and whether the model is wrong: the smaller the margin, the more often."""
    rng = np.random.default_rng(seed)
    margins = rng.random(samples) ** 0.2
    return margins, rng.random(samples) < usual * (1 - margins) / 2 + 0.01


@pytest.mark.parametrize(("labels", "samples"), [(1, 100), (1, 10), (3, 7)])
def test_queries_lent_for_drifts_are_paid_back(labels: int, samples: int) -> None:
    """With any number of drifts, queries are lent until the 20,000th sample, not afterwards."""
    margins, wrong = outcomes(5, 40000)
    for begin in range(1500, 40000, 3000):
        wrong[begin : begin + 1500] ^= margins[begin : begin + 1500] > 0.5
    queried = np.cumsum(answered(library.QueryStrategy(2, labels, samples), margins, wrong))
    allowed = np.arange(1, 40001) * labels / samples
    assert (queried <= allowed + owed_at_most(labels, samples)).all()
    assert (queried[4000:20000] > allowed[4000:20000]).any()
    assert (queried[26000:] <= allowed[26000:]).all()


@pytest.mark.parametrize("at", [1000, 2000, 5000, 10000])
@pytest.mark.parametrize("seed", range(3))
def test_a_drift_is_queried_however_early_it_is(at: int, seed: int) -> None:
    """Three times the usual share is queried of the next 200 samples; before, the usual share."""
    margins, wrong = outcomes(seed, at + 500)
    wrong[at:] = margins[at:] > 0.3
    queried = answered(library.QueryStrategy(2, 1, 10, seed), margins, wrong)
    assert queried[at - 500 : at].mean() < 0.15
    assert queried[at : at + 200].mean() > 0.3


@pytest.mark.parametrize("usual", [0.2, 1.0])
def test_little_is_lent_without_drift(usual: float) -> None:
    """Random errors raise suspicion, but cost next to nothing of 12,000 samples' share."""
    shares = []
    for seed in range(6):
        margins, wrong = outcomes(seed, 12000, usual)
        shares.append(answered(library.QueryStrategy(2, 1, 10, seed), margins, wrong).mean())
    assert np.mean(shares) < 0.103


def test_extra_queries_stop_when_errors_are_usual_again() -> None:
    """Lent queries that are not needed are given back."""
    margins, wrong = outcomes(1, 9000)
    wrong[6000:6100] = True
    queried = answered(library.QueryStrategy(2, 1, 10), margins, wrong)
    assert queried[6050:6150].mean() > 0.5
    assert queried[6350:6600].mean() < 0.2
    assert queried.sum() < 900 + 100


@pytest.mark.parametrize(("labels", "samples"), [(1, 300), (1, 100), (3, 29), (9, 10)])
def test_queries_in_advance_are_paid_back(labels: int, samples: int) -> None:
    """The budget holds after 4,000 samples, or after as many as earn 20 queries, if later."""
    queried = np.cumsum(queries(library.QueryStrategy(2, labels, samples), np.zeros(8000)))
    allowed = np.arange(1, 8001) * labels / samples
    advance = in_advance(labels, samples)
    assert queried[advance - 1] == advance
    back = max(4000, 20 * samples // labels)
    assert (queried[back:] <= allowed[back:]).all()
    assert queried[-1] > 0.95 * allowed[-1]


@pytest.mark.parametrize(("labels", "samples"), [(1, 100), (1, 10), (9, 10)])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.95, 1.0), (0.5, 0.5), (1.0, 1.0)])
def test_the_budget_is_used_except_for_savings(
    labels: int, samples: int, low: float, high: float
) -> None:
    margins = np.random.default_rng(7).uniform(low, high, 50000)
    strategy = library.QueryStrategy(2, labels, samples)
    total = sum(queries(strategy, margins))
    saved = 10000 * labels / samples
    assert 0.95 * (50000 * labels / samples - saved) <= total
    assert total <= 50000 * labels / samples - strategy.saved
    assert 0.8 * saved <= strategy.saved <= saved


def test_uncertain_samples_are_queried_and_some_others() -> None:
    margins = np.random.default_rng(3).random(14000)
    queried = np.array(queries(library.QueryStrategy(2, 1, 10), margins))[5000:]
    known = margins[5000:]
    assert queried[known < 0.04].mean() > 0.8
    assert 0.05 < queried[(known > 0.08) & (known < 0.12)].mean() < 0.6
    assert 0.003 < queried[known > 0.2].mean() < 0.02  # a tenth of the budget is drawn at random


def test_all_samples_are_queried_if_the_budget_allows_it() -> None:
    strategy = library.QueryStrategy(2, 1, 1)
    assert all(queries(strategy, np.random.default_rng(5).random(3000)))
    assert all(queries(strategy, np.ones(3000)))


def calm(samples: int = 30000) -> Any:
    """Return a strategy with savings, after a long time without drift."""
    strategy = library.QueryStrategy(2, 1, 10)
    queries(strategy, np.random.default_rng(1).uniform(0.8, 1, samples))
    assert strategy.saved > 200
    return strategy


def error_rise(strategy: Any) -> None:
    """Report errors of the model on samples where it was certain."""
    sure = votes(0.95, 0.05)
    for wrong in (False,) * 100 + (True,) * 6:
        strategy.note(sure, wrong)


def test_an_error_rise_alone_spends_a_part_of_the_savings() -> None:
    strategy = calm()
    saved = strategy.saved
    error_rise(strategy)
    queried = queries(strategy, np.ones(2 * saved))
    assert 3 / 8 * saved <= queried.index(False) <= 0.5 * saved
    assert sum(queried[saved:]) < 0.2 * saved


def test_falling_margins_cause_probes() -> None:
    """The next samples are queried at any margin: a quarter of the savings, or 100."""
    strategy = calm()
    probes = min(strategy.saved // 4, 100)
    queries(strategy, np.full(8, 0.3))
    queried = queries(strategy, np.ones(400))
    assert probes - 8 <= queried.index(False) <= probes
    assert sum(queried[probes:]) < 40


def test_an_error_rise_after_a_suspicion_spends_all_savings() -> None:
    strategy = calm()
    saved = strategy.saved
    queries(strategy, np.full(8, 0.3))
    error_rise(strategy)
    queried = queries(strategy, np.ones(2 * saved))
    assert 0.95 * saved <= queried.index(False) <= 1.2 * saved
    assert strategy.saved < 0.3 * saved


def test_usual_errors_are_no_drift() -> None:
    """On uncertain samples, the model may always have been wrong."""
    strategy = calm()
    saved = strategy.saved
    for wrong in np.random.default_rng(2).random(1500) < 0.4:
        strategy.note(votes(0.55, 0.45), bool(wrong))
        strategy.note(votes(0.99, 0.01), False)
    assert sum(queries(strategy, np.ones(100))) < 20
    assert strategy.saved >= saved


def test_a_model_that_errs_where_it_is_certain_is_misled_until_it_is_right_again() -> None:
    strategy = library.QueryStrategy(2, 1, 10)
    certain, sure = votes(0.99, 0.01), votes(0.9, 0.1)
    for row, wrong, misled in (
        (sure, (True,) * 30, False),  # it never was so certain
        (certain, (True,), False),  # one error may be chance
        (certain, (True,), True),
        (sure, (False,) * 30, True),
        (certain, (False,) * 30, False),
    ):
        for each in wrong:
            strategy.note(row, each)
        assert strategy.is_misled == misled


def test_a_drift_that_contradicts_certain_predictions_is_reported_once() -> None:
    """Errors at high but not extreme confidence indicate only a drift."""
    for row, contradicted in ((votes(0.99, 0.01), True), (votes(0.9, 0.1), False)):
        strategy = calm()
        alarms = [strategy.note(row, wrong) for wrong in (False,) * 100 + (True,) * 12]
        assert sum(alarms) == contradicted
        assert not any(alarms[:100])
        assert sum(queries(strategy, np.ones(50))) == 50  # it is detected


def test_two_suspicions_are_1000_samples_apart() -> None:
    """This holds however often margins fall."""
    rng = np.random.default_rng(3)
    table = library.buffers.address_table
    words = array("i", [0] * 4)
    alarms = []
    for _ in range(40):  # certain for a while, then not at all
        margins = [*rng.uniform(0.8, 1, 150), *rng.uniform(0, 0.1, 50)]
        alarms += [
            library.uncertainty.has_risen(table([words]), 0, int(m * 2**24), 5000) for m in margins
        ]
    at = np.flatnonzero(alarms)
    assert len(at) >= 3
    assert np.diff(at).min() >= 1000


def test_the_margin_is_the_difference_of_the_top_two_classes() -> None:
    """A threshold between two margins separates them."""
    strategy = library.QueryStrategy(4, 1, 100, seed=2)
    while strategy.threshold > 120:
        strategy.ask(array("i", [0, 0, 0, 0]))
    assert strategy.threshold > 60
    before = strategy.save()
    for row, low in (((0.9, 0.0, 0.9, 0.1), True), ((0.02, 0.9, 0.01, 0.0), False)):
        strategy.load(before)
        threshold = strategy.threshold
        strategy.ask(votes(*row))
        assert (strategy.threshold < threshold) == low  # an uncertain sample lowers it


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"classes": 1}, "classes .* 2..256, not 1"),
        ({"labels": 0}, "labels .* 1..10, not 0"),
        ({"labels": 11}, "labels .* 1..10, not 11"),
        ({"samples": 2**29 + 1}, "samples .* 1..536870912"),
        ({"samples": "many"}, "samples .* 1..536870912, not 'many'"),
        ({"seed": -1}, "seed .* 0..1073741823, not -1"),
    ],
)
def test_refuses_parameters(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        library.QueryStrategy(**{"classes": 2, **options})


@pytest.mark.parametrize("given", [array("i", [1]), array("H", [1, 2]), [1, 2], b"\0" * 8])
def test_refuses_votes_and_changes_nothing(given: Any) -> None:
    strategy = library.QueryStrategy(2)
    strategy.ask(votes(0.4, 0.6))
    before = strategy.state_crc32()
    with pytest.raises(ValueError, match="votes has to be array"):
        strategy.ask(given)
    with pytest.raises(ValueError, match="votes has to be array"):
        strategy.note(given, True)
    assert strategy.state_crc32() == before


def test_a_loaded_strategy_has_the_same_future() -> None:
    margins = np.random.default_rng(9).random(2000)
    whole, first, second = (library.QueryStrategy(2, 3, 50, seed=4) for _ in range(3))
    for strategy in (whole, first):
        strategy.note(votes(0.9, 0.1), True)
    queried = queries(whole, margins)
    asked_first = queries(first, margins[:700])
    second.load(first.save())
    assert queried == asked_first + queries(second, margins[700:])
    assert second.state_crc32() == whole.state_crc32()
    first.reset()
    assert first.state_crc32() == library.QueryStrategy(2, 3, 50, seed=4).state_crc32()
    with pytest.raises(ValueError, match="state is of QueryStrategy"):
        library.QueryStrategy(2, 4, 50, seed=4).load(whole.save())


def test_rare_queries_are_as_rare_as_requested() -> None:
    """They are so few that the threshold rises by less than its least step per sample."""
    strategy = library.QueryStrategy(2, 1, 2**29)
    assert sum(queries(strategy, np.zeros(500))) == 10
    assert strategy.threshold == 0


def test_counts_are_halved_before_they_overflow() -> None:
    strategy = checked.QueryStrategy(2, 2**29, 2**29)
    words = strategy.buffers()[0][2]
    for name in ("_Q_SEEN", "_Q_QUERIES"):
        words[loader.constant("query_rules", name)] = 2**29
    assert (strategy.seen, strategy.queries) == (2**29, 2**29)
    assert strategy.ask(votes(1.0, 0.0))
    assert (strategy.seen, strategy.queries) == (2**28 + 1, 2**28 + 1)
    strategy.load(strategy.save())


LOCKED = """
votes = array("i", [0] * CLASSES)
strategy = QueryStrategy(CLASSES, 7, 60, 5)
for k in range(0, len(ROWS), CLASSES):
    for i in range(CLASSES):
        votes[i] = ROWS[k + i]
    lock()
    try:
        if strategy.ask(votes):
            strategy.note(votes, k % 7 < 3 or k > 2000)
    finally:
        unlock()
say(strategy.queries, strategy.threshold, strategy.state_crc32() & 0xFFFFFFFF)
"""


def test_nothing_is_allocated_and_all_engines_agree(
    run_micropython: Callable[[str], str],
) -> None:
    classes = 5
    rows = np.random.default_rng(2).integers(0, 2**24, 600 * classes).tolist()
    names, given = ("QueryStrategy",), {"CLASSES": classes, "ROWS": array("i", rows)}
    expected = printed_on_micropython(run_micropython, LOCKED, names, **given)
    for engine in ("python", "llvm", "c"):
        assert printed_on(engine, LOCKED, names, **given) == expected
