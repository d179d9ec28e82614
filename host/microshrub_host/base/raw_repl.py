"""MicroPython's raw REPL at a serial port, through mpremote: runs code and returns its output."""

from __future__ import annotations

import contextlib
import io
import math
import struct
import time
from collections.abc import Iterator
from typing import Any

from mpremote.transport import TransportError
from mpremote.transport_serial import SerialTransport

_PAUSE = 0.1  # seconds between two tries to open the port
_WAITS = 2  # how long a board may print before its prompt, as a multiple of enter()'s seconds
_BROKEN = (TransportError, OSError, struct.error)  # pyserial's SerialException is an OSError


class LineLostError(Exception):
    """The board does not answer; the message is from mpremote or the system."""


class CodeRaisedError(Exception):
    """The code raised an exception; the message is the traceback that the board printed."""


class _Line:
    """A port of pyserial that is read in blocks, and never beyond a time limit.

    mpremote reads until the board is silent or the expected text has come; a program that prints
    from a thread or a timer is never silent. mpremote also reads byte by byte, which would take
    most of the time of a file transfer.
    """

    def __init__(self, serial: Any) -> None:
        self._serial = serial
        self._end = math.inf
        self._ahead = b""  # bytes read in advance

    def __getattr__(self, name: str) -> Any:
        return getattr(self._serial, name)

    @property
    def timeout(self) -> float | None:
        """The seconds for which a read waits for a byte."""
        seconds: float | None = self._serial.timeout
        return seconds

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self._serial.timeout = seconds

    @contextlib.contextmanager
    def limit(self, seconds: float) -> Iterator[None]:
        """Make reads raise OSError once the block has taken this number of seconds."""
        self._end = time.monotonic() + seconds
        try:
            yield
        finally:
            self._end = math.inf

    def read(self, size: int = 1) -> bytes:
        self._check()
        missing = size - len(self._ahead)
        if missing > 0:
            self._ahead += self._serial.read(max(missing, self._serial.in_waiting))
        data, self._ahead = self._ahead[:size], self._ahead[size:]
        return data

    def read_until(self, expected: bytes) -> bytes:
        """Read until `expected` has come, or until the port's timeout has passed."""
        data, end = b"", time.monotonic() + (math.inf if self.timeout is None else self.timeout)
        while not data.endswith(expected) and (byte := self.read()):
            data += byte
            if time.monotonic() > end:
                break
        return data

    def inWaiting(self) -> int:  # noqa: N802  (mpremote's name)
        self._check()
        return len(self._ahead) + int(self._serial.in_waiting)

    def _check(self) -> None:
        if time.monotonic() > self._end:
            raise OSError("it prints without end")


class RawRepl:
    """An open port; `line` behaves like pyserial's object for the port.

    Every method raises LineLostError if the board does not answer.
    """

    def __init__(self, port: str, baud: int = 115200, *, silence: float) -> None:
        """Open the port; a read waits `silence` seconds for a byte."""
        self._port, self._baud, self._silence = port, baud, silence
        with _answering():
            self._open()

    def _open(self) -> None:
        self._transport = SerialTransport(self._port, baudrate=self._baud)
        self.line: Any = _Line(self._transport.serial)
        self._transport.serial = self.line
        self.line.timeout = self._silence  # mpremote would wait forever

    def reopen(self, seconds: float) -> None:
        """Open the port again as soon as the port is back.

        The port of a board that is also a keyboard disappears for a moment when the keyboard
        starts, and at a reset.
        """
        self.close()  # at once: an open port would come back under another name
        end = time.monotonic() + seconds
        with _answering():
            while True:
                try:
                    return self._open()
                except _BROKEN:
                    if time.monotonic() > end:
                        raise
                    time.sleep(_PAUSE)

    def await_prompt(self, seconds: float) -> None:
        """Wait for the friendly REPL of a board that has just been switched on."""
        with _answering():
            output = self._transport.read_until(1, b">>> ", timeout=seconds)
            if not output.endswith(b">>> "):
                raise TransportError("there is no prompt")

    def enter(self, *, reset: bool, seconds: float = 10) -> None:
        """Stop the program and enter the raw REPL; with reset, reset softly without main.py."""
        try:
            self._enter(reset, seconds)
        except LineLostError as lost:
            if not reset or not isinstance(lost.__cause__, OSError):
                raise
            self.reopen(seconds)
            self._enter(False, seconds)

    def _enter(self, reset: bool, seconds: float) -> None:
        limit = self.line.limit(_WAITS * seconds)
        with _answering(), limit, contextlib.redirect_stdout(io.StringIO()):  # mpremote prints
            self._transport.enter_raw_repl(soft_reset=reset, timeout_overall=seconds)

    def leave(self) -> None:
        """Return from the raw REPL, if active, to the friendly REPL."""
        with _answering():
            if self._transport.in_raw_repl:
                self._transport.exit_raw_repl()

    def run(self, code: str, seconds: float) -> str:
        """Run code; return its output. Raises CodeRaisedError for an exception.

        `seconds` is the limit of silence.
        """
        with _answering():
            output, complaint = self._transport.exec_raw(code, timeout=seconds)
        if complaint:
            raise CodeRaisedError(complaint.decode(errors="replace").strip())
        return str(output.decode(errors="replace"))

    def begin(self, code: str) -> None:
        """Start code without waiting for its output."""
        with _answering():
            self._transport.exec_raw_no_follow(code)

    def close(self) -> None:
        """Close the port."""
        with contextlib.suppress(OSError):
            self._transport.close()


@contextlib.contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise LineLostError(str(error)) from error
