"""Reads samples from what a board sends: plotter lines, and observations of the serial link.

    x:12 y:-3 label:1 pred:1 acc:934

is a sample of x and y; `label` is its class, and `pred` and `acc` are what the model says of it.
The device's program prints the first features only, and a label only where it knows one.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from ..link.client import HostLink
from ..link.frames import LONGEST, VERSION
from ..link.messages import Observed
from ..link.serial_line import Line, gone

_PAIR = re.compile(r"([^\s:,]+):([+-]?\d{1,18})", re.ASCII)
_BETWEEN = re.compile(r"[\s,]+")
_NO_SENSOR = ("label", "pred", "acc")
_PRINTED = 6  # features in a line of the device's program
_ABSENT = -(1 << 29)  # stands for a value that is not there
_LISTEN = 3.0  # seconds without a byte before the board is said hello to
_LISTEN_LONGEST = 10.0  # seconds without a sample before it
_RESTARTED = 5.0  # seconds without an observation before it is said hello to again


@dataclass(frozen=True)
class Reading:
    """One sample: a value, or None, for each name; its class if the board knows it.

    `has_label` says that the board tells classes, if not always; `cut` that there may be more
    values than it said.
    """

    names: tuple[str, ...]
    values: tuple[int | None, ...]
    label: str | None
    has_label: bool
    cut: bool = False


def read_line(line: str) -> Reading | None:
    """The sample of a plotter line; None if it is none."""
    pairs = [_PAIR.fullmatch(word) for word in _BETWEEN.split(line.strip())]
    found = {pair[1]: int(pair[2]) for pair in pairs if pair}
    names = tuple(name for name in found if name not in _NO_SENSOR)
    if len(found) != len(pairs) or not names:
        return None
    values = tuple(None if found[name] == _ABSENT else found[name] for name in names)
    label = str(found["label"]) if found.get("label", -1) >= 0 else None
    learns = "pred" in found
    return Reading(
        names, values, label, "label" in found or learns, learns and len(names) == _PRINTED
    )


def of_observation(observed: Observed) -> Reading:
    """The sample of an observation; its values have no names on the line: x0, x1, ..."""
    values = tuple(None if value == _ABSENT else value for value in observed.values)
    label = None if observed.label is None else str(observed.label)
    return Reading(tuple(f"x{f}" for f in range(len(values))), values, label, True)


class TextLines:
    """The lines of text in a stream of bytes in which frames may stand, too.

    The first line is left out: it may be the rest of one.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._whole = False

    def feed(self, data: bytes) -> Iterator[str]:
        """The lines that are complete now, without those that are empty."""
        *parts, self._rest = (self._rest + data).split(b"\0")
        lines = [line for part in parts if not _is_frame(part) for line in part.split(b"\n")]
        if len(self._rest) > LONGEST or (len(self._rest) > 1 and not _is_frame(self._rest)):
            *whole, self._rest = self._rest.split(b"\n")
            lines += whole
        self._rest = self._rest[-LONGEST:]
        if lines and not self._whole:
            self._whole = True
            del lines[0]
        for line in lines:
            if line.strip():
                yield line.decode(errors="replace")


def _is_frame(part: bytes) -> bool:
    return part[1:2] == bytes([VERSION])  # behind COBS's first byte


class SampleSource:
    """The samples of a board, whichever way it says them.

    It listens first: a program that prints samples is sent nothing. It says hello to a silent one
    and takes its observations. `skipped` counts lines that are not samples, and `lost`
    observations that did not arrive. Raises PortError, LinkError or LostError.
    """

    def __init__(self, line: Line, port: str) -> None:
        self._line = line
        self._port = port
        self._lines = TextLines()
        self._found: deque[Reading] = deque()
        self._heard = self._began = time.monotonic()
        self._link: HostLink | None = None
        self._text = False
        self._number = 0
        self.skipped = 0
        self.lost = 0

    def take(self, seconds: float) -> list[Reading]:
        """What comes within that time. KeyboardInterrupt, too, loses none of it."""
        if self._link:
            self._link.poll(seconds)
            self._observations(self._link)
        else:
            try:
                self.read(seconds)
            except OSError as error:
                raise gone(self._port) from error
        if not self._text:
            self._greet()
        found = list(self._found)
        self._found.clear()
        return found

    # A Line, for the link: what it reads is looked through for text

    def read(self, seconds: float) -> bytes:
        """The bytes that have arrived; waits at most `seconds` for the first."""
        data = self._line.read(seconds)
        if data:
            self._heard = time.monotonic()
        for line in self._lines.feed(data):
            reading = read_line(line)
            if reading:
                self._text = True
                self._found.append(reading)
            else:
                self.skipped += 1
        return data

    def write(self, data: bytes) -> None:
        """Send all of it."""
        self._line.write(data)

    def reopen(self, seconds: float) -> None:
        """Get the line back within that time."""
        self._line.reopen(seconds)

    def close(self) -> None:
        """Close the line."""
        self._line.close()

    def _observations(self, link: HostLink) -> None:
        while link.observed:
            observed = link.observed.popleft()
            self.lost += max(observed.number - self._number - 1, 0)
            self._number = observed.number
            self._heard = time.monotonic()
            self._found.append(of_observation(observed))

    def _greet(self) -> None:
        now = time.monotonic()
        if self._link is None:
            if now < min(self._heard + _LISTEN, self._began + _LISTEN_LONGEST):
                return
            self._link = HostLink(self)
        elif now < self._heard + _RESTARTED:
            return
        self._link.connect()
        self._number = 0
        self._heard = time.monotonic()
