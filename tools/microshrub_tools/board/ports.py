"""The option --port, and the serial ports of this PC for users who left it out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from serial.tools import list_ports

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages

from . import simulated_board

_BOARDS = {
    0x2E8A: "Raspberry Pi Pico",
    0x303A: "Espressif",
    0xF055: "MicroPython",
}  # vendors of USB devices that are boards


def add_port_option(parser: Any, *, network: bool = False, instead: str = "") -> None:
    """Add --port, which may be left out where there is one board; in a network there is --key.

    instead: what a board does there that takes the place of something else.
    """
    way = ", tcp://HOST[:PORT] of a board in the network" if network else ""
    text = f"a serial device{way}, or socket://HOST:PORT"
    text = f"{instead}: {text}" if instead else f"{text} (default: the port of the only board)"
    parser.add_argument("--port", metavar="PORT", help=text)
    if network:
        parser.add_argument(
            "--key",
            metavar="FILE",
            type=Path,
            help="the key of a board in the network, which `build --tcp` has made (default: the "
            "only one in build/)",
        )


def describe_ports() -> list[str]:
    """A line for each serial port, name and what it is; those with a USB device come first."""
    found = []
    for port in sorted(list_ports.comports(), key=lambda port: (port.vid is None, port)):
        kind = _BOARDS.get(port.vid, "")
        about = port.description if port.description != "n/a" else port.product or ""
        found.append("  ".join(word for word in (port.device, kind, about) if word))
    return [*(f"{name}  a virtual board" for name in simulated_board.ports()), *found]


def chosen_port(port: str | None) -> str:
    """The port that was named, or that of the only board, which is said.

    Raises UserError, which lists the ports, if there is no board, or more than one.
    """
    if port is not None:
        return port
    boards = [each.device for each in list_ports.comports() if each.vid in _BOARDS]
    boards += simulated_board.ports()
    if len(boards) == 1:
        messages.say(f"The board is at {boards[0]}.")
        return str(boards[0])
    ports = describe_ports()
    if not ports:
        raise UserError(
            "--port is missing, and no serial port was found. Plug the board in, name a port that "
            "is not listed (a pty, socket://HOST:PORT), or start a virtual board: "
            "microshrub device"
        )
    raise UserError("--port is missing. Ports found:\n  " + "\n  ".join(ports))
