"""What a user says of spare classes, such as `4 new=walk collect=8`.

The classes of a stream that come first are known; the others get one of the spare classes when a
person tells what they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.errors import UserError
from ..base.settings import settings
from ..base.text import did_you_mean
from ..streams.stream import Stream
from . import loader

_OF_NEWCOMERS = {"period": 100, "window": 256, "reach": 4, "collect": 8}
_SETTINGS = {"new": "", "pin": "", **_OF_NEWCOMERS}
SPARE_BUFFERS = ("names.", "newcomers.")  # what the names of their buffers begin with
_ROOM, _MOST_ROOM = 16, 48  # bytes of a name


@dataclass(frozen=True)
class SpareOptions:
    """How many spare classes there are, and the parameters of Newcomers but for the shape."""

    spare: int
    new: tuple[str, ...] = ()  # the classes that are not known from the start; (): see known()
    period: int = 100
    window: int = 256
    reach: int = 4
    collect: int = 8
    pin: int | str = ""  # of a button on a board that names what is new; "": there is none

    @classmethod
    def of(cls, words: Sequence[str]) -> SpareOptions:
        """Those that the words ask for: how many, then settings such as collect=8.

        Raises UserError.
        """
        how_many, *rest = words
        if not how_many.isdecimal():
            raise UserError(f"--spare-classes has to be how many there are, not {how_many!r}")
        found = settings("--spare-classes", rest, _SETTINGS)
        new = str(found.pop("new"))
        options = cls(int(how_many), tuple(new.split(",")) if new else (), **found)
        options.check()
        return options

    def parameters(self, names: Sequence[str] = ()) -> dict[str, Any]:
        """The keyword arguments of a SpareClasses, but for model and names.

        A name has room for 16 bytes, or for the longest of these. Raises UserError if that is
        too long.
        """
        found = {name: getattr(self, name) for name in ("spare", *_OF_NEWCOMERS)}
        room = max([_ROOM, *(len(name.encode()) for name in names)])
        if room > _MOST_ROOM:
            raise UserError(
                f"--spare-classes: the name of a class has at most {_MOST_ROOM} bytes in UTF-8, "
                f"and {max(names, key=lambda name: len(name.encode()))!r} has {room}"
            )
        return found | {"room": room}

    def check(self) -> None:
        """Raise UserError for what the device library refuses."""
        library = loader.load("python")
        parameters = self.parameters()
        try:
            library.ClassNames(("a",), parameters.pop("spare"), parameters.pop("room"))
            library.Newcomers(1, 2, **parameters)
        except library.learner.ParameterError as error:
            name, allowed, given = error.args
            what = "the number of them" if name == "spare" else name
            raise UserError(
                f"--spare-classes: {what} has to be {allowed}, not {given!r}"
            ) from None

    def known(self, stream: Stream, warmup: int) -> list[int]:
        """The stream's classes that have a name from the start, by their numbers.

        They are all but those in `new`; without `new`, those of the first `warmup` samples.
        Raises UserError if none is known.
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
        return sorted(first)

    def of_stream(self, stream: Stream, warmup: int) -> dict[str, Any]:
        """What a Person of spare_person.py takes. Raises UserError."""
        if self.pin != "":
            raise UserError("--spare-classes: pin= is for the program of a board, see `build`")
        names = list(stream.class_names)
        known = self.known(stream, warmup)
        return {"names": names, "known": known, **self.parameters(names)}

    def of_program(self, names: Sequence[str]) -> dict[str, Any]:
        """What config.json says of them, for a program whose known classes have these names.

        Raises UserError.
        """
        if self.new:
            raise UserError("--spare-classes: new= is for simulations; a board knows all of DATA")
        found = self.parameters(names)
        pin = {"pin": self.pin} if self.pin != "" else {}
        return {"classes": found.pop("spare"), **found, **pin}

    def of_shape(self, classes: int) -> dict[str, Any]:
        """The same for so many classes that are known, by their numbers."""
        names = list(map(str, range(classes)))
        return {"names": names, "known": list(range(classes)), **self.parameters()}


def spare_classes(library: Any, model: Any, spare: dict[str, Any]) -> Any:
    """The SpareClasses around a model that of_stream() or of_shape() asks for."""
    settings = {name: value for name, value in spare.items() if name not in ("names", "known")}
    return library.SpareClasses(model, [spare["names"][k] for k in spare["known"]], **settings)


def with_spare(parameters: dict[str, Any], spare: dict[str, Any] | None) -> dict[str, Any]:
    """A learner's parameters, with as many classes as of_stream() asks for."""
    if spare is None:
        return parameters
    return parameters | {"classes": len(spare["known"]) + spare["spare"]}
