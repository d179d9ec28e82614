"""Advice on which options of a model to lower so that the model fits on a board.

The advice needs no knowledge of the learners: a parameter costs RAM if lower values need less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from ..base.errors import UserError
from ..library import loader
from ..library.learners import (
    DEFAULT,
    MODELS,
    REGRESSORS,
    Parameter,
    defaults,
    learner_name,
    model_name,
    options_of,
)
from . import ram_budget
from .board_files import Board
from .deployment import Deployment
from .emits import NATIVE, chosen
from .heap_sizes import planned
from .ram_budget import Budget, Parameters, Value
from .usual_budget import usual_budget

# Settings that a user would try, largest first
_STEPS = (*sorted({n for k in range(1, 21) for n in (2**k, 3 * 2**k // 2)}, reverse=True), 1)
_MOST_ALONE = 8  # the largest factor for a single option; beyond it, several options are lowered
_FINE = 255  # up to this limit, every number is tried
_SMALL = 32  # a parameter with at most this upper limit is only lowered alone


def options_to_lower(
    deployment: Deployment, whole: Budget | None = None, frozen: str = "", reason: str = ""
) -> str:
    """Return advice: options that, each alone or else together, make the learner fit the board.

    whole is the budget of the whole program; None: only the learner counts. The advice begins with
    the reason, if any options fit, and ends with frozen, the result of frozen_advice() for that
    program.
    """
    advice, some_fit = _which(deployment, whole, bool(frozen))
    return " ".join(filter(None, (reason if some_fit else "", advice, frozen)))


def _which(deployment: Deployment, whole: Budget | None, frozen: bool) -> tuple[str, bool]:
    """Return the sentence, and whether any options fit."""
    learner, board, learner_kwargs = deployment.learner, deployment.board, deployment.parameters
    code, program = (whole.code, whole.of_program) if whole else (None, None)

    def budget(changed: Parameters) -> Budget:
        return ram_budget.budget(changed, board, learner, code, program, deployment.companions)

    if budget(learner_kwargs).fits:
        return f"It fits {board.name} as it is.", True
    costly = _costly(learner_kwargs, learner)

    def fits(**changes: Value) -> bool:
        changed = {**learner_kwargs, **changes}
        size = _size_of(learner, changed)
        most = board.heap_free_bytes + board.grown_bytes(0)
        return 0 <= size <= most and budget(changed).fits

    alone = [_option(*lowered) for lowered in _each_alone(costly, fits)]
    if alone:
        ways = "".join(f", or {way}" for way in alone[1:])
        return f"{alone[0]} fits {board.name}{ways}.", True
    together = _together(costly, fits)
    if together:
        options = " ".join(_option(name, value) for name, value in together.items())
        if len(together) == 1:  # by more than _each_alone would lower it
            return f"{options} fits {board.name}.", True
        return f"No option alone is enough; {options} together fit {board.name}.", True
    smallest = dict(learner_kwargs)
    for name, cost in costly.items():
        values = [v for v in cost.lower if _size_of(learner, smallest | {name: v}) >= 0]
        smallest |= {name: values[-1]} if values else {}
    least = budget(smallest)
    advice = (
        f"Not even the smallest {model_name(learner)} fits {board.name}: all in all, it needs "
        f"{least.peak_bytes:,} bytes, and {least.free_bytes:,} are free."
    )
    tiny = replace(deployment, parameters=smallest)
    more = other_ways(tiny, least, frozen) if whole else ""
    return advice + more, False


@dataclass(frozen=True)
class _Cost:
    """A parameter that costs RAM: its value, and values that need less, mildest first."""

    value: Value
    lower: list[Value]
    most: float  # the upper limit, 0 if there is none


def _size_of(learner: str, learner_kwargs: Parameters) -> int:
    """Return the bytes of the learner's buffers, -1 if the learner refuses the parameters."""
    try:
        return int(getattr(loader.load("python"), learner).nbytes(**learner_kwargs))
    except ValueError:
        return -1


def _costly(learner_kwargs: Parameters, learner: str) -> dict[str, _Cost]:
    """Return the parameters, including defaults, whose lower values need fewer bytes."""
    costs, now = {}, _size_of(learner, learner_kwargs)
    for name, row in options_of(model_name(learner)).items():
        value = learner_kwargs.get(name, row.default)
        if value == 0 and row.low:  # the learner has chosen it
            value = getattr(planned(learner, learner_kwargs), name)
        lower = _lower(row, value)
        if row.choices:
            lower = [v for v in lower if 0 <= _size_of(learner, {**learner_kwargs, name: v}) < now]
        if lower and _size_of(learner, {**learner_kwargs, name: lower[-1]}) < now:
            costs[name] = _Cost(value, lower, row.high or 0)
    return costs


