"""Reads samples from a board's output: lines of text, and observations of the serial link.

The device's program prints the first features only, classes by number, and a label only if it has
one. So a board whose lines have predictions has to send observations, which are complete; the
names then come from the board, see board_names.py.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from microshrub_host.streams.log_lines import LinesLeftOut

from ..link.board_names import BoardNames, names_of, read_configuration, version_note
from ..link.client import HostLink
from ..link.frames import LONGEST, VERSION
from ..link.link_errors import LostError
from ..link.messages import Observed
from ..link.serial_line import Line, gone
from .board_words import words_of
from .class_naming import Classes
from .line_samples import ABSENT, LineSamples, Reading
from .normal import this_is_normal

_LISTEN = 3.0  # seconds without a byte before a hello to the board
_LISTEN_LONGEST = 10.0  # seconds without a sample before a hello
_NO_LINK = "The board answers no hello, so it cannot be told what is normal"
_RESTARTED = 5.0  # seconds without an observation before another hello
_ANSWERS = 1.5  # seconds for a board that prints predictions to answer hello


def of_observation(observed: Observed, names: BoardNames) -> Reading:
    """Return the sample of an observation of a board with these names."""
    label = observed.label
    values = tuple(
        None if raw == ABSENT else names.value(f, raw) for f, raw in enumerate(observed.values)
    )
    has_label = len(names.classes) > 1  # otherwise the board predicts a number
    return Reading(
        names.features, values, None if label is None else names.classes[label], has_label
    )


class TextLines:
    """The lines of text in a stream of bytes that may also have frames.

    The first line is left out, as it may be incomplete.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._whole = False

    def feed(self, data: bytes) -> Iterator[str]:
        """Yield the lines that are complete now, without empty ones."""
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
    return part[1:2] == bytes([VERSION])  # after COBS's first byte


class SampleSource:
    """The samples of a board, in text or in observations.

    The source listens first: it sends nothing to a program that prints samples without
    predictions. It sends hello to a program that prints predictions, and to a silent one, and
    takes observations from it. `lost` counts observations that did not arrive; `extracts` is
    whether the board makes features of its readings; `note` is for people, as are `words`, the
    board's messages. `silent`: the line carries no text. Raises PortError or LinkError.
    """

    def __init__(self, line: Line, port: str, *, silent: bool = False) -> None:
        self._line = line
        self._port = port
        self._lines = TextLines()
        self._samples = LineSamples()
        self._readings: deque[Reading] = deque()
        self._began = time.monotonic()
        self._heard = self._began - _LISTEN * silent
        self._link: HostLink | None = None
        self._names: BoardNames | None = None  # the names of the board on the link
        self._text = False  # the board prints samples, and answers no hello
        self._learns = False  # the board prints predictions
        self._number = 0
        self.note = ""  # a note on a board of another version
        self.lost = 0
        self.extracts = False
        self.words: deque[str] = deque()
        self._gap = False  # readings may be missing before the next one

    @property
    def skipped(self) -> LinesLeftOut:
        """The lines that are not samples."""
        return self._samples.skipped

    def take(self, seconds: float) -> list[Reading]:
        """Return the readings that arrive within `seconds`. KeyboardInterrupt loses none."""
        if self._link and self._names:
            self._link.poll(seconds)
            self._observations(self._link, self._names)
        else:
            try:
                self.read(seconds)
            except OSError as error:
                raise gone(self._port) from error
        if not self._text:
            self._greet()
        result = list(self._readings)
        self._readings.clear()
        return result

    def this_is_normal(self) -> str:
        """Mark the present as normal on the board; return a message. Raises LinkError."""
        return this_is_normal(self._link) if self._link and self._names else _NO_LINK

    # A Line, for the link, which also reads text from the bytes

    def read(self, seconds: float) -> bytes:
        """Return the bytes that have arrived; wait at most `seconds` for the first."""
        data = self._line.read(seconds)
        if data:
            self._heard = time.monotonic()
        for line in self._lines.feed(data):
            words = words_of(line)
            if words:
                self.words.append(words)
                self._gap = True
                continue
            for reading in self._samples.take(line):
                if not self._names:
                    self._text |= not reading.learns
                    self._learns |= reading.learns
                    self._put(reading)
            self._gap |= self._samples.broken
        return data

    def write(self, data: bytes) -> None:
        """Send all of the data."""
        self._line.write(data)

    def reopen(self, seconds: float) -> None:
        """Open the line again within `seconds`."""
        self._line.reopen(seconds)

    def close(self) -> None:
        """Close the line."""
        self._line.close()

    def _observations(self, link: HostLink, names: BoardNames) -> None:
        while link.observed:
            observed = link.observed.popleft()
            missing = max(observed.number - self._number - 1, 0)
            self.lost += missing
            self._gap |= missing > 0
            self._number = observed.number
            self._heard = time.monotonic()
            self._put(of_observation(observed, names))

    def _put(self, reading: Reading) -> None:
        self._readings.append(replace(reading, gap=True) if self._gap else reading)
        self._gap = False

    def _greet(self) -> None:
        now = time.monotonic()
        if self._learns and not self._names:
            self._ask_a_learner()
        elif self._names:
            if now >= self._heard + _RESTARTED:
                self._connect()
        elif now >= min(self._heard + _LISTEN, self._began + _LISTEN_LONGEST):
            self._connect()

    def _ask_a_learner(self) -> None:
        """Have a board that prints predictions send observations over the link, if possible."""
        try:
            self._connect(_ANSWERS)
            self._readings.clear()  # the same samples come as observations from now on
        except LostError:
            self._text, self._link = True, None

    def _connect(self, patience: float | None = None) -> None:
        self._link = self._link or HostLink(self)
        welcome = self._link.connect(patience)
        config = read_configuration(self._link, welcome)
        self._names = names_of(config, welcome)
        if config.get("spare_classes"):
            names = Classes(self._link, welcome.classes).names
            self._names = replace(self._names, classes=names)
        self.note = version_note(config)
        self.extracts = bool(config.get("extraction"))
        self._number = 0
        self._gap = True
        self._heard = time.monotonic()
