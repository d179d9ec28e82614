"""MicroPython's raw REPL at a serial port, through mpremote: code runs, what it prints returns."""

from __future__ import annotations

import contextlib
import io
import struct
from collections.abc import Iterator
from typing import Any

from mpremote.transport import TransportError
from mpremote.transport_serial import SerialTransport

_BROKEN = (TransportError, OSError, struct.error)  # pyserial's SerialException is an OSError


class LineLostError(Exception):
    """The board does not answer; the message is mpremote's, or the system's."""


class CodeRaisedError(Exception):
    """The code raised an exception; the message is the traceback that the board printed."""


class RawRepl:
    """The port, open; `line` is pyserial's object for it.

    Every method raises LineLostError if the board does not answer.
    """

    def __init__(self, port: str, baud: int = 115200, *, silence: float) -> None:
        """`silence` is how many seconds a read waits for a byte."""
        with _answering():
            self._transport = SerialTransport(port, baudrate=baud)
        self.line: Any = self._transport.serial
        self.line.timeout = silence  # mpremote would wait for ever

    def await_prompt(self, seconds: float) -> None:
        """Wait for the friendly REPL of a board that has just been switched on."""
        with _answering():
            said = self._transport.read_until(1, b">>> ", timeout=seconds)
            if not said.endswith(b">>> "):
                raise TransportError("there is no prompt")

    def enter(self, *, reset: bool, seconds: float = 10) -> None:
        """Stop what runs, and enter the raw REPL, after a soft reset without main.py if asked."""
        with _answering(), contextlib.redirect_stdout(io.StringIO()):  # mpremote prints
            self._transport.enter_raw_repl(soft_reset=reset, timeout_overall=seconds)

    def leave(self) -> None:
        """Go back to the friendly REPL, if this is the raw one."""
        with _answering():
            if self._transport.in_raw_repl:
                self._transport.exit_raw_repl()

    def run(self, code: str, seconds: float) -> str:
        """What the code prints. Raises CodeRaisedError.

        `seconds` is how long it may be silent.
        """
        with _answering():
            said, complaint = self._transport.exec_raw(code, timeout=seconds)
        if complaint:
            raise CodeRaisedError(complaint.decode(errors="replace").strip())
        return str(said.decode(errors="replace"))

    def begin(self, code: str) -> None:
        """Start code, and wait for nothing."""
        with _answering():
            self._transport.exec_raw_no_follow(code)

    def close(self) -> None:
        """Let go of the port."""
        with contextlib.suppress(OSError):
            self._transport.close()


@contextlib.contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise LineLostError(str(error)) from error
