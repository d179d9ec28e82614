"""The settings of a learner's spare classes.

Some classes of a stream are known from the start; another class gets one of the spare classes when
a person names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..base.errors import UserError
from ..base.text import did_you_mean, settings
from ..library import loader
from ..streams.class_names import split_classes
from ..streams.stream import Stream
from .companion import BoardObjects, Companion, CompanionReport, Option
from .engine_interface import Plan
from .spare_run import SpareRun

_NOVELTY = {"period": 100, "window": 256, "reach": 4, "collect": 5}
_SETTINGS = {"new": "", "pin": "", **_NOVELTY}
_SERIAL = {"kind": "serial"}  # the default sensor of a program
_ROOM, _MOST_ROOM = 16, 48  # bytes of a name


@dataclass(frozen=True)
class SpareClasses(Companion):
    """Room for classes that are named later: samples unlike all named classes are kept.

    spare    the number of spare classes, 1 or more
    new      in a simulation, the classes that are not known from the start; if empty, the
             classes that are not in the warm-up
    period   1..2**29 samples of known classes, one of which may be mistaken for novel
    window   samples that each sample is compared with
    reach    1..32; up to about this many steps of 1/256 in a feature are no distance
    collect  the number of similar novel samples that leads to a query for a name
    pin      the pin of a button on a board that names a novel class; "": no button
    names, known  the names of a stream's classes, and the numbers of the classes that are named
             from the start; on_stream() fills them in

    Raises UserError for other values.
    """

    spare: int
    new: tuple[str, ...] = ()
    period: int = 100
    window: int = 256
    reach: int = 4
    collect: int = 5
    pin: int | str = ""
    names: tuple[str, ...] = ()
    known: tuple[int, ...] = ()

    name = "spare_classes"
    key = "spare_classes"
    title = "spare classes"
    cost = "novelty detection"
    buffers = ("names.", "novelty.")
    states = ("names", "novelty")
    freezes = has_light = True
    can_be_asked = False
    options = (
        Option(
            "--spare-classes",
            "novelty detection: room for N classes that are named later: samples that are unlike "
            "every named class and like each other are kept until somebody names them; settings: "
            "period=100 window=256 reach=4 collect=5, and which classes of DATA are new in a "
            "simulation, such as new=walk,run: without it, those that the warm-up does not have; "
            "on a board, pin=15 is a button that names a novel class (default: off)",
            ("N", "NAME=VALUE"),
            many=True,
        ),
    )

    def __post_init__(self) -> None:
        if isinstance(self.new, str) or not all(isinstance(name, str) for name in self.new):
            raise UserError(f"--spare-classes: new has to be a list of names, not {self.new!r}")
        library = loader.load("python")
        parameters = self.parameters()
        try:
            library.ClassNames(("a",), parameters.pop("spare"), parameters.pop("room"))
            library.NoveltyDetector(1, 2, **parameters)
        except library.learner.ParameterError as error:
            name, allowed, given = error.args
            what = "the number of them" if name == "spare" else name
            raise UserError(
                f"--spare-classes: {what} has to be {allowed}, not {given!r}"
            ) from None

    @classmethod
    def of_options(cls, given: Mapping[str, Any], hertz: float | None) -> SpareClasses:
        how_many, *rest = given["spare_classes"]
        if not how_many.isdecimal():
            raise UserError(f"--spare-classes has to be how many there are, not {how_many!r}")
        keywords = settings("--spare-classes", rest, _SETTINGS)
        new = str(keywords.pop("new"))
        return cls(int(how_many), tuple(split_classes("--spare-classes new=", new)), **keywords)

    def parameters(self, names: Sequence[str] = ()) -> dict[str, Any]:
        """Return the keyword arguments of a SpareClasses, except model and names.

        A name has room for 16 bytes, or for the longest name in `names` or the stream. Raises
        UserError if that name is too long.
        """
        names = (*names, *self.names)
        keywords = {name: getattr(self, name) for name in ("spare", *_NOVELTY)}
        room = max([_ROOM, *(len(name.encode()) for name in names)])
        if room > _MOST_ROOM:
            raise UserError(
                f"--spare-classes: the name of a class has at most {_MOST_ROOM} bytes in UTF-8, "
                f"and {max(names, key=lambda name: len(name.encode()))!r} has {room}"
            )
        return keywords | {"room": room}

    def _known(self, stream: Stream, warmup: int) -> tuple[int, ...]:
        """Return the numbers of the stream's classes that have a name from the start.

        These are all classes except those in `new`; without `new`, the classes of the first
        `warmup` samples. Raises UserError if no class is known.
        """
        names = stream.class_names
        for name in self.new:
            if name not in names:
                raise UserError(
                    f"--spare-classes new={name}: {stream.name} has no class {name!r}. "
                    f"{did_you_mean(name, names)}"
                )
        first = set(np.unique(stream.labels[:warmup]).tolist())
        if self.new:
            first = {k for k, name in enumerate(names) if name not in self.new}
        if not first:
            raise UserError("--spare-classes: one class at least has to be known: shorten new=")
        return tuple(sorted(first))

    def on_stream(self, stream: Stream, warmup: int) -> SpareClasses:
        if self.pin != "":
            raise UserError("--spare-classes: pin= is for the program of a board, see `build`")
        return replace(self, names=stream.class_names, known=self._known(stream, warmup))

    def on_shape(self, classes: int) -> SpareClasses:
        return replace(self, names=tuple(map(str, range(classes))), known=tuple(range(classes)))

    def note(self, stream: Stream, warmup: int) -> str:
        """Return a note for the user before a run on this stream, or ""."""
        if len(self.known) < len(self.names):
            return ""
        return (
            f"Note: all classes of {stream.name} come in its first {warmup:,} samples, "
            f"so none of them is new. new={stream.class_names[-1]} treats that class as new."
        )

    def learner_parameters(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        return {**parameters, "classes": len(self.known) + self.spare}

    def plan(self) -> Plan:
        names = {"names": list(self.names), "known": list(self.known)}
        return "spare_person", "Person", {**names, **self.parameters()}

    def on_board(self, library: Any, learner: Any) -> BoardObjects:
        known = [self.names[k] for k in self.known]
        return BoardObjects(library.SpareClasses(learner, known, **self.parameters()))

    @classmethod
    def opened(
        cls, learner: Any, saved: Any, names: Sequence[str], states: Mapping[str, bytes]
    ) -> Any:
        right = isinstance(saved, dict) and set(saved) == {"spare", "room", *_NOVELTY}
        if not right or any(type(number) is not int for number in saved.values()):
            raise ValueError("config.json has no valid spare_classes")
        known = tuple(names[: len(names) - saved["spare"]])
        made = loader.load("python").SpareClasses(learner, known, **saved)
        made.names.load(states["names"])
        made.novelty.load(states["novelty"])
        for c, name in enumerate(names):
            if made.names.name(c) not in (name, ""):
                raise ValueError(f"class {c} is not called {name!r} in the saved names")
        return made

    def result(self, report: CompanionReport) -> SpareRun:
        return SpareRun.of(self.names, self.known, self.parameters(), report)

    def program(self, classes: Sequence[str]) -> dict[str, Any]:
        parameters = self.parameters(classes)
        pin = {"pin": self.pin} if self.pin != "" else {}
        return {self.name: {"classes": parameters.pop("spare"), **parameters, **pin}}

    def check_program(self, *, serial: bool, labelled: bool) -> None:
        if self.new:
            raise UserError("--spare-classes: new= is for simulations; a board knows all of DATA")
        if serial and self.pin != "":
            raise UserError(
                "--spare-classes pin= is a button for samples of the board's own sensor: with "
                "--sensor serial, whoever sends the samples names novel classes"
            )

    @classmethod
    def of_model(cls, saved: Any, wanted: dict[str, Any] | None) -> dict[str, Any] | None:
        if saved is None and wanted is None:
            return None
        if saved is None:
            raise UserError(
                "--spare-classes is for a model that was simulated with --spare-classes, or for a "
                "fresh one of DATA: this one has learned all the classes that it has room for"
            )
        options: dict[str, Any] = {"classes": saved["spare"]} | saved
        del options["spare"]
        wanted = wanted or options
        pins = {name: wanted[name] for name in ("pin", "led") if name in wanted}
        if any(options[name] != wanted[name] for name in options if name != "room"):
            raise UserError(
                "--spare-classes: the model has its own, "
                + " ".join(f"{name}={value}" for name, value in options.items() if name != "room")
            )
        return options | pins | {"states": [f"{name}.state" for name in cls.states]}

    @classmethod
    def modules(cls, config: Mapping[str, Any], learner: str) -> dict[str, bool]:
        there = bool(config.get(cls.name))
        by_button = there and config.get("sensor", _SERIAL) != _SERIAL
        used = dict.fromkeys(("spare_classes", "device.novel_classes"), there)
        return {**used, "device.novel_classes:NovelClassButton": by_button}


def spare_names(config: Mapping[str, Any]) -> list[str]:
    """Return the names of the spare classes that a program adds to a new learner's classes."""
    part = config.get(SpareClasses.name) or {"classes": 0}
    return [f"spare {k + 1}" for k in range(part["classes"])]
