"""Values of the texts that people type."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_KILOBYTES = re.compile(r"(\d+) ?k(i?b)?", re.IGNORECASE)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        said = f"has to be a whole number, not {text!r}"
        if size := _KILOBYTES.fullmatch(text):
            said += f". Did you mean {1024 * int(size[1])}?"
        raise ValueError(said) from None


def _number(kind: type, noun: str) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            return kind(text)
        except ValueError:
            raise ValueError(f"has to be {noun}, not {text!r}") from None

    return parse


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"has to be true or false, not {text!r}")
    return text.lower() == "true"


def _whole_numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(map(int, text.split(",")))
    except ValueError:
        raise ValueError(f"has to be whole numbers with commas between, not {text!r}") from None


# What makes a value of a text; each raises ValueError, with the rest of a sentence
PARSERS: dict[type, Callable[[str], Any]] = {
    bool: _truth,
    int: _whole,
    float: _number(float, "a number"),
    str: str,
    tuple: _whole_numbers,
}
