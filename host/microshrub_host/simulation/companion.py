"""Companions of a learner: an anomaly score, a label budget, spare classes, a guarantee.

A companion is one class here, its settings, and one in the device library, the part that runs.
companion_registry.py lists them all. Engines, budgets, files and reports use only these methods.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..streams.stream import Stream
from .engine_interface import Labels, Plan


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
class CompanionReport:
    """What an engine reports about a companion when the stream has ended.

    `outputs` are what it gave for each sample, bytes of shape (values, samples); `status` is what
    it reports about itself; `bytes` is the size of its buffers. `right` says which predictions
    were right.
    """

    outputs: NDArray[np.uint8]
    status: Mapping[str, Any]
    bytes: int
    features: int
    labels: Labels = field(repr=False)
    right: NDArray[np.bool_] = field(repr=False)


class CompanionRun:
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
class BoardObjects:
    """What a companion makes on a board, for a budget.

    `part` has its buffers; None if it has none of its own. `others` are objects besides, with a
    note on what they are; `elsewhere` are objects that these refer to and that the budget counts
    elsewhere.
    """

    part: Any = None
    others: tuple[object, ...] = ()
    elsewhere: tuple[object, ...] = ()
    note: str = ""


class Companion:
    """The base class of all companions. A subclass is a frozen dataclass: its settings.

    By default a method does nothing: the smallest companion has `name`, `plan` and `on_board`.
    """

    name: ClassVar[str]  # in config.json
    key: ClassVar[str]  # in --json, and in a result's `companions`
    title: ClassVar[str]  # of its part of a budget
    cost: ClassVar[str] = ""  # what comes on top of a learner's time, in words
    buffers: ClassVar[tuple[str, ...]] = ()  # how the names of its buffers begin
    states: ClassVar[tuple[str, ...]] = ()  # the names of what is saved of it
    options: ClassVar[tuple[Option, ...]] = ()
    freezes: ClassVar[bool] = False  # ranges cannot grow with it
    can_be_asked: ClassVar[bool] = True  # whether the model can be asked about a holdout
    has_light: ClassVar[bool] = False  # whether a light of the board can show that a query waits

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

    def learner_parameters(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The learner's parameters with this companion."""
        return dict(parameters)

    def plan(self) -> Plan:
        """What a session creates for it; see session.py."""
        raise NotImplementedError

    def on_board(self, library: Any, learner: Any) -> BoardObjects:
        """What it makes on a board."""
        return BoardObjects()

    # In the program of a board

    def program(self, classes: Sequence[str]) -> dict[str, Any]:
        """Its parts of config.json by their names; none if it is not for a board's program.

        classes are the names of the known classes, or empty. A `pin` in a part is the pin of a
        button on the board.
        """
        return {}

    def check_program(self, *, serial: bool, labelled: bool) -> None:
        """Raise UserError if samples or labels come in a way that it cannot work with.

        labelled: a button of the board tells the label of every sample.
        """

    @classmethod
    def of_model(cls, saved: Any, wanted: dict[str, Any] | None) -> dict[str, Any] | None:
        """Its part of config.json for a saved model; `saved` is its part of the model's file.

        `wanted` is the part that was asked for. Raises UserError if the two do not go together.
        """
        return wanted

    @classmethod
    def modules(cls, config: Mapping[str, Any], learner: str) -> dict[str, bool]:
        """The modules of the device library that it may need, and whether it needs them.

        config is the config.json of that learner, or what companions have of it.
        """
        return {}

    # In a file of a model

    @classmethod
    def opened(
        cls, learner: Any, saved: Any, names: Sequence[str], states: Mapping[str, bytes]
    ) -> Any:
        """Its object on a learner, opened from a model's file.

        `saved` is its part of config.json, `names` has the names of all classes, `states` what
        `states` names. Raises ValueError if these do not belong together.
        """
        raise ValueError(f"config.json has a part {cls.name}, which no file has")

    def result(self, report: CompanionReport) -> CompanionRun:
        """Its result."""
        raise NotImplementedError


Companions = Sequence[Companion]


def freezes(companions: Companions) -> bool:
    """Whether ranges cannot grow with these."""
    return any(each.freezes for each in companions)


def with_companions(parameters: Mapping[str, Any], companions: Companions) -> dict[str, Any]:
    """A learner's parameters with these companions."""
    result = dict(parameters)
    for each in companions:
        result = each.learner_parameters(result)
    return result


def config_of(companions: Companions, classes: Sequence[str] = ()) -> dict[str, Any]:
    """What config.json has of companions; classes are the names of the known ones, or empty."""
    config: dict[str, Any] = {}
    for each in companions:
        for name, part in each.program(classes).items():
            config[name] = {**config.get(name, {}), **part}
    return config
