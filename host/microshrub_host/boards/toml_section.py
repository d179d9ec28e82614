"""A section of a board file, from which keys are taken one by one."""

from __future__ import annotations

import math
from typing import Any, NoReturn, TypeVar

from ..base.errors import UserError

T = TypeVar("T")


class BoardFileError(UserError):
    """There is no such board, or its file is invalid; the message is for people."""


class TomlSection:
    """The keys that were not taken yet; a key that is left at the end is an error."""

    def __init__(self, path: str, table: dict[str, Any], prefix: str = "") -> None:
        self.path = path
        if not isinstance(table, dict):
            raise BoardFileError(f"{path}: {prefix.rstrip('.')} has to be a section.")
        self.rest = dict(table)
        self.prefix = prefix
        self.taken: list[str] = []

    def fail(self, key: str, complaint: str) -> NoReturn:
        raise BoardFileError(f"{self.path}: {self.prefix}{key} {complaint}.")

    def take(self, key: str, value_type: type[T], expected: str) -> T:
        if key not in self.rest:
            self.fail(key, f"is missing; it has to be {expected}")
        value = self.rest.pop(key)
        self.taken.append(key)
        if type(value) is not value_type:  # not isinstance: true is no int here
            self.fail(key, f"has to be {expected}, not {value!r}")
        return value

    def text(self, key: str) -> str:
        value = self.take(key, str, "a text")
        if not value.strip():
            self.fail(key, "is empty")
        return value

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        expected = "one of " + ", ".join(allowed)
        value = self.take(key, str, expected)
        if value not in allowed:
            self.fail(key, f"has to be {expected}, not {value!r}")
        return value

    def positive(self, key: str) -> int:
        value = self.take(key, int, "a whole number above 0")
        if value <= 0:
            self.fail(key, f"has to be a whole number above 0, not {value}")
        return value

    def whole(self, key: str) -> int:
        value = self.take(key, int, "a whole number, 0 or more")
        if value < 0:
            self.fail(key, f"has to be a whole number, 0 or more, not {value}")
        return value

    def wholes(self, key: str) -> tuple[int, ...]:
        expected = "a list of whole numbers, 0 or more"
        values = self.take(key, list, expected)
        if not all(type(value) is int and value >= 0 for value in values):
            self.fail(key, f"has to be {expected}, not {values!r}")
        return tuple(values)

    def amount(self, key: str) -> float:
        """Take a number above 0, whole or not."""
        if type(self.rest.get(key)) is int:
            self.rest[key] = float(self.rest[key])
        value = self.take(key, float, "a number above 0")
        if not 0 < value < math.inf:
            self.fail(key, f"has to be a number above 0, not {value:g}")
        return value

    def pin(self, key: str) -> int | str:
        if isinstance(self.rest.get(key), str):
            return self.text(key)
        value = self.take(key, int, "a GPIO number or a pin's name")
        if value < 0:
            self.fail(key, f"has to be a GPIO number or a pin's name, not {value}")
        return value

    def rising_pair(self, key: str) -> tuple[int, int]:
        expected = "[median, 99th percentile], two whole numbers"
        pair = self.take(key, list, expected)
        if not (len(pair) == 2 and all(type(n) is int for n in pair) and 0 <= pair[0] <= pair[1]):
            self.fail(key, f"has to be {expected}, not {pair!r}")
        return pair[0], pair[1]

    def section(self, key: str) -> TomlSection:
        table: dict[str, Any] = self.take(key, dict, f"a section [{key}]")
        return TomlSection(self.path, table, f"{key}.")

    def finish(self) -> None:
        """Raise BoardFileError for the first key that was not taken."""
        for key in self.rest:
            self.fail(key, f"is not a key of a board file; known here: {', '.join(self.taken)}")
