"""The companions: each has a line here, or was registered."""

from __future__ import annotations

import itertools
import os
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from ..base.errors import UserError
from ..library import loader
from ..library.library_files import COMPANIONS, add
from .anomaly import Anomaly
from .companion import Companion
from .guarantee import Guarantee
from .label_budget import LabelBudget
from .spare_classes import SpareClasses
from .watcher import Watcher

# In the order of creation: a label budget queries the labels of a learner with spare classes
_COMPANIONS: list[type[Companion]] = [Anomaly, SpareClasses, LabelBudget, Guarantee]


def all_companions() -> tuple[type[Companion], ...]:
    """Return all classes of companions, in the order of creation."""
    return tuple(_COMPANIONS)


def named(names: Container[str]) -> tuple[type[Companion], ...]:
    """Return the companions with these names."""
    return tuple(each for each in _COMPANIONS if each.name in names)


def watchers(names: Container[str]) -> tuple[type[Watcher], ...]:
    """Return the companions with these names that watch samples."""
    return tuple(each for each in named(names) if issubclass(each, Watcher))


def register_companion(kind: type[Companion], part: str | os.PathLike[str] | None = None) -> None:
    """Add a companion of your own: every command and every program then knows it.

    `part` is the file of the class that runs on a board; it becomes a module of the device
    library. The companion is a Watcher, and its `module` is the file's name without .py. Raises
    UserError if there is no such file, or no such class in it, and TypeError if kind is no
    companion.
    """
    if not (isinstance(kind, type) and issubclass(kind, Companion)):
        raise TypeError(f"a companion is a class that inherits from Companion, not {kind!r}")
    if part is not None and issubclass(kind, Watcher):
        add(kind.kind, part, COMPANIONS)
        loader.load.cache_clear()
    if kind not in _COMPANIONS:
        _COMPANIONS.append(kind)


def of_options(given: Mapping[str, Any], hertz: float | None = None) -> tuple[Companion, ...]:
    """Return the companions for the given values of options, by the options' names.

    hertz is the rate of the sensor, where it is known. Raises UserError.
    """
    values = {name: given.get(name) for name in option_names()}
    asked = (
        companion.of_options(values, hertz)
        for companion in _COMPANIONS
        if any(values[option.name] is not None for option in companion.options)
    )
    return tuple(each for each in asked if each)


def option_names() -> tuple[str, ...]:
    """Return the names of all companions' options."""
    return tuple(option.name for companion in _COMPANIONS for option in companion.options)


def keeps_ranges(given: Mapping[str, Any]) -> bool:
    """Return whether one of the given options is for a companion with which no ranges grow."""
    freezing = [companion for companion in _COMPANIONS if companion.freezes]
    return any(given.get(option.name) for companion in freezing for option in companion.options)


def refuse_with_numbers(companions: Sequence[Companion]) -> None:
    """Raise UserError if there is a companion, as regressors have none."""
    if companions:
        raise UserError(f"{type(companions[0]).__name__} is for classes, not numbers")


def in_order(
    companions: Iterable[Companion], also: Iterable[Companion] = ()
) -> tuple[Companion, ...]:
    """Return all companions in the order of creation.

    Raises TypeError if `companions` is anything but a list of companions, and UserError for two
    companions of one class.
    """
    asked = tuple(companions) if isinstance(companions, Iterable) else None
    if asked is None or not all(type(each) in _COMPANIONS for each in asked):
        raise TypeError(
            f"companions= takes a list of companions, such as [Guarantee(90)], not {companions!r}"
        )
    ordered = sorted([*asked, *also], key=lambda each: _COMPANIONS.index(type(each)))
    for one, other in itertools.pairwise(ordered):
        if type(one) is type(other):
            raise UserError(f"companions= has two of one kind: {one} and {other}")
    return tuple(ordered)
