"""Which options of a model to lower so that it fits on a board.

This knows nothing about the learners: a parameter costs RAM if lower values of it need less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from ..base.errors import UserError
from ..beside.companion import Beside
from ..library import loader
from ..library.learners import (
    DEFAULT,
    MODELS,
    REGRESSORS,
    Parameter,
    defaults,
    kind_of,
    model_of,
    options_of,
)
from . import ram_budget
from .board_files import Board
from .heap_sizes import planned
from .ram_budget import Budget, Parameters, Value
from .usual_budget import usual_budget

# Settings that a user would try, largest first
_STEPS = (*sorted({n for k in range(1, 21) for n in (2**k, 3 * 2**k // 2)}, reverse=True), 1)
_MOST_ALONE = (
    8  # no single option is lowered by more than this factor; several are lowered instead
)
_FINE = 255  # up to here, every number is tried
_SMALL = 32  # a parameter that is never larger is not lowered together with others


def which_to_lower(
    learner_kwargs: Parameters,
    board: Board,
    kind: str,
    whole: Budget | None = None,
    beside: Beside = (),
    frozen: str = "",
    reason: str = "",
) -> str:
    """One sentence: which options, each alone or else together, make the learner fit the board.

    whole is what its program takes as it is, with these companions; None: the learner alone.
    frozen is what frozen_advice() says of that program, which stands at the end; the reason to
    lower options stands in front of them, if there are any.
    """
    said, some_fit = _which(learner_kwargs, board, kind, whole, beside, bool(frozen))
    return " ".join(filter(None, (reason if some_fit else "", said, frozen)))


def _which(
    learner_kwargs: Parameters,
    board: Board,
    kind: str,
    whole: Budget | None,
    beside: Beside,
    frozen: bool,
) -> tuple[str, bool]:
    """The sentence, and whether any options fit."""
    code, program = (whole.code, whole.of_program) if whole else (None, None)

    def budget(changed: Parameters) -> Budget:
        return ram_budget.budget(changed, board, kind, code, program, beside)

    if budget(learner_kwargs).fits:
        return f"It fits {board.name} as it is.", True
    costly = _costly(learner_kwargs, kind)

    def fits(**changes: Value) -> bool:
        changed = {**learner_kwargs, **changes}
        size = _size_of(kind, changed)
        return 0 <= size <= board.heap_free_bytes and budget(changed).fits

    alone = [_option(*found) for found in _each_alone(costly, fits)]
    if alone:
        ways = "".join(f", or {way}" for way in alone[1:])
        return f"{alone[0]} fits {board.name}{ways}.", True
    together = _together(costly, fits)
    if together:
        options = " ".join(_option(name, value) for name, value in together.items())
        if len(together) == 1:  # of much less than _each_alone would lower
            return f"{options} fits {board.name}.", True
        return f"No option alone is enough; {options} together fit {board.name}.", True
    smallest = dict(learner_kwargs)
    for name, cost in costly.items():
        values = [v for v in cost.lower if _size_of(kind, smallest | {name: v}) >= 0]
        smallest |= {name: values[-1]} if values else {}
    least = budget(smallest)
    said = (
        f"Not even the smallest {model_of(kind)} fits {board.name}: all in all, it needs "
        f"{least.peak_bytes:,} bytes, and {board.heap_free_bytes:,} are free."
    )
    more = other_ways(smallest, board, kind, least, beside, frozen) if whole else ""
    return said + more, False


@dataclass(frozen=True)
class _Cost:
    """A parameter that costs RAM: its value, and values that need less, the mildest first."""

    value: Value
    lower: list[Value]
    most: float  # of its range, 0 if it has none


def _size_of(kind: str, learner_kwargs: Parameters) -> int:
    """Bytes of the learner's buffers, -1 if it refuses the parameters."""
    try:
        return int(getattr(loader.load("python"), kind).nbytes(**learner_kwargs))
    except ValueError:
        return -1


def _costly(learner_kwargs: Parameters, kind: str) -> dict[str, _Cost]:
    """The parameters, including defaults, whose lower values need fewer bytes."""
    found, now = {}, _size_of(kind, learner_kwargs)
    for name, row in options_of(model_of(kind)).items():
        value = learner_kwargs.get(name, row.default)
        if value == 0 and row.low:  # the learner has chosen it
            value = getattr(planned(kind, learner_kwargs), name)
        lower = _lower(row, value)
        if row.choices:
            lower = [v for v in lower if 0 <= _size_of(kind, {**learner_kwargs, name: v}) < now]
        if lower and _size_of(kind, {**learner_kwargs, name: lower[-1]}) < now:
            found[name] = _Cost(value, lower, row.high or 0)
    return found


def _lower(row: Parameter, value: Value) -> list[Value]:
    """Other values that may need less RAM, the mildest first."""
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
    """The mildest change of each option that is enough by itself."""
    for name, cost in costly.items():
        for value in cost.lower:
            mild = not cost.most or float(cost.value) / _MOST_ALONE <= float(value)
            if mild and fits(**{name: value}):
                yield name, value
                break


def _together(costly: Mapping[str, _Cost], fits: Callable[..., bool]) -> dict[str, Value]:
    """Whole numbers lowered in turn, one step at a time, until it fits; empty if it never does."""
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


_NATIVE = "native"  # the module of that,
_PARCELS = "parcels"  # and the part of a program that only a thicket can have
_NAMED = 2  # other learners that are named
_GIVEN = ("features", "classes", "late")


def other_ways(
    smallest: Parameters, board: Board, kind: str, whole: Budget, beside: Beside, frozen: bool
) -> str:
    """A sentence that begins with a space, or nothing if nothing else fits either.

    smallest are the parameters of the smallest model that there is, and whole is what its program
    takes, more perhaps than that of `build` without options. frozen: a firmware with the
    library in it is named elsewhere.
    """
    less = _without_the_rest(board, whole, usual_budget(smallest, board, kind, beside))
    shares = any(part.name == _PARCELS for part in whole.of_program)
    models = [] if shares else islice(_models(smallest, less, kind, beside), _NAMED)
    ways = [f"--model {model}" for model in models]
    if not frozen and usual_budget(smallest, less, kind, beside, freeze=True).fits:
        ways.append("`build --freeze`, whose library is in the firmware")
    said = f" What fits: {', or '.join(ways)}." if ways else ""
    native = any(part.name == _NATIVE for part in whole.code)
    return said if native else f"{said} --native takes less RAM: try that, too."


def _without_the_rest(board: Board, whole: Budget, usual: Budget) -> Board:
    """The board without what a program has beside a usual one: in the heap, and in executable RAM
    where machine code is there.
    """
    more = max(whole.ram_bytes - usual.ram_bytes, 0)
    code = max(whole.machine_code_bytes - usual.machine_code_bytes, 0)
    executable = None if board.executable_bytes is None else board.executable_bytes - code
    return replace(
        board, heap_free_bytes=board.heap_free_bytes - more, executable_bytes=executable
    )


def _models(smallest: Parameters, board: Board, kind: str, beside: Beside) -> Iterator[str]:
    """The other learners that fit as they are, machine code and all."""
    given = {name: smallest[name] for name in _GIVEN if name in smallest}
    for model in REGRESSORS if "classes" not in smallest else MODELS:
        if model == DEFAULT or kind_of(model) == kind:
            continue
        try:
            found = usual_budget({**given, **defaults(model)}, board, kind_of(model), beside)
            if found.fits and found.code_fits:
                yield model
        except (TypeError, ValueError, UserError):  # it cannot be of that shape
            pass
