"""Samples in the lines of text that a board prints.

    x:12 y:-3 label:1 pred:1 acc:934

is a sample of x and y; `label` is its class, a number or a name; `pred`, `acc`, `anomaly` and
`unnamed` come from the model. A model that predicts a number has no class; the predicted number is
`pred_mid`, and the ends of its interval are `pred_low` and `pred_high`.

The lines of other programs are read, too, as in a log: with decimals, units, blanks after the
colons, as rows of a CSV file with or without a header, after a monitor's clock. A board's messages
at its start are no samples.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from microshrub_host.streams.columns import MISSING_CELLS, number_of
from microshrub_host.streams.line_forms import pairs_of
from microshrub_host.streams.log_lines import (
    CUT,
    HEADER,
    MONITOR_CLOCK,
    TEXT,
    LinesLeftOut,
    board_message,
    cleaned,
)

_PAIR = re.compile(r"([^\s:,]+):([+-]?\d{1,18})", re.ASCII)
_LABEL = re.compile(r"label:([^\W\d_][\w-]{0,31})")  # a name, as a user's own program may print
_BETWEEN = re.compile(r"[\s,]+")
_OF_MODEL = ("label", "pred", "acc", "anomaly", "unnamed", "asks")
_NO_SENSOR = (*_OF_MODEL, "pred_mid", "pred_low", "pred_high")
_PRINTED = 6  # features in a line of the device's program
ABSENT = -(1 << 29)  # the code of a missing value
_CLASS = ("label", "class")  # names of the last column in a board's own header
_SEPARATORS = (re.compile(r"\s*;\s*"), re.compile(r"\s*,\s*"), re.compile(r"\s*\t\s*"),
               re.compile(r"\s+"))  # fmt: skip
_WITH_UNIT = re.compile(
    r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\W\d_]\S{0,8}|[%\u00b0]\S*)?"
)
_NAME = re.compile(r"[^\W\d][\w ./()%\u00b0\u00b2^-]{0,31}")


@dataclass(frozen=True)
class Reading:
    """One sample: a value, or None, for each name; its class, if known.

    `has_label`: the board sends classes, if not always; `learns`: the board has a model; `cut`:
    the board may have more values than it sent; `gap`: readings before this one are missing.
    """

    names: tuple[str, ...]
    values: tuple[int | str | None, ...]
    label: str | None
    has_label: bool
    learns: bool = False
    cut: bool = False
    gap: bool = False


def read_line(line: str) -> Reading | None:
    """Return the sample of a plotter line; None for any other line."""
    words = _BETWEEN.split(line.strip())
    labels = [named[1] for word in words if (named := _LABEL.fullmatch(word))]
    pairs = [_PAIR.fullmatch(word) for word in words if not _LABEL.fullmatch(word)]
    result = {pair[1]: int(pair[2]) for pair in pairs if pair}
    names = tuple(name for name in result if name not in _NO_SENSOR)
    if len(result) != len(pairs) or not names:
        return None
    values = tuple(None if result[name] == ABSENT else result[name] for name in names)
    number = str(result["label"]) if result.get("label", -1) >= 0 else None
    label = labels[0] if labels else number
    learns = "pred" in result or "pred_mid" in result
    return Reading(
        names,
        values,
        label,
        bool(labels) or "label" in result or "pred" in result,
        learns,
        learns and len(names) == _PRINTED,
    )


@dataclass(frozen=True)
class _Row:
    """A line that may be a sample: lines of one form have the same key."""

    key: tuple[object, ...]
    reading: Reading


class LineSamples:
    """Takes a board's lines one by one. `skipped` are the lines that are no samples; `broken` is
    whether the last line is one of these, so that readings may be missing.

    Lines of a form other than the plotter's count from the second in a row on; then no other form
    counts.
    """

    def __init__(self) -> None:
        self.skipped = LinesLeftOut()
        self.broken = False
        self._key: tuple[object, ...] | None = None  # the key of the form in use
        self._waiting: _Row | None = None
        self._header: tuple[str, ...] = ()
        self._number = 0

    def take(self, line: str) -> list[Reading]:
        """Return the samples that are certain with this line: one, none, or two at first."""
        self._number += 1
        self.broken = False
        line = cleaned(line)
        message = board_message(line)
        if not message and (clock := MONITOR_CLOCK.match(line)):
            line = line[clock.end() :]
            message = board_message(line)
        if message:
            return self._skip(message)
        plain = read_line(line)
        if plain is not None and (self._key is None or self._key[0] == "plotter"):
            self._key, self._waiting = ("plotter", plain.names), None
            return [plain]
        row = self._row(line)
        if row is None:
            return self._skip(HEADER if self._is_header(line) else TEXT)
        if self._key is None:
            return self._first(row)
        if self._key in (row.key, ("plotter", row.reading.names)):
            return [row.reading]
        return self._skip(CUT)

    def _skip(self, kind: str) -> list[Reading]:
        if self._waiting is not None:
            self._waiting = None
            self.skipped.add(TEXT, f"line {self._number - 1:,}")
        self.skipped.add(kind, f"line {self._number:,}")
        self.broken = kind != HEADER
        return []

    def _first(self, row: _Row) -> list[Reading]:
        waiting, self._waiting = self._waiting, row
        if waiting is None:
            return []
        if waiting.key != row.key:
            self.skipped.add(TEXT, f"line {self._number - 1:,}")
            return []
        self._key, self._waiting = row.key, None
        return [waiting.reading, row.reading]

    def _row(self, line: str) -> _Row | None:
        return _pairs(line) or self._cells(line)

    def _cells(self, line: str) -> _Row | None:
        """Return the row of numbers with separators; the last cell may be a class."""
        cells = _cells_of(line)
        numbers = [_number(cell) for cell in cells]
        if not cells or any(number is None for number in numbers[:-1]):
            return None
        texted = numbers[-1] is None
        if texted and (len(cells) < 2 or not _NAME.fullmatch(cells[-1])):
            return None
        names = self._header if len(self._header) == len(cells) else ()
        labelled = texted or (len(names) > 1 and names[-1].lower() in _CLASS)
        names = names or tuple(f"c{place}" for place in range(1, len(cells) + 1))
        label = cells[-1] if labelled and cells[-1] not in MISSING_CELLS else None
        values = tuple(number and number[0] for number in numbers[: len(cells) - labelled])
        units = tuple(number[1] if number else "" for number in numbers)
        key = ("cells", len(cells), labelled, units)
        return _Row(key, Reading(names[: len(values)], values, label, labelled))

    def _is_header(self, line: str) -> bool:
        """Return whether a line has names of columns, and keep the names for the next rows."""
        cells = _cells_of(line)
        named = len(cells) > 1 and all(map(_NAME.fullmatch, cells)) and len({*cells}) == len(cells)
        several = named and (len(cells) == len(line.split()) or _cells_of(line) != line.split())
        if not named or not several:
            return False
        if self._key is None:
            self._header = tuple(cells)
            return True
        if self._key[:2] != ("cells", len(cells)):
            return False
        return self._header in ((), tuple(cells))  # the columns keep their names


def _cells_of(line: str) -> list[str]:
    line = line.strip().rstrip(";,")
    between = next((each for each in _SEPARATORS if each.search(line)), None)
    return between.split(line) if between else [line]


def _number(cell: str) -> tuple[int | str | None, str] | None:
    """Return a value, None if it is missing, and its unit; None for a cell that is no number."""
    if cell in MISSING_CELLS:
        return None, ""
    match = _WITH_UNIT.fullmatch(cell)
    if match is None:
        return None
    if number_of(match[1]) is None:
        return None
    whole = re.fullmatch(r"[+-]?\d{1,9}", match[1])
    return int(match[1]) if whole else match[1], match[2] or ""


def _pairs(line: str) -> _Row | None:
    """Return the row of a line such as `ax: 1.5 g, ay: -2`."""
    pairs = pairs_of(line)
    if not pairs or len({name for name, _ in pairs}) < len(pairs):
        return None
    names, values, units, label, labelled = [], [], [], None, False
    for name, text in pairs:
        if name in _CLASS:
            label, labelled = text.rstrip(",;"), True
            continue
        number = _number(text.rstrip(",;"))
        if number is None:
            return None
        names.append(name)
        values.append(number[0])
        units.append(number[1])
    if not names:
        return None
    key = ("pairs", tuple(names), tuple(units), labelled)
    return _Row(key, Reading(tuple(names), tuple(values), label, labelled))
