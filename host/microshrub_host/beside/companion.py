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

    `many`: several words may follow. `simulated`: the option is of use only where a stream has all
    labels.
    """

    flag: str
    help: str
    metavar: str | tuple[str, ...]
    kind: Callable[[str], Any] = str
    many: bool = False
    simulated: bool = False

    @property
    def name(self) -> str:
        """Its name in the parsed arguments."""
        return self.flag.removeprefix("--").replace("-", "_")


@dataclass(frozen=True)
class Followed:
    """What an engine reports about a companion when the stream has ended.

    `said` has what the companion said about each sample, bytes of shape (values, samples); `told`
    has what it says about itself; `bytes` is the size of its buffers. `right` says which
    predictions were right.
    """

    said: NDArray[np.uint8]
    told: Mapping[str, Any]
    bytes: int
    features: int
    labels: Labels = field(repr=False)
    right: NDArray[np.bool_] = field(repr=False)


class BesideRun:
    """The result of a companion on a stream; the base class of all such results."""

    draws: ClassVar[bool] = False  # whether it has a picture

    def saved(self) -> dict[str, Any]:
        """Its part of the config.json in a model's file, by the companion's name."""
        return {}

    def class_names(self, names: tuple[str, ...], classes: int) -> tuple[str, ...]:
        """The names of the learner's classes; names: those in the stream."""
        return names

    def record(self) -> dict[str, Any]:
        """The result for --json."""
        raise NotImplementedError

    def rows(self) -> list[tuple[str, str]]:
        """Rows of a table: names and values."""
        raise NotImplementedError

    def draw(self, axes: Any) -> None:
        """Draw the result over the samples."""


@dataclass(frozen=True)
class BoardRoom:
    """Objects of a companion on a board, other than its buffers, for a budget.

    `elsewhere` are objects that they refer to and that the budget counts elsewhere.
    """

    things: tuple[object, ...]
    elsewhere: tuple[object, ...]
    note: str


class Companion:
    """The base class of all companions. A subclass is a frozen dataclass: its settings.

    By default a method does nothing: the smallest companion defines `name`, `plan` and `made`.
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
        """The companion that the given options ask for; at least one of its options is given.

        hertz is the sensor's rate, if it is known. Raises UserError.
        """
        return None

    def on_stream(self, stream: Stream, warmup: int) -> Companion:
        """This companion with what depends on the stream filled in. Raises UserError."""
        return self

    def on_shape(self, classes: int) -> Companion:
        """The same for a budget, which knows only the number of classes."""
        return self

    def note(self, stream: Stream, warmup: int) -> str:
        """What to tell the user before it runs on this stream."""
        return ""

    def around(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The learner's parameters when this companion stands beside it."""
        return dict(parameters)

    def plan(self) -> Plan:
        """What a session creates for it; see session.py."""
        raise NotImplementedError

    def made(self, library: Any, learner: Any) -> Any:
        """Its part on a board, with its buffers; None if it has no part of its own."""
        return None

    def room(self, library: Any, learner: Any) -> BoardRoom | None:
        """What it creates on a board besides its buffers, unless made() includes that."""
        return None

    def modules(self, kind: str, beside: Collection[str]) -> tuple[str, ...]:
        """The modules of the device library that a learner of that kind imports with it.

        beside has the names of all companions of the learner.
        """
        return ()

    # In the program of a board; `part` is what config.json has of it, by its name

    def program(self, classes: Sequence[str]) -> dict[str, Any]:
        """Its part of config.json, for a program whose known classes have these names.

        A `pin` in it is the pin of a button on the board. Raises UserError.
        """
        raise UserError(f"{self.options[0].flag} is not for the program of a board")

    def in_program(self, classes: Sequence[str]) -> dict[str, Any]:
        """Parts of config.json by their names, for a budget: without pins.

        classes are the names of the known classes, or empty.
        """
        if type(self).program is Companion.program:
            return {}
        part = self.program(classes)
        return {self.name: {name: value for name, value in part.items() if name != "pin"}}

    def columns(self, library: Any) -> int | None:
        """How many values each sample has that it makes; None if it makes no samples."""
        return None

    def check_program(self, *, serial: bool, labelled: bool) -> None:
        """Raise UserError if samples or labels come in a way that it cannot work with.

        labelled: a button of the board tells the label of every sample.
        """

    has_light: ClassVar[bool] = False  # whether a light of the board can show its questions

    @classmethod
    def of_model(cls, saved: Any, wanted: dict[str, Any] | None) -> dict[str, Any] | None:
        """Its part of config.json for a saved model; `saved` is its part of the model's file.

        `wanted` is the part that was asked for. Raises UserError if the two do not go together.
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
        """The modules of the library that its part may need, and whether it needs them.

        around is the whole config.json around a learner of that kind.
        """
        return {}

    # In a file of a model

    @classmethod
    def opened(
        cls, learner: Any, saved: Any, names: Sequence[str], states: Mapping[str, bytes]
    ) -> Any:
        """Its object beside a learner, opened from a model's file.

        `saved` is its part of config.json, `names` has the names of all classes, `states` what
        `states` names. Raises ValueError if these do not belong together.
        """
        raise ValueError(f"config.json has a part {cls.name}, which no file has")

    def result(self, followed: Followed) -> BesideRun:
        """Its result."""
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
