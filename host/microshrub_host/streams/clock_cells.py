"""Dates and times of day as spreadsheets or loggers write them, in seconds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone

_TIME = (
    r"(?P<h>\d{1,2}):(?P<m>\d\d)(?::(?P<s>\d\d)(?:[.,:](?P<f>\d{1,9}))?)?"
    r"(?: ?(?P<ap>[AaPp])\.?[Mm]\.?)?"
)
_ZONE = r"(?: ?(?P<z>Z|UTC|[+-]\d\d:?\d\d))?"
_DAY = r"(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})"
_FORMS = (
    re.compile(rf"(?P<Y>\d{{4}})[-/.]{_DAY}(?:[T ]+{_TIME}{_ZONE})?"),
    re.compile(rf"{_DAY}[-/.](?P<Y>\d{{4}}|\d\d)(?:,?[T ]+{_TIME})?"),
    re.compile(_TIME),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_YEAR_FIRST, _YEAR_LAST = 0, 1


def clock_reader(cells: Sequence[str]) -> Callable[[str], float | None] | None:
    """Return a function from cells to seconds, if all cells are dates or times of one form."""
    if not cells or any(":" not in c and "-" not in c and "/" not in c and c.count(".") < 2
                        for c in cells):  # fmt: skip
        return None
    for number, form in enumerate(_FORMS):
        matches = [form.fullmatch(cell) for cell in cells]
        if all(matches):
            return _reader(form, number, [match for match in matches if match])
    return None


def _reader(
    form: re.Pattern[str], number: int, matches: Sequence[re.Match[str]]
) -> Callable[[str], float | None] | None:
    orders = (True,) if number != _YEAR_LAST else (True, False)
    for day_first in orders:

        def read(cell: str, day_first: bool = day_first and number == _YEAR_LAST) -> float | None:
            match = form.fullmatch(cell)
            return None if match is None else _seconds(match.groupdict(), day_first)

        if all(read(match[0]) is not None for match in matches):
            return read
    return None


def _seconds(parts: dict[str, str | None], day_first: bool) -> float | None:
    def of(name: str) -> int:
        return int(parts.get(name) or 0)

    hour, half = of("h"), (parts.get("ap") or "").lower()
    if half:
        hour = hour % 12 + 12 * (half == "p")
    fraction = float(f"0.{parts.get('f') or 0}")
    if parts.get("Y") is None:
        in_time = hour < 24 and of("m") < 60 and of("s") < 61
        return 3600 * hour + 60 * of("m") + of("s") + fraction if in_time else None
    month, day = (of("b"), of("a")) if day_first else (of("a"), of("b"))
    year = of("Y") + 2000 * (len(parts["Y"] or "") == 2)
    try:
        moment = datetime(year, month, day, tzinfo=timezone.utc)
    except ValueError:
        return None
    moment += timedelta(hours=hour, minutes=of("m"), seconds=of("s"))
    return (moment - _EPOCH).total_seconds() + fraction - _zone(parts.get("z") or "")


def _zone(text: str) -> float:
    if text[:1] not in ("+", "-"):
        return 0.0
    digits = text[1:].replace(":", "")
    return (3600 * int(digits[:2]) + 60 * int(digits[2:4])) * (-1 if text[0] == "-" else 1)
