"""What the file of a model has of spare classes: how many, their names, and what is new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engines import loader
from ..engines.interface import States
from ..evaluation.prequential import Result
from ..evaluation.spare_run import SpareRun

_PARAMETERS = {"spare", "room", "period", "window", "reach", "collect"}


def is_spare(value: Any) -> bool:
    """Whether these can be the parameters of firmware's SpareClasses, all of them."""
    numbers = isinstance(value, dict) and set(value) == _PARAMETERS
    return numbers and all(type(number) is int for number in value.values())


def class_names(result: Result, run: SpareRun) -> tuple[str, ...]:
    """The names of all classes of the learner: those that have one, and `spare 3` and so on."""
    named = [*run.known, *(naming.name for naming in run.named)]
    rest = result.parameters["classes"] - len(named)
    first = run.spare - rest
    return (*named, *(f"spare {first + k + 1}" for k in range(rest)))


def spare_of(learner: Any, spare: dict[str, int], names: Sequence[str], states: States) -> Any:
    """The SpareClasses around a learner whose classes have these names.

    Raises ValueError if these do not belong together.
    """
    known = tuple(names[: len(names) - spare["spare"]])
    made = loader.load("python").SpareClasses(learner, known, **spare)
    made.names.load(states.names)
    made.newcomers.load(states.newcomers)
    for c, name in enumerate(names):
        if made.names.name(c) not in (name, ""):
            raise ValueError(f"class {c} is not called {name!r} in the saved names")
    return made
