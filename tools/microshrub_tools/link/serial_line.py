"""The line of a link: its interface, and a serial port, opened as mpremote opens it."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from typing import Protocol

import serial
from serial.tools import list_ports

from microshrub_host.base.errors import UserError

_PAUSE = 0.1  # seconds between two tries
_STUCK = 5.0  # seconds after which a port that accepts no bytes is reopened


class Line(Protocol):
    """A line that carries bytes. read, write and reopen raise OSError when the line is gone."""

    def read(self, seconds: float) -> bytes:
        """Return the bytes that have arrived; wait at most `seconds` for the first."""

    def write(self, data: bytes) -> None:
        """Send all of the data."""

    def reopen(self, seconds: float) -> None:
        """Open the line again within `seconds`."""

    def close(self) -> None:
        """Close the line."""


class PortError(UserError):
    """The port cannot be used; the message tells the user what to do."""


def gone(port: str) -> PortError:
    """Return the error for a port that has disappeared."""
    return PortError(
        f"{port} is gone: the board was unplugged or reset. Plug it in, and start this command "
        "again."
    )


class SerialLine:
    """A port by name, or a URL of pyserial. Raises PortError if it cannot be opened."""

    def __init__(self, port: str, baud_rate: int = 115200) -> None:
        self._name = port
        self._baud_rate = baud_rate
        try:
            self._port = self._open()
        except OSError as error:  # serial.SerialException is an OSError
            raise PortError(advice(port, error)) from error
        except ValueError:  # pyserial does not know the scheme before ://
            raise PortError(
                f"--port {port} is no serial device, such as /dev/ttyACM0, and no "
                "socket://HOST:PORT"
            ) from None

    def _open(self) -> serial.SerialBase:
        """Open the port as mpremote does: pyserial's DTR and RTS do not restart an ESP."""
        settings = {"baudrate": self._baud_rate, "exclusive": True, "write_timeout": _STUCK}
        return serial.serial_for_url(self._name, **settings)

    def read(self, seconds: float) -> bytes:
        """Return the bytes that have arrived; wait at most `seconds` for the first."""
        self._port.timeout = seconds
        first: bytes = self._port.read(1)
        self._port.timeout = 0
        return first + self._port.read(4096) if first else b""

    def write(self, data: bytes) -> None:
        """Send all of the data."""
        self._port.write(data)

    def reopen(self, seconds: float) -> None:
        """Open the port again as soon as it is back. Raises OSError after `seconds`."""
        self.close()
        end = time.monotonic() + seconds
        while True:
            try:
                self._port = self._open()
                return
            except OSError as error:
                if time.monotonic() > end:
                    raise OSError(f"{self._name} did not come back. Plug it in again") from error
            time.sleep(_PAUSE)

    def set_rate(self, baud_rate: int) -> None:
        """Continue at this rate, in bits a second."""
        self._baud_rate = self._port.baudrate = baud_rate

    def set_signals(self, *, dtr: bool | None = None, rts: bool | None = None) -> None:
        """Set the lines DTR and RTS, DTR first; None leaves a line as it is."""
        with contextlib.suppress(OSError):  # a pty has neither
            if dtr is not None:
                self._port.dtr = dtr
            if rts is not None:
                self._port.rts = rts

    @property
    def usb(self) -> tuple[int, int] | None:
        """The numbers of the USB device's vendor and product; None for other ports."""
        for result in list_ports.comports():
            if result.device == self._name and result.vid is not None and result.pid is not None:
                return result.vid, result.pid
        return None

    def close(self) -> None:
        """Close the port; clear RTS before DTR, as the other order restarts an ESP."""
        with contextlib.suppress(OSError):  # a pty has neither
            self._port.rts = False
            self._port.dtr = False
        with contextlib.suppress(OSError):
            self._port.close()


def advice(port: str, error: OSError) -> str:
    """Return why the port cannot be opened, and what to do about it."""
    text = f"{port} cannot be opened"
    if not os.path.exists(port) and "://" not in port:
        return f"{text}: there is no such port. Is the board plugged in?"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"{text}: no permission. On Linux, join the group that owns it (often dialout)."
    if error.errno in (errno.EAGAIN, errno.EBUSY):  # EAGAIN: the port is locked
        return f"{text}: another program uses it. Close that one first."
    return f"{text}: {error.strerror or error}"
