"""Reads samples from what a board sends: lines of text, and observations of the serial link.

The device's program prints the first features only, classes by their numbers, and a label only
where it knows one. So a board whose lines hold what a model says is asked for observations, which
have it all; the names then come from the board, see board_names.py.
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

_LISTEN = 3.0  # seconds without a byte before the board is said hello to
_LISTEN_LONGEST = 10.0  # seconds without a sample before it
_NO_LINK = "The board answers no hello, so it cannot be told what is normal"
_RESTARTED = 5.0  # seconds without an observation before it is said hello to again
_ANSWERS = 1.5  # seconds in which a board that prints lines of a model answers hello, if it does


def of_observation(observed: Observed, names: BoardNames) -> Reading:
    """The sample of an observation of a board with these names."""
    label = observed.label
    values = tuple(
        None if raw == ABSENT else names.value(f, raw) for f, raw in enumerate(observed.values)
    )
    has_label = len(names.classes) > 1  # else it predicts a number
    return Reading(
        names.features, values, None if label is None else names.classes[label], has_label
    )


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

    It listens first: a program that prints samples is sent nothing, unless they hold what a model
    says. It says hello to such a one and to a silent one, and takes its observations. `lost`
    counts observations that did not arrive; `extracts`
    says that the board makes features of its readings; `note` is for people, as are `words`, which
    the board said. `silent`: no text comes on that line. Raises PortError or LinkError.
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
        self._names: BoardNames | None = None  # of the board on the link
        self._text = False  # it prints samples, and answers no hello
        self._learns = False  # it prints what a model says
        self._number = 0
        self.note = ""  # on the board's version, if it is another one
        self.lost = 0
        self.extracts = False
        self.words: deque[str] = deque()
        self._gap = False  # something may be missing before the next reading

    @property
    def skipped(self) -> LinesLeftOut:
        """The lines that are not samples."""
        return self._samples.skipped

    def take(self, seconds: float) -> list[Reading]:
        """What comes within that time. KeyboardInterrupt, too, loses none of it."""
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
        """Tell the board; what came of it, in words. Raises LinkError."""
        return this_is_normal(self._link) if self._link and self._names else _NO_LINK

    # A Line, for the link: what it reads is looked through for text

    def read(self, seconds: float) -> bytes:
        """The bytes that have arrived; waits at most `seconds` for the first."""
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
        """Send all of it."""
        self._line.write(data)

    def reopen(self, seconds: float) -> None:
        """Get the line back within that time."""
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
        """Have a board that prints what a model says send it over the link, if it can."""
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
