"""Text for people from values, and values from text that people type."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .errors import UserError

_SHOWN = 40  # most choices in a message


def count(number: int, noun: str) -> str:
    """Return a number with a noun: `1 sample`, `2,310 samples`."""
    return f"{number:,} {noun}{'' if number == 1 else 's' if noun[-1] != 's' else 'es'}"


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest choice, and all choices."""
    import difflib  # its import doubles the time of a start

    known = list(choices)
    near = [choice for choice in known if choice.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    more = f" and {len(known) - _SHOWN:,} more" if len(known) > _SHOWN else ""
    return f"{hint}Choose from: {', '.join(known[:_SHOWN])}{more}."


# Control characters of terminals, except tabs and ends of lines, and characters that change the
# direction of text
_ACTS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_HALVES = re.compile("[\ud800-\udfff]")  # surrogates: bytes of a file's name that are not UTF-8


def shown(text: str) -> str:
    """Return text for a terminal, without control characters."""
    return whole(_ACTS.sub("", text))


def whole(text: str) -> str:
    """Return text that can be written to every file and picture."""
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text)


def printable(name: str) -> str:
    """Return a name from a file without characters that a terminal or an XML file cannot take."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)


_KILOBYTES = re.compile(r"(\d+) ?k(i?b)?", re.IGNORECASE)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        message = f"has to be a whole number, not {text!r}"
        if size := _KILOBYTES.fullmatch(text):
            message += f". Did you mean {1024 * int(size[1])}?"
        raise ValueError(message) from None


def _number(convert: type, noun: str) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            return convert(text)
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


# Parsers of values; each raises ValueError with the rest of a sentence
PARSERS: dict[type, Callable[[str], Any]] = {
    bool: _truth,
    int: _whole,
    float: _number(float, "a number"),
    str: str,
    tuple: _whole_numbers,
}


# Rates: 0.001, 0.1 %, `1 per day at 50 Hz`, `1 per 5 samples`
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_UNIT = "|".join([*_SECONDS, "samples?"])
_RATE = re.compile(
    rf"(?P<count>[\d.]+) per (?:(?P<length>[\d.,_]+) )?(?P<unit>{_UNIT})s?"
    r"(?: at (?P<hertz>[\d.]+) Hz)?",
    re.IGNORECASE,
)
_SHARE = re.compile(r"([\d.]+)( ?%)?")


def share_of_samples(text: str, option: str, what: str, hertz: float | None = None) -> Fraction:
    """Return the share of samples that a text names, above 0; for a rate, maybe above 1.

    option and what, such as `an alarm may come`, are for errors; hertz is the sampling rate if the
    text has none. Raises UserError for an invalid text.
    """
    text = " ".join(text.split())
    message = f"{option} {text!r}"
    if match := _SHARE.fullmatch(text):
        share = _above_zero(match[1], message) / (100 if match[2] else 1)
        if share > 1:
            meant = "" if match[2] or share > 100 else f". Did you mean {text}%?"
            raise UserError(f"{message}: a share has to be above 0 and at most 1{meant}")
        return share
    match = _RATE.fullmatch(text)
    if not match:
        raise UserError(
            f"{message} is not how often {what}. Write a share, such as "
            "0.001 or 0.1%, or '1 per day at 50 Hz', or '1 per 1000 samples'"
        )
    return _above_zero(match["count"], message) / _length(match, text, message, hertz)


def _length(match: re.Match[str], text: str, message: str, hertz: float | None) -> Fraction:
    """Return the number of samples in the time that the text names."""
    length = _above_zero(match["length"] or "1", message)
    unit = match["unit"].lower()
    if unit.startswith("sample"):
        return length
    if match["hertz"]:
        hertz = float(_above_zero(match["hertz"], message))
    if hertz is None:
        raise UserError(f"{message}: how many samples a second are there? Write '{text} at 50 Hz'")
    return length * _SECONDS[unit] * Fraction(hertz).limit_denominator(1000)


def _above_zero(text: str, message: str) -> Fraction:
    try:
        value = Fraction(text.replace(",", "").replace("_", ""))
    except ValueError:
        value = Fraction(0)
    if not 0 < value < math.inf:
        raise UserError(f"{message}: {text} is not a number above 0")
    return value


def settings(owner: str, words: Sequence[str], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the known settings, with values from the words that follow owner, an option.

    A value of digits is a whole number, any other value a text. Raises UserError for a bad word.
    """
    result = dict(known)
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise UserError(f"{word!r} after {owner} is not a setting such as rate=50")
        if name not in known:
            raise UserError(f"{owner} has no {name}. {did_you_mean(name, known)}")
        result[name] = number_or_name(value)
    return result


def number_or_name(text: str) -> int | str:
    """Return a whole number for digits, else the text."""
    return int(text) if text.isdecimal() else text
