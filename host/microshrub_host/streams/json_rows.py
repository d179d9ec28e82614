"""Rows of JSON: a record a line, a list of records, columns, or Edge Impulse's export."""

from __future__ import annotations

import codecs
import json
from collections.abc import Generator, Iterator, Sequence
from itertools import chain, islice
from typing import IO, Any

from ..base.errors import DataError
from .cell_rows import CellRows, Row, names_columns
from .columns import CLOCK
from .log_lines import CALLED, CUT, HEADER, LinesLeftOut
from .source_file import SourceFile
from .stream import Progress

_PIECE = 1 << 16
_WHOLE = 1 << 28  # characters of a value in memory, at most
_HEAD = 400  # records that determine the columns
_NOTHING = object()
DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
Record = tuple[int, dict[str, str]]  # its number, and its cells by name
_LISTS = ("samples", "data", "records", "rows", "values")  # names of a document's list of records


def json_rows(source: SourceFile, progress: Progress | None) -> CellRows:
    """Return the rows of a JSON file. Raises DataError."""
    values = _values(source, progress)
    first = next(values, _NOTHING)
    if isinstance(first, dict) and (document := _document(first)):
        values.close()
        return document
    left_out = LinesLeftOut()
    records = _records(source, chain([] if first is _NOTHING else [first], values), left_out)
    early = list(islice(records, _HEAD))
    if not early:
        raise DataError(f"{source.name} is a JSON file without records.")
    names = _names(early)
    header = _header(names, early) if isinstance(first, list) else None
    if header:
        del early[0]
    rows = _rows(chain(early, records), names, left_out, header)
    return CellRows(rows, header or names, left_out, ["the rows are JSON records"])


def record_rows(records: Iterator[Record], left_out: LinesLeftOut, note: str) -> CellRows:
    """Return the rows of records, numbered; left_out counts repeated headers and late names."""
    early = list(islice(records, _HEAD))
    names = _names(early)
    return CellRows(_rows(chain(early, records), names, left_out, None), names, left_out, [note])


def _names(early: Sequence[Record]) -> list[str]:
    """Return all names in these records, in order; skip records that repeat the names."""
    result: dict[str, None] = {}
    for _, record in early:
        if list(record.values()) != list(result):
            result.update(dict.fromkeys(record))
    return list(result)


def _header(names: Sequence[str], early: Sequence[Record]) -> list[str] | None:
    """Return the names of the columns, if the first of several lists has them."""
    first, *body = [[record.get(name, "") for name in names] for _, record in early]
    return first if names_columns(first, body) else None


def _values(source: SourceFile, progress: Progress | None) -> Generator[Any, None, None]:
    """Yield the values, and a list's elements, one by one; None for an invalid value."""
    with source.opened() as (raw, file):
        reader = _Text(source, raw, file, progress)
        inside = False
        while True:
            sign = reader.next_sign(" \t\r\n," if inside else " \t\r\n")
            if not sign:
                return
            if sign == ("]" if inside else "[") and (inside or reader.begins_list()):
                inside = not inside
                reader.at += 1
            else:
                yield reader.value()


class _Text:
    """The text of a file; one value at a time is in memory."""

    def __init__(
        self, source: SourceFile, raw: IO[bytes], file: IO[bytes], progress: Progress | None
    ) -> None:
        self._source, self._raw, self._file, self._progress = source, raw, file, progress
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text, self.at, self._ended = "", 0, False

    def _more(self) -> bool:
        """Read as much again; return whether any bytes came."""
        piece = self._file.read(max(_PIECE, len(self._text) - self.at))
        if self._progress is not None:
            self._progress(min(self._raw.tell(), self._source.size()), self._source.size())
        try:
            text = self._decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            name = self._source.name
            raise DataError(f"{name}: not UTF-8 text. Save the file in UTF-8.") from error
        self._ended = not piece
        self._text, self.at = self._text[self.at :] + text, 0
        return bool(piece)

    def next_sign(self, between: str) -> str:
        """Return the next character that is not a separator of values; "" at the end."""
        while True:
            while self.at < len(self._text) and self._text[self.at] in between:
                self.at += 1
            if self.at < len(self._text):
                return self._text[self.at]
            if not self._more():
                return ""

    def begins_list(self) -> bool:
        """Return whether a list of values begins here, rather than a row of numbers."""
        at = self.at + 1
        while at >= len(self._text) or self._text[at].isspace():
            at += 1
            if at >= len(self._text) and not self._more_behind():
                return True
        return self._text[at] in "[{]"

    def _more_behind(self) -> bool:
        keep = self.at
        self.at = 0
        came = self._more()
        self.at = keep
        return came

    def value(self) -> Any:
        """Return the value that begins here, or skip the line and return None if it is invalid."""
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self.at)
            except json.JSONDecodeError:
                line = self._text.find("\n", self.at)
                another = line >= 0 and self._text[line + 1 : line + 2] in ("{", "[")
                if not another and len(self._text) - self.at < _WHOLE and self._more():
                    continue
                self.at = line if line >= 0 else len(self._text)
                return None
            if end == len(self._text) and not self._ended and self._more():
                continue
            self.at = end
            return value


