"""Companions that watch each sample, without influence on the learner.

On a board, such a companion is a class in a module of the device library, see firmware's
device/watchers.py. A companion of your own is a file with such a class, a subclass of Watcher, and
a call of register_companion().
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ..library import loader
from .companion import BoardObjects, Companion
from .engine_interface import Plan

CONFIG = "watchers"  # the part of config.json with all watchers


class Watcher(Companion):
    """The base of companions that watch samples. Besides a Companion's members, a subclass has

    module, kind    the module of the library without its package, and the class in it
    parameters()    the keyword arguments of that class, except features and classes
    monitor_rows(words, classes)   rows for `monitor`, from the words of the link's answer
    """

    module: ClassVar[str]
    kind: ClassVar[str]

    def parameters(self) -> dict[str, Any]:
        """Return the keyword arguments of the library's class, except features and classes."""
        raise NotImplementedError

    @classmethod
    def monitor_rows(cls, words: Sequence[int], classes: Sequence[str]) -> list[tuple[str, str]]:
        """Return the rows that `monitor` shows for a board's answer, with the classes' names."""
        raise NotImplementedError

    @property
    def row(self) -> list[Any]:
        """The watcher's entry in config.json."""
        return [self.module, self.kind, self.parameters()]

    def plan(self) -> Plan:
        return "session_companions", "Watched", {"name": self.name, "row": self.row}

    def on_board(self, library: Any, learner: Any) -> BoardObjects:
        return BoardObjects(made(library, self.row, learner))

    def program(self, classes: Sequence[str]) -> dict[str, Any]:
        return {CONFIG: {self.name: self.row}}

    @classmethod
    def modules(cls, config: Mapping[str, Any], learner: str) -> dict[str, bool]:
        return {cls.module: cls.name in (config.get(CONFIG) or {})}

    @classmethod
    def opened(
        cls, learner: Any, saved: Any, names: Sequence[str], states: Mapping[str, bytes]
    ) -> Any:
        right = isinstance(saved, list) and saved[:2] == [cls.module, cls.kind] and len(saved) == 3
        if not right or not isinstance(saved[2], dict):
            raise ValueError(f"config.json has no valid {cls.name}")
        try:
            watcher = made(loader.load("python"), saved, learner)
        except TypeError as error:
            raise ValueError(f"{cls.name}: {error}") from None
        watcher.load(states[cls.name])
        return watcher


def made(library: Any, row: Sequence[Any], learner: Any) -> Any:
    """Return the library's object for a watcher's entry in config.json."""
    module, class_name, parameters = row
    home = __import__(f"{library.__name__}.{module}", fromlist=[class_name])
    return getattr(home, class_name)(learner.features, learner.classes, **parameters)
