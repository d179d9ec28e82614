"""The option --port, and the serial ports of this PC for users who left it out."""

from __future__ import annotations

import os
import sys
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
    """Add --port, which may be left out if there is one board; with `network`, add --key.

    instead: the start of the help text, if the board takes the place of another argument.
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
    """Return a line for each port: virtual boards, then USB devices, then other serial ports."""
    result = []
    for port in sorted(list_ports.comports(), key=lambda port: (port.vid is None, port)):
        board = _BOARDS.get(port.vid, "")
        about = port.description if port.description != "n/a" else port.product or ""
        words = (port.device, board, about, _built_in(port), _closed(port.device))
        result.append("  ".join(word for word in words if word))
    return [*map(_virtual, simulated_board.running()), *result]


def chosen_port(port: str | None) -> str:
    """Return the port that was named, or else the port of the only board, which is printed.

    A virtual board counts if it was started in the working folder. Raises UserError, which lists
    the ports, if there is no board, or more than one.
    """
    if port is not None:
        return port
    boards = [each.device for each in list_ports.comports() if each.vid in _BOARDS]
    virtual = [each.port for each in simulated_board.running() if each.is_here]
    if len(boards) + len(virtual) > 1:
        raise UserError(_with_ports("There is more than one board. Name one with --port."))
    if not boards + virtual:
        raise UserError(_no_board())
    for name in boards:
        messages.say(f"The board is at {name}.")
    for name in virtual:
        messages.say(f"The board is at {name}, a virtual board that was started in this folder.")
    return str((boards + virtual)[0])


def _no_board() -> str:
    """Return the message for no board, with a list of the ports."""
    some = list_ports.comports()
    if any(port.vid is not None for port in some):
        return _with_ports(
            "No board found. A board with a USB adapter cannot be told from other devices: if "
            "one of these is the board, name it with --port."
        )
    if simulated_board.running():
        return _with_ports(
            "No board found. A virtual board that was started in another folder needs --port."
        )
    names = [port.device for port in some]
    known = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} built in. " * bool(names)
    return (
        f"No board found. {known}Is the cable a data cable? Is MicroPython on the board? A port "
        "that is not listed (a pty, socket://HOST:PORT) can be named with --port; `microshrub "
        "device` starts a virtual board."
    )


def _with_ports(message: str) -> str:
    return message + " Ports found:\n  " + "\n  ".join(describe_ports())


def _virtual(board: simulated_board.Running) -> str:
    where = "this folder" if board.is_here else str(board.folder)
    return f"{board.port}  a virtual board that was started in {where}"


def _built_in(port: Any) -> str:
    return "built in, not on USB" if port.vid is None else ""


def _closed(device: str) -> str:
    """Return a remark on a port that this user may not open."""
    path = Path(device)
    if not path.exists() or os.access(path, os.R_OK | os.W_OK):
        return ""
    return f"no permission to open it: join the group {_group(path)} and log in again"


def _group(path: Path) -> str:
    if sys.platform == "win32":  # Windows has no groups of files
        return "that owns it"
    try:
        return path.group()
    except KeyError:  # the group has no name
        return "that owns it"