def _records(
    source: SourceFile, values: Iterator[Any], left_out: LinesLeftOut
) -> Generator[Record, None, None]:
    for number, value in enumerate(values, 1):
        if isinstance(value, list):
            value = {f"c{place}": cell for place, cell in enumerate(value, 1)}
        if isinstance(value, dict):
            yield number, flat(value)
        elif number == 1:
            raise DataError(
                f"{source.name} is a JSON file, but its first value is no record, or cut."
            )
        else:
            left_out.add(CUT, f"record {number:,}")


def flat(record: dict[str, Any], before: str = "") -> dict[str, str]:
    """Return the cells of a record; nested names have the outer names in front."""
    result: dict[str, str] = {}
    for name, value in record.items():
        key = f"{before}{name}"
        if isinstance(value, dict):
            result |= flat(value, f"{key}.")
        elif isinstance(value, list):
            result |= flat({str(n): each for n, each in enumerate(value, 1)}, f"{key}.")
        else:
            result[key] = _cell(value)
    return result


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _rows(
    records: Iterator[Record],
    names: list[str],
    left_out: LinesLeftOut,
    header: list[str] | None,
) -> Iterator[Row]:
    known, header = set(names), header or names
    for number, record in records:
        if list(record.values()) == header:
            left_out.add(HEADER, f"record {number:,}")
            continue
        for name in record.keys() - known:
            known.add(name)
            left_out.add(f"{CALLED}{name}, which the first records do not have",
                         f"record {number:,}")  # fmt: skip
        yield number, [record.get(name, "") for name in names]


def _document(value: dict[str, Any]) -> CellRows | None:
    """Return the rows of a single document: Edge Impulse's, a list of records, or columns."""
    payload = value.get("payload")
    if isinstance(payload, dict) and isinstance(payload.get("values"), list):
        return _edge_impulse(payload)
    lists = [name for name, each in value.items() if isinstance(each, list) and each]
    if len(lists) == 1 and lists[0] in _LISTS and isinstance(value[lists[0]][0], dict):
        records = [flat(record) for record in value[lists[0]] if isinstance(record, dict)]
        names = list(dict.fromkeys(name for record in records for name in record))
        rows = [[record.get(name, "") for name in names] for record in records]
        return _of_rows(names, rows, f"the rows are the JSON records in {lists[0]}")
    columns = {
        name: list(each.values()) if isinstance(each, dict) else each
        for name, each in value.items()
        if isinstance(each, (dict, list))
    }
    if len(columns) == len(value) and len({len(each) for each in columns.values()}) == 1:
        cells = zip(*columns.values(), strict=True)
        if all(not isinstance(cell, (dict, list)) for each in columns.values() for cell in each):
            return _of_rows(list(columns), [[*map(_cell, row)] for row in cells],
                            "the columns are JSON lists")  # fmt: skip
    return None


def _of_rows(names: list[str], rows: list[list[str]], note: str) -> CellRows:
    return CellRows(iter(list(enumerate(rows, 1))), names, notes=[note])


def _edge_impulse(payload: dict[str, Any]) -> CellRows:
    """Return the rows of Edge Impulse's export: named sensors, at an interval in milliseconds."""
    sensors = payload.get("sensors") or []
    values = [each if isinstance(each, list) else [each] for each in payload["values"]]
    names = [str(sensor.get("name", f"c{n}")) for n, sensor in enumerate(sensors, 1)]
    width = len(values[0]) if values else 0
    names += [f"c{n}" for n in range(len(names) + 1, width + 1)]
    rows = [[*map(_cell, row)] for row in values]
    interval = float(payload.get("interval_ms") or 0)
    if interval and CLOCK not in names:
        names = [CLOCK, *names]
        rows = [[f"{n * interval:.10g}", *row] for n, row in enumerate(rows)]
    return _of_rows(names, rows, "the rows are the readings of Edge Impulse's JSON")
