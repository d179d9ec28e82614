"""What a search tries does not depend on how many of its trials run at a time."""

from __future__ import annotations

import random
from itertools import count

import pytest

from microshrub_host.base.cluster import Outcome
from microshrub_host.base.errors import UserError
from microshrub_host.evaluation.trials import AHEAD, AskedAhead, Candidate


def search(jobs: int, wanted: int, seed: int = 0, most: int = 999) -> list[str]:
    """What was asked for and told, in that order; trials end in an order drawn from the seed.

    Every fifth one fails; only so many can be asked for.
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
def test_the_order_is_that_of_one_job(seed: int) -> None:
    alone = search(1, 30)
    assert [word for word in alone if word.startswith("ask")][:3] == ["ask 0", "ask 1", "ask 2"]
    for jobs in (2, 3, AHEAD):
        assert search(jobs, 30, seed) == alone


def test_all_that_was_asked_for_is_told_before_a_search_without_more_ends() -> None:
    match = search(2, 30, seed=1, most=12)
    assert match[-1] == "no other one"
    assert [word for word in match if word.startswith("tell")] == [f"tell {n}" for n in range(12)]


def test_what_is_done_out_of_order_is_not_lost() -> None:
    numbers = count()
    ahead = AskedAhead(9, lambda: Candidate(next(numbers), "shrub", {}), elastic=False)
    tasks = ahead.tasks()
    asked_for = [next(tasks) for _ in range(3)]
    assert list(ahead.in_order(Outcome(asked_for[2]))) == []
    assert list(ahead.in_order(Outcome(asked_for[1]))) == []
    assert [outcome.task for outcome in ahead.left()] == asked_for[1:]


def test_more_than_that_run_if_they_may() -> None:
    numbers = count()
    ahead = AskedAhead(40, lambda: Candidate(next(numbers), "shrub", {}), elastic=True)
    tasks = ahead.tasks()
    assert None not in [next(tasks) for _ in range(40)]
    assert next(tasks) is None
