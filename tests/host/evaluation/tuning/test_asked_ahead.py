"""The models that a search tries do not depend on the number of parallel trials."""

from __future__ import annotations

import random
from itertools import count

import pytest

from microshrub_host.base.cluster import Outcome
from microshrub_host.base.errors import UserError
from microshrub_host.evaluation.trials import AHEAD, AskedAhead, Candidate


def search(jobs: int, wanted: int, seed: int = 0, most: int = 999) -> list[str]:
    """Return the proposals and results in their order; trials end in an order drawn from the seed.

    Every fifth trial fails; there are `most` proposals.
    """
    replies: list[str] = []
    numbers = count()
    good = 0

    def ask() -> Candidate:
        number = next(numbers)
        if number == most:
            raise UserError("no other one")
        replies.append(f"ask {number}")
        return Candidate(number, "shrub", {})

    ahead = AskedAhead(wanted, ask, elastic=False)
    draw = random.Random(seed)
    running: list[Candidate] = []
    tasks = ahead.tasks()
    try:
        while good < wanted:
            while len(running) < jobs:
                task = next(tasks, None)
                if task is None:
                    break
                running.append(task)
            task = running.pop(draw.randrange(len(running)))
            failure = "" if task.number % 5 else "failed"
            for outcome in ahead.in_order(Outcome(task, failure=failure)):
                good += not outcome.failure
                replies.append(f"tell {outcome.task.number}")
    except UserError as error:
        replies.append(str(error))
    assert not ahead.left()
    assert list(tasks) == []
    return replies


@pytest.mark.parametrize("seed", range(20))
def test_the_order_equals_that_of_one_job(seed: int) -> None:
    alone = search(1, 30)
    assert [word for word in alone if word.startswith("ask")][:3] == ["ask 0", "ask 1", "ask 2"]
    for jobs in (2, 3, AHEAD):
        assert search(jobs, 30, seed) == alone


def test_all_results_arrive_before_a_search_without_more_proposals_ends() -> None:
    match = search(2, 30, seed=1, most=12)
    assert match[-1] == "no other one"
    assert [word for word in match if word.startswith("tell")] == [f"tell {n}" for n in range(12)]


def test_results_that_arrive_out_of_order_are_not_lost() -> None:
    numbers = count()
    ahead = AskedAhead(9, lambda: Candidate(next(numbers), "shrub", {}), elastic=False)
    tasks = ahead.tasks()
    asked_for = [next(tasks) for _ in range(3)]
    assert list(ahead.in_order(Outcome(asked_for[2]))) == []
    assert list(ahead.in_order(Outcome(asked_for[1]))) == []
    assert [outcome.task for outcome in ahead.left()] == asked_for[1:]


def test_more_trials_run_if_workers_are_added() -> None:
    numbers = count()
    ahead = AskedAhead(40, lambda: Candidate(next(numbers), "shrub", {}), elastic=True)
    tasks = ahead.tasks()
    assert None not in [next(tasks) for _ in range(40)]
    assert next(tasks) is None
