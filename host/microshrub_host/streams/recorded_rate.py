"""How many readings came in a second, of a recording that `record --time` has written."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path
from statistics import median

from ..base.errors import DataError
from .columns import CLOCK
from .source_file import opened_source
from .text_lines import text_lines

_ROWS = 2001  # that are looked at
_SPAN = 100  # rows: a few come at once where a line is slow


def recorded_rate(source: str) -> float | None:
    """About so many, in the middle of the spans of 100 rows; None if the file does not say."""
    if not Path(source).is_file():
        return None
    try:
        with opened_source(source) as file:
            lines = itertools.islice(text_lines(file, None), _ROWS)
            rows = csv.reader(lines)
            if next(rows, [""])[0] != CLOCK:
                return None
            times = [float(row[0]) for row in rows if row]
    except (DataError, ValueError, csv.Error):  # whoever reads the data says what is wrong
        return None
    last = len(times) - 1
    spans = [(at, min(at + _SPAN, last)) for at in range(0, last, _SPAN)]
    rates = [
        1000 * (end - at) / (times[end] - times[at]) for at, end in spans if times[end] > times[at]
    ]
    return median(rates) if rates else None
