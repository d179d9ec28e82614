"""What may stand beside a learner: the one seam between it and engines, budgets, files, reports.

A companion is one class here, its settings, and one in the device library, the part that runs.
registry.py has all of them. Every command, file and report goes through these methods, and knows
none of the companions by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..engines.interface import Labels, Plan
from ..streams.stream import Stream


@dataclass(frozen=True)
class Option:
    """One of a companion's options on the command line.

    `many` says that several words may follow; `simulated`, that it is only of use where a stream
    has all labels.
    """

    flag: str
    help: str
    metavar: str | tuple[str, ...]
    kind: Callable[[str], Any] = str
    many: bool = False
    simulated: bool = False

    @property
    def name(self) -> str:
        """In the parsed arguments."""
        return self.flag.removeprefix("--").replace("-", "_")


@dataclass(frozen=True)
class Followed:
    """What an engine tells of a companion once the stream has ended.

    `said` has what it said of each sample, bytes of shape (values, samples); `told` what it says
    of itself; `bytes` are those of its buffers. `right` says which predictions were.
    """

    said: NDArray[np.uint8]
    told: Mapping[str, Any]
    bytes: int
    features: int
    labels: Labels = field(repr=False)
    right: NDArray[np.bool_] = field(repr=False)


class BesideRun:
    """What became of a companion on a stream; the base of all of these."""

    draws: ClassVar[bool] = False  # whether it has a picture

    def saved(self) -> dict[str, Any]:
        """What a model's file has of it in config.json, by the companion's name."""
        return {}

    def class_names(self, names: tuple[str, ...], classes: int) -> tuple[str, ...]:
        """Those of a learner of so many classes, by what they are called in the stream."""
        return names

    def record(self) -> dict[str, Any]:
        """For --json."""
        raise NotImplementedError

    def rows(self) -> list[tuple[str, str]]:
        """For a table: names and values."""
        raise NotImplementedError

    def draw(self, axes: Any) -> None:
        """Draw it over the samples."""


@dataclass(frozen=True)
class BoardRoom:
    """Objects on a board that are no buffers of a companion's part, for a budget.

    `elsewhere` are those that they hold and that are counted elsewhere.
    """

    things: tuple[object, ...]
    elsewhere: tuple[object, ...]
    note: str


class Companion:
    """The base of all. A subclass is a frozen dataclass: its settings.

    What it does not say is that it does nothing: a toy has to say `name`, `plan` and `made`.
    """

    name: ClassVar[str]  # in config.json and in a result's `beside`
    said: ClassVar[str]  # in JSON
    title: ClassVar[str]  # of its part of a budget
    cost: ClassVar[str] = ""  # what comes on top of a learner's time, in words
    buffers: ClassVar[tuple[str, ...]] = ()  # how the names of its buffers begin
    states: ClassVar[tuple[str, ...]] = ()  # the names of what is saved of it
    options: ClassVar[tuple[Option, ...]] = ()
    freezes: ClassVar[bool] = False  # ranges cannot grow beside it
    asked_alone: ClassVar[bool] = True  # whether it makes sense to ask the model without labels

    @classmethod
    def of_options(cls, given: Mapping[str, Any], hertz: float | None) -> Companion | None:
        """The one that the values of its options ask for, by their names; one of them is given.

        hertz is the rate of the sensor, where it is known. Raises UserError.
        """
        return None

    def on_stream(self, stream: Stream, warmup: int) -> Companion:
        """The same where the stream decides on something. Raises UserError."""
        return self

    def on_shape(self, classes: int) -> Companion:
        """The same for a budget, which knows only how many classes there are."""
        return self

    def note(self, stream: Stream, warmup: int) -> str:
        """What to tell people before it runs on that stream."""
        return ""

    def around(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The learner's parameters with it beside."""
        return dict(parameters)

    def plan(self) -> Plan:
        """What a session makes of it, see session.py."""
        raise NotImplementedError

    def made(self, library: Any, learner: Any) -> Any:
        """Its part on a board, with its buffers; None if it has none of its own."""
        return None

    def room(self, library: Any, learner: Any) -> BoardRoom | None:
        """What it makes on a board besides its buffers, where made() does not have it."""
        return None

    def modules(self, kind: str, beside: Collection[str]) -> tuple[str, ...]:
        """Those of the device library that a learner of that kind imports with it.

        beside has the names of all companions.
        """
        return ()

    # In the program of a board; `part` is what config.json has of it, by its name

    def program(self, classes: Sequence[str]) -> dict[str, Any]:
        """Its part of config.json, for a program whose known classes have these names.

        A `pin` in it is that of a button on the board. Raises UserError.
        """
        raise UserError(f"{self.options[0].flag} is not for the program of a board")

    def in_program(self, classes: Sequence[str]) -> dict[str, Any]:
        """Parts of config.json by their names, for a budget: without pins.

        classes are the names of those that are known, or none.
        """
        if type(self).program is Companion.program:
            return {}
        part = self.program(classes)
        return {self.name: {name: value for name, value in part.items() if name != "pin"}}

    def columns(self, library: Any) -> int | None:
        """How many values a sample has that it makes; None if it makes none."""
        return None

    def check_program(self, *, serial: bool, label_pin: bool) -> None:
        """Raise UserError if samples or labels of a program come from where they cannot."""

    has_light: ClassVar[bool] = False  # whether a light of the board can show its questions

    @classmethod
    def of_model(cls, saved: Any, wanted: dict[str, Any] | None) -> dict[str, Any] | None:
        """Its part for a saved model, whose file has `saved` of it; wanted is what was asked for.

        Raises UserError if these do not go together.
        """
        return wanted

    @classmethod
    def more_classes(cls, part: Mapping[str, Any]) -> list[str]:
        """The names of the classes that it adds to a fresh learner's."""
        return []

    @classmethod
    def program_modules(
        cls, part: Mapping[str, Any] | None, around: Mapping[str, Any], kind: str
    ) -> dict[str, bool]:
        """The modules of the library that its part may need, and whether it does.

        around is the whole config.json around a learner of that kind.
        """
        return {}

    # In a file of a model

    @classmethod
    def opened(
        cls, learner: Any, saved: Any, names: Sequence[str], states: Mapping[str, bytes]
    ) -> Any:
        """Its part of the library beside a learner, from a file of a model.

        saved is what config.json has of it, names are those of all classes, states has
        `states`. Raises ValueError if these do not belong together.
        """
        raise ValueError(f"config.json has a part {cls.name}, which no file has")

    def result(self, followed: Followed) -> BesideRun:
        """What became of it."""
        raise NotImplementedError


Beside = Sequence[Companion]


def freezes(beside: Beside) -> bool:
    """Whether ranges cannot grow beside these."""
    return any(each.freezes for each in beside)


def around(parameters: Mapping[str, Any], beside: Beside) -> dict[str, Any]:
    """A learner's parameters with these beside it."""
    found = dict(parameters)
    for each in beside:
        found = each.around(found)
    return found
