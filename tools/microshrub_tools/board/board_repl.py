"""A board at a port, in MicroPython's raw REPL: runs lines of Python and returns their output.

Every failure is a UserError that tells the user what to do.
"""

from __future__ import annotations

import ast
import contextlib
import time
from typing import Any

from microshrub_host.base.child_process import patience
from microshrub_host.base.errors import UserError
from microshrub_host.base.raw_repl import CodeRaisedError, LineLostError, RawRepl

from ..link.serial_line import Line, SerialLine

_SECONDS = 10.0  # seconds without a byte, after which the board counts as gone
_PATIENCE = 10.0  # seconds for the raw REPL to answer
_KNOCK = 0.25  # seconds between two tries to stop a program
_MORE = 2.0  # seconds to wait until a stopped program is silent: a thread may go on printing
_STOP = b"\r\x03\x03\x02"  # Ctrl-C as the device's program expects it; Ctrl-B requests a prompt
_PROMPT = b">>> "
_STARTED = b"\0"  # the empty frame that a program sends when it has started
_SAVING = 1.0  # seconds in which a program that ends right after its start prints a prompt


class DeviceError(UserError):
    """The board cannot carry out a command; the message is for people."""


class RaisedError(DeviceError):
    """A line of Python raised an exception on the board; `text` is its last line."""

    def __init__(self, text: str) -> None:
        super().__init__(f"The board says {text}")
        self.text = text


class Device:
    """A board in the raw REPL, at the port of that name or at a URL of pyserial.

    A running program is stopped. Raises UserError if the port cannot be opened, or if MicroPython
    does not answer there.
    """

    def __init__(self, port: str, baud: int = 115200) -> None:
        self.port = port
        try:
            self._repl = RawRepl(port, baud, silence=patience(_PATIENCE))
        except LineLostError:
            SerialLine(port, baud).close()  # raises an error with the reason
            raise DeviceError(f"{port} cannot be opened. Try it again.") from None
        self._interrupt()
        self.reset()

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the port, with the board in its friendly REPL."""
        with contextlib.suppress(LineLostError):
            self._repl.leave()
        self._repl.close()

    def _interrupt(self) -> None:
        """Stop the running program; stop a program that hangs as it starts, after a reset."""
        line = self._repl.line
        output, end = b"", time.monotonic() + patience(_PATIENCE)
        try:
            line.timeout = _KNOCK
            while _PROMPT not in output and time.monotonic() < end:
                line.write(_STOP)
                output = output[-len(_PROMPT) :] + line.read_until(_PROMPT)
            end = time.monotonic() + _MORE
            while line.read(4096) and time.monotonic() < end:  # output after the prompt
                line.write(_STOP)
            line.timeout = patience(_PATIENCE)
        except OSError as broken:
            self.close()
            raise DeviceError(_gone(self.port, str(broken))) from None

    def reset(self) -> None:
        """Do a soft reset: the board's RAM is cleared, and main.py is not started."""
        try:
            self._repl.enter(reset=True, seconds=patience(_PATIENCE))
        except LineLostError:
            self.close()
            raise DeviceError(
                f"MicroPython does not answer at {self.port}. Is it installed on the board? If a "
                "program is running there that Ctrl-C does not stop, start this command again and "
                "press the board's reset button while it waits."
            ) from None

    def run(self, code: str, seconds: float = _SECONDS) -> str:
        """Run the code and return its output; seconds is the longest time without output.

        Raises RaisedError, or DeviceError if the line is gone.
        """
        try:
            return self._repl.run(code, patience(seconds))
        except LineLostError as broken:
            raise DeviceError(_gone(self.port, str(broken))) from None
        except CodeRaisedError as error:
            raise RaisedError(str(error).rpartition("\n")[2].strip()) from None

    def value(self, expression: str, seconds: float = _SECONDS) -> Any:
        """Return the value of an expression on the board: numbers, texts, lists and the like."""
        return ast.literal_eval(self.run(f"print(repr({expression}))", seconds).strip())

    def begin(self, code: str) -> Line:
        """Start code that keeps running; return the line to the code. regain() stops the code.

        Closing the line leaves the port open.
        """
        try:
            self._repl.begin(code)
        except LineLostError as broken:
            raise DeviceError(_gone(self.port, str(broken))) from None
        return _OpenLine(self._repl.line)

    def regain(self) -> None:
        """Stop the code that begin() started, and reset the board."""
        self._interrupt()
        self.reset()

    def start(self, seconds: float) -> tuple[bool, str]:
        """Do a soft reset that starts main.py; return whether its program runs, and its output.

        The program runs if its empty frame arrives within `seconds` and no prompt follows.
        """
        try:
            self._repl.leave()
            self._repl.line.write(b"\x04")
            output, end = b"", time.monotonic() + seconds
            while time.monotonic() < end and not _has_ended(output):
                came = self._startup_output(end)
                if _STARTED in came:
                    end = min(end, time.monotonic() + _SAVING)
                output += came
        except (LineLostError, OSError) as broken:
            raise DeviceError(_gone(self.port, str(broken))) from None
        finally:
            with contextlib.suppress(OSError):  # the port may be gone
                self._repl.line.timeout = patience(_SECONDS)
        text = output.replace(_STARTED + b"\n", b"").decode(errors="replace")
        return _STARTED in output and not _has_ended(output), text

    def _startup_output(self, end: float) -> bytes:
        """Read the output of a starting program; reopen the port if the start takes it away."""
        try:
            self._repl.line.timeout = 0.1
            came: bytes = self._repl.line.read(256)
            return came
        except OSError:
            self._repl.reopen(end - time.monotonic())
            return b""


class _OpenLine:
    """A Line over a port that stays open."""

    def __init__(self, port: Any) -> None:
        self._port = port

    def read(self, seconds: float) -> bytes:
        self._port.timeout = seconds
        first: bytes = self._port.read(1)
        self._port.timeout = 0
        return first + bytes(self._port.read(4096)) if first else b""

    def write(self, data: bytes) -> None:
        self._port.write(data)

    def reopen(self, _: float) -> None:
        raise OSError("the board was unplugged or reset")

    def close(self) -> None:
        """Leave the port open, as it belongs to the device."""


def _has_ended(output: bytes) -> bool:
    """Return whether a program's output ends with a prompt, so that the program is over."""
    return _PROMPT in output[output.find(b"soft reboot") :] if b"soft reboot" in output else False


def _gone(port: str, why: str) -> str:
    return f"The line to {port} is gone ({why or 'no answer'}). Is the board plugged in?"
