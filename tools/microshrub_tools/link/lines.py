"""The line to a port of either kind: a serial port, or a board on the network."""

from __future__ import annotations

from pathlib import Path

from . import key_file
from .serial_line import Line, SerialLine
from .tcp_line import SCHEME, TcpLine


def is_network(port: str) -> bool:
    """Return whether a port is like tcp://HOST[:PORT]."""
    return port.startswith(SCHEME)


def open_line(port: str, key: Path | None = None) -> Line:
    """Open a port; key is the key file of a board on the network. Raises UserError."""
    if is_network(port):
        return TcpLine(port, key_file.chosen(key))
    return SerialLine(port)
