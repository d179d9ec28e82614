"""Reads how often something may happen: 0.001, 0.1 %, `1 per day at 50 Hz`, `1 per 5 samples`."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from .errors import UserError

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_UNIT = "|".join([*_SECONDS, "samples?"])
_RATE = re.compile(
    rf"(?P<count>[\d.]+) per (?:(?P<length>[\d.,_]+) )?(?P<unit>{_UNIT})s?"
    r"(?: at (?P<hertz>[\d.]+) Hz)?",
    re.IGNORECASE,
)
_SHARE = re.compile(r"([\d.]+)( ?%)?")


def share_of_samples(text: str, option: str, what: str, hertz: float | None = None) -> Fraction:
    """The share of the samples that the text names, above 0; a rate may make it more than 1.

    option and what, such as `an alarm may come`, are for the errors; hertz is the rate where the
    text names none. Raises UserError.
    """
    text = " ".join(text.split())
    said = f"{option} {text!r}"
    if found := _SHARE.fullmatch(text):
        share = _number(found[1], said) / (100 if found[2] else 1)
        if share > 1:
            meant = "" if found[2] or share > 100 else f". Did you mean {text}%?"
            raise UserError(f"{said}: a share has to be above 0 and at most 1{meant}")
        return share
    found = _RATE.fullmatch(text)
    if not found:
        raise UserError(
            f"{said} is not how often {what}. Write a share, such as "
            "0.001 or 0.1%, or '1 per day at 50 Hz', or '1 per 1000 samples'"
        )
    return _number(found["count"], said) / _length(found, text, said, hertz)


def _length(found: re.Match[str], text: str, said: str, hertz: float | None) -> Fraction:
    """Samples in the time that the text names."""
    length = _number(found["length"] or "1", said)
    unit = found["unit"].lower()
    if unit.startswith("sample"):
        return length
    if found["hertz"]:
        hertz = float(_number(found["hertz"], said))
    if hertz is None:
        raise UserError(f"{said}: how many samples a second are there? Write '{text} at 50 Hz'")
    return length * _SECONDS[unit] * Fraction(hertz).limit_denominator(1000)


def _number(text: str, said: str) -> Fraction:
    try:
        value = Fraction(text.replace(",", "").replace("_", ""))
    except ValueError:
        value = Fraction(0)
    if not 0 < value < math.inf:
        raise UserError(f"{said}: {text} is not a number above 0")
    return value
