"""Settings such as rate=50 behind an option's first word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .errors import UserError
from .text import did_you_mean


def settings(owner: str, words: Sequence[str], known: Mapping[str, Any]) -> dict[str, Any]:
    """The known settings, with the values of the words; owner is what the words stand behind.

    A value of digits is a whole number, any other a text. Raises UserError.
    """
    found = dict(known)
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise UserError(f"{word!r} after {owner} is not a setting such as rate=50")
        if name not in known:
            raise UserError(f"{owner} has no {name}. {did_you_mean(name, known)}")
        found[name] = number_or_name(value)
    return found


def number_or_name(text: str) -> int | str:
    """A whole number for digits, else the text."""
    return int(text) if text.isdecimal() else text
