"""Companions of a learner: an anomaly score, a label budget, spare classes, a guarantee.

A companion has two classes: its settings here, and in the device library the part that runs.
companion_registry.py lists all companions. Engines, budgets, files and reports use only the
methods below.
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

    `many`: several words may follow. `simulated`: the option only has an effect where a stream has
    all labels.
    """

    flag: str
    help: str
    metavar: str | tuple[str, ...]
    kind: Callable[[str], Any] = str
    many: bool = False
    simulated: bool = False

    @property
    def name(self) -> str:
        """The option's name in the parsed arguments."""
        return self.flag.removeprefix("--").replace("-", "_")


@dataclass(frozen=True)
class CompanionReport:
    """An engine's report about a companion at the end of the stream.

    `outputs` are the companion's outputs for each sample, bytes of shape (values, samples);
    `status` is its own status; `bytes` is the size of its buffers. `right` marks the predictions
    that were right.
    """

    outputs: NDArray[np.uint8]
    status: Mapping[str, Any]
    bytes: int
    features: int
    labels: Labels = field(repr=False)
    right: NDArray[np.bool_] = field(repr=False)


class CompanionRun:
    """The result of a companion on a stream; the base class of all such results."""

    draws: ClassVar[bool] = False  # whether the result can be drawn

    def saved(self) -> dict[str, Any]:
        """Return the companion's part of a model's config.json, by the companion's name."""
        return {}

    def class_names(self, names: tuple[str, ...], classes: int) -> tuple[str, ...]:
        """Return the names of the learner's classes, given the names of the stream's classes."""
        return names

    def record(self) -> dict[str, Any]:
        """Return the result for --json."""
        raise NotImplementedError

    def rows(self) -> list[tuple[str, str]]:
        """Return a table's rows of names and values."""
        raise NotImplementedError

    def draw(self, axes: Any) -> None:
        """Draw the result over the samples."""


@dataclass(frozen=True)
class BoardObjects:
    """The objects that a companion creates on a board, for a budget.

    `part` has its buffers; None if it has no buffers of its own. `others` are further objects,
    described by `note`; `elsewhere` are objects that these refer to and that the budget counts
    elsewhere.
    """

    part: Any = None
    others: tuple[object, ...] = ()
    elsewhere: tuple[object, ...] = ()
    note: str = ""


class Companion:
    """The base class of all companions. A subclass is a frozen dataclass with the settings.

    By default a method does nothing: the smallest companion has `name`, `plan` and `on_board`.
    """

    name: ClassVar[str]  # name in config.json
    key: ClassVar[str]  # name in --json, and in a result's `companions`
    title: ClassVar[str]  # title of its section in a budget
    cost: ClassVar[str] = ""  # its work in addition to the learner's, as text
    buffers: ClassVar[tuple[str, ...]] = ()  # prefixes of its buffers' names
    states: ClassVar[tuple[str, ...]] = ()  # names of its saved states
    options: ClassVar[tuple[Option, ...]] = ()
    freezes: ClassVar[bool] = False  # whether ranges cannot grow with it
    can_be_asked: ClassVar[bool] = True  # whether the model can be tested on held-out data
    has_light: ClassVar[bool] = False  # whether a light of the board can signal a query

    @classmethod
    def of_options(cls, given: Mapping[str, Any], hertz: float | None) -> Companion | None:
        """Return the companion for the given options, at least one of which is its own.

        hertz is the sensor's rate, if it is known. Raises UserError.
        """
        return None

    def on_stream(self, stream: Stream, warmup: int) -> Companion:
        """Return this companion with the settings that depend on the stream. Raises UserError."""
        return self

    def on_shape(self, classes: int) -> Companion:
        """Return this companion for a budget, for which only the number of classes is known."""
        return self

    def learner_parameters(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the learner's parameters with this companion."""
        return dict(parameters)

    def plan(self) -> Plan:
        """Return the module, class and options of the companion in a session; see session.py."""
        raise NotImplementedError

    def on_board(self, library: Any, learner: Any) -> BoardObjects:
        """Return the objects that this companion creates on a board."""
        return BoardObjects()

    # In the program of a board

    def program(self, classes: Sequence[str]) -> dict[str, Any]:
        """Return the companion's parts of config.json by name; none if it is not for boards.

        classes are the names of the known classes, or empty. A `pin` in a part is the pin of a
        button on the board.
        """
        return {}

    def check_program(self, *, serial: bool, labelled: bool) -> None:
        """Raise UserError if the companion cannot work with this source of samples or labels.

        labelled: a button of the board gives the label of every sample.
        """

    @classmethod
    def of_model(cls, saved: Any, wanted: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return the companion's part of config.json for a saved model.

        `saved` is its part of the model's file, and `wanted` is the requested part. Raises
        UserError if the two do not go together.
        """
        return wanted

    @classmethod
    def modules(cls, config: Mapping[str, Any], learner: str) -> dict[str, bool]:
        """Return the modules of the device library that it may need, and whether it needs each.

        config is the config.json of a program with that learner, or only the companions' parts.
        """
        return {}

    # In the file of a model

    @classmethod
    def opened(
        cls, learner: Any, saved: Any, names: Sequence[str], states: Mapping[str, bytes]
    ) -> Any:
        """Return the companion's object on a learner, opened from a model's file.

        `saved` is its part of config.json, `names` has the names of all classes, and `states` has
        the saved states by name. Raises ValueError if these do not belong together.
        """
        raise ValueError(f"config.json has a part {cls.name}, which no file has")

    def result(self, report: CompanionReport) -> CompanionRun:
        """Return the companion's result on a stream."""
        raise NotImplementedError


Companions = Sequence[Companion]


def freezes(companions: Companions) -> bool:
    """Return whether ranges cannot grow with these companions."""
    return any(each.freezes for each in companions)


def with_companions(parameters: Mapping[str, Any], companions: Companions) -> dict[str, Any]:
    """Return a learner's parameters with these companions."""
    result = dict(parameters)
    for each in companions:
        result = each.learner_parameters(result)
    return result


def config_of(companions: Companions, classes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the companions' parts of config.json; classes are the known names, or empty."""
    config: dict[str, Any] = {}
    for each in companions:
        for name, part in each.program(classes).items():
            config[name] = {**config.get(name, {}), **part}
    return config
