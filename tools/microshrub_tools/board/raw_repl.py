"""A board at a port, through mpremote's raw REPL: it runs lines of Python and says what came.

All that goes wrong on the way is a UserError that says what to do.
"""

from __future__ import annotations

import ast
import contextlib
import io
import struct
import time
from typing import Any

from mpremote.transport import TransportError
from mpremote.transport_serial import SerialTransport

from microshrub_host.base.errors import UserError

from ..link.serial_line import SerialLine

_SECONDS = 10.0  # without a byte, after which the board is taken for gone
_PATIENCE = 10.0  # seconds for the raw REPL to answer
_SILENCE = 1.0  # seconds behind the last byte that a starting program prints
_BROKEN = (TransportError, OSError, struct.error)  # OSError is pyserial's, too


class DeviceError(UserError):
    """The board cannot do what it was asked for; the message is for people."""


class RaisedError(DeviceError):
    """A line of Python raised an exception on the board; `text` is its last line."""

    def __init__(self, text: str) -> None:
        super().__init__(f"The board says {text}")
        self.text = text


class Device:
    """The board at a port of that name, or at a URL of pyserial, in the raw REPL.

    What ran there is stopped. Raises UserError if the port cannot be opened, or nothing there
    answers as MicroPython does.
    """

    def __init__(self, port: str, baud: int = 115200) -> None:
        self.port = port
        try:
            self._transport = SerialTransport(port, baudrate=baud)
        except TransportError:
            SerialLine(port, baud).close()  # says why
            raise DeviceError(f"{port} cannot be opened. Try it again.") from None
        self._transport.serial.timeout = _PATIENCE  # mpremote waits for ever
        self.reset()

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the port, with the board in its friendly REPL."""
        with contextlib.suppress(OSError):
            if self._transport.in_raw_repl:
                self._transport.exit_raw_repl()
        with contextlib.suppress(OSError):
            self._transport.close()

    def reset(self) -> None:
        """Soft reset: the board forgets everything, and main.py is not started."""
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # for what mpremote did not expect
                self._transport.enter_raw_repl(soft_reset=True, timeout_overall=_PATIENCE)
        except _BROKEN:
            self.close()
            raise DeviceError(
                f"At {self.port} nothing answers as MicroPython does. Is it on the board? If a "
                "program runs there that Ctrl-C does not stop, press the board's reset "
                "button and try again at once."
            ) from None

    def run(self, code: str, seconds: float = _SECONDS) -> str:
        """What the code prints. Raises RaisedError, or DeviceError if the line is gone.

        seconds is how long it may be silent.
        """
        try:
            said, error = self._transport.exec_raw(code, timeout=seconds)
        except _BROKEN as broken:
            raise DeviceError(
                f"The line to {self.port} is gone ({str(broken) or 'no answer'}). Is the board "
                "plugged in?"
            ) from None
        if error:
            raise RaisedError(error.decode(errors="replace").strip().rpartition("\n")[2].strip())
        return str(said.decode(errors="replace"))

    def value(self, expression: str, seconds: float = _SECONDS) -> Any:
        """What an expression is on the board: numbers, texts, lists and the like."""
        return ast.literal_eval(self.run(f"print(repr({expression}))", seconds).strip())

    def start(self, seconds: float) -> str:
        """Soft reset with main.py started; what the board prints until it has no more to say.

        That is at most what it prints in so many seconds.
        """
        line = self._transport.serial
        try:
            self._transport.exit_raw_repl()
            line.write(b"\x04")
            line.timeout = 0.1
            said, end = b"", time.monotonic() + seconds
            heard = time.monotonic()
            while time.monotonic() < end and not (said and time.monotonic() > heard + _SILENCE):
                came = line.read(256)
                said += came
                if came:
                    heard = time.monotonic()
        except OSError as broken:
            raise DeviceError(f"The line to {self.port} is gone ({broken}).") from None
        finally:
            line.timeout = _SECONDS
        return said.decode(errors="replace")
