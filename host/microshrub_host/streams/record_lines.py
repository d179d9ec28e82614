"""Lines that hold a record each: the output of mosquitto_sub, and InfluxDB's line protocol.

`mosquitto_sub -v` writes the topic in front of a message, and with -F '%I %t %p' or '%U %t %p' the
time before it. A message has to be a JSON object to be a record. A point of the line protocol is a
measurement with its tags, its fields, and a time in seconds to nanoseconds:

    room,floor=1 temperature=20.5,state="on" 1700000000000000000
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from ..base.errors import DataError
from .cell_rows import CellRows
from .columns import CLOCK
from .json_rows import DECODER, Record, flat, record_rows
from .log_lines import TEXT, LinesLeftOut, board_message

_MOST = 0.6  # more than this share of the first lines, without a board's messages, are records
_MESSAGE = re.compile(
    r'(?:(?P<time>\d\S*)\s+)?(?P<topic>(?!->)[^\s{"]\S*)\s+(?P<record>\{.*\})\s*'
)
_SINGLE = re.compile(r"(?P<topic>[^\W\d][\w.-]*(?:/[\w.-]+)+) \S+")
_IN_KEY = r"(?:\\.|[^\s,=\\])+"
_VALUE = (
    r'"(?:\\.|[^"\\])*"|[-+]?\d[\d.]*(?:[eE][-+]?\d+)?[iu]?|[tTfF]|[tT]rue|TRUE|[fF]alse|FALSE'
)
_POINT = re.compile(
    rf"(?P<measurement>{_IN_KEY})(?P<tags>(?:,{_IN_KEY}={_IN_KEY})*) "
    rf"(?P<fields>{_IN_KEY}=(?:{_VALUE})(?:,{_IN_KEY}=(?:{_VALUE}))*)"
    r" (?P<time>\d{10,19})\s*"
)
_TAG = re.compile(rf",({_IN_KEY})=({_IN_KEY})")
_FIELD = re.compile(rf"({_IN_KEY})=({_VALUE})(?:,|$)")
_ESCAPED = re.compile(r"\\(.)")
_EPOCH = re.compile(r"\d{10,19}(?:\.\d+)?")


@dataclass(frozen=True)
class _Record:
    """A line: the source of the values, and the values."""

    source: Mapping[str, str]  # a message's topic, or a point's measurement and tags
    values: Mapping[str, str]
    time: str = ""


def _message(line: str) -> _Record | None:
    match = _MESSAGE.fullmatch(line)
    if match is None:
        return None
    try:
        value = DECODER.decode(match["record"])
    except json.JSONDecodeError:
        return None
    return _Record({"topic": match["topic"]}, flat(value), match["time"] or "")


def _point(line: str) -> _Record | None:
    match = _POINT.fullmatch(line)
    if match is None:
        return None
    source = {"measurement": _plain(match["measurement"])}
    source |= {_plain(name): _plain(value) for name, value in _TAG.findall(match["tags"])}
    fields = {_plain(name): _field(value) for name, value in _FIELD.findall(match["fields"])}
    return _Record(source, fields, match["time"])


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def _field(value: str) -> str:
    if value[0] == '"':
        return _plain(value[1:-1])
    return value.rstrip("iu") if value[0] in "+-0123456789" else str(value[0] in "tT").lower()


def _milliseconds(time: str) -> str:
    """Convert a time since 1970 to milliseconds, as `record --time` writes them.

    The time is in any unit from seconds to nanoseconds; any other text is left unchanged.
    """
    if _EPOCH.fullmatch(time) is None:
        return time
    digits = len(time.partition(".")[0])
    return f"{float(time) * 10 ** (3 - 3 * ((digits - 10) // 3)):.3f}"


_Reader = Callable[[str], "_Record | None"]
_FORMS: tuple[tuple[_Reader, str], ...] = (
    (_message, "the lines are MQTT messages, a topic and a JSON record each"),
    (_point, "the lines are InfluxDB's line protocol"),
)


def lined_records(
    name: str, head: Sequence[str], lines: Callable[[], Generator[str, None, None]]
) -> CellRows | None:
    """Return the rows of a text with such first lines; None if it has neither form.

    A line's source is a column, if it differs among the first lines. Raises DataError for messages
    that are no records.
    """
    text = [line for line in head if line.strip() and not board_message(line)]
    for read, note in _FORMS:
        early = [record for line in text if (record := read(line.strip()))]
        if text and len(early) > _MOST * len(text):
            names = dict.fromkeys(name for record in early for name in record.source)
            columns = {name for name in names if len({r.source.get(name) for r in early}) > 1}
            left_out = LinesLeftOut()
            records = _records(lines, read, columns, bool(early[0].time), left_out)
            return record_rows(records, left_out, note)
    _refuse_single_values(name, text)
    return None


def _refuse_single_values(name: str, text: Sequence[str]) -> None:
    """Raise DataError for messages of one value each, whose topics repeat."""
    matches = [match for line in text if (match := _SINGLE.fullmatch(line.strip()))]
    topics = {match["topic"] for match in matches}
    if len(matches) == len(text) and 1 < len(topics) <= len(text) / 2:
        first = matches[0]["topic"].partition("/")[0]
        raise DataError(
            f"{name} holds MQTT messages of one value each ({text[0].strip()}), which are no rows "
            "of a table. With the time of each, in this form, they are put side by side: "
            "(echo last_changed,entity_id,state; mosquitto_sub "
            f"-t {shlex.quote(first + '/#')} -F '%I,%t,%p') > messages.csv"
        )


def _records(
    lines: Callable[[], Generator[str, None, None]],
    read: _Reader,
    columns: set[str],
    timed: bool,
    left_out: LinesLeftOut,
) -> Iterator[Record]:
    with closing(lines()) as whole:
        for number, line in enumerate(whole, 1):
            record = read(line.strip())
            if record is None:
                if line.strip():
                    left_out.add(board_message(line) or TEXT, f"line {number:,}")
                continue
            time = {CLOCK: _milliseconds(record.time)} if timed else {}
            source = {name: value for name, value in record.source.items() if name in columns}
            yield number, {**time, **source, **record.values}