def _lower(row: Parameter, value: Value) -> list[Value]:
    """Return other values that may need less RAM, mildest first."""
    if row.kind is bool:
        return [False] if value else []
    if row.choices:
        return [other for other in row.choices if other != value]
    if row.kind is not int or row.low is None:
        return []
    assert isinstance(value, int)
    if row.high is not None and row.high <= _FINE:
        return list(range(value - 1, int(row.low) - 1, -1))
    return [n for n in _STEPS if row.low <= n < value]


def _each_alone(
    costly: Mapping[str, _Cost], fits: Callable[..., bool]
) -> Iterable[tuple[str, Value]]:
    """Yield, for each option that is enough alone, the mildest sufficient value."""
    for name, cost in costly.items():
        for value in cost.lower:
            mild = not cost.most or float(cost.value) / _MOST_ALONE <= float(value)
            if mild and fits(**{name: value}):
                yield name, value
                break


def _together(costly: Mapping[str, _Cost], fits: Callable[..., bool]) -> dict[str, Value]:
    """Lower whole numbers in turn, step by step, until the model fits; return {} if it cannot."""
    shared = {name: cost for name, cost in costly.items() if cost.most > _SMALL}
    now = {name: cost.value for name, cost in shared.items()}
    while True:
        before = dict(now)
        for name, value in before.items():
            steps = [n for n in _STEPS if n in shared[name].lower and float(n) < float(value)]
            now[name] = steps[0] if steps else value
            if fits(**now):
                return now
        if now == before:
            return {}


def _option(name: str, value: Value) -> str:
    option = f"--{name.replace('_', '-')}"
    return f"leaving {option} out" if value is False else f"{option} {value}"


_PACKETS = "packets"  # a part of programs with a thicket only
_NAMED = 2  # most other learners in the advice
_GIVEN = ("features", "classes", "late")


def other_ways(smallest: Deployment, whole: Budget, frozen: bool) -> str:
    """Return a sentence, with a space before it, about other ways; "" if nothing else fits.

    smallest is the smallest possible model, and whole the budget of its program, which may have
    more options than the usual program. frozen tells whether a firmware with the library is
    recommended elsewhere.
    """
    usual = Deployment(smallest.parameters, smallest.board, smallest.learner, smallest.companions)
    less = _without_the_rest(usual.board, whole, usual_budget(usual))
    usual = replace(usual, board=less)
    shares = any(part.name == _PACKETS for part in whole.of_program)
    models = [] if shares else islice(_models(usual), _NAMED)
    ways = [f"--model {model}" for model in models]
    if not frozen and usual_budget(replace(usual, freeze=True)).fits:
        ways.append("`build --freeze`, whose library is in the firmware")
    advice = f" What fits: {', or '.join(ways)}." if ways else ""
    best = any(part.name == NATIVE for part in whole.code) or chosen(smallest.board) != NATIVE
    return advice if best else f"{advice} Without --emit it takes less RAM: try that, too."


def _without_the_rest(board: Board, whole: Budget, usual: Budget) -> Board:
    """Return the board less the RAM by which a program exceeds the usual one.

    The RAM is taken from the heap, and, for machine code outside the heap, from executable RAM.
    """
    more = max(whole.ram_bytes - usual.ram_bytes, 0)
    code = max(whole.machine_code_bytes - usual.machine_code_bytes, 0)
    executable = None if board.executable_bytes is None else board.executable_bytes - code
    growth = board.growth
    if growth:
        growth = replace(growth, block_bytes=growth.block_bytes - code)
    return replace(
        board,
        heap_free_bytes=board.heap_free_bytes - more,
        executable_bytes=executable,
        growth=growth,
    )


def _models(smallest: Deployment) -> Iterator[str]:
    """Yield other learners that fit with their defaults, machine code included."""
    asked = smallest.parameters
    given = {name: asked[name] for name in _GIVEN if name in asked}
    for model in REGRESSORS if "classes" not in asked else MODELS:
        if model == DEFAULT or learner_name(model) == smallest.learner:
            continue
        other = {**given, **defaults(model)}
        try:
            budget = usual_budget(replace(smallest, parameters=other, learner=learner_name(model)))
            if budget.fits and budget.code_fits:
                yield model
        except (TypeError, ValueError, UserError):  # no such shape for this learner
            pass
