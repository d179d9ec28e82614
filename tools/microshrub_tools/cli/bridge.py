"""`microshrub bridge`: a board for the page, if the browser has no WebSerial."""

from __future__ import annotations

import argparse

from microshrub_host.base.terminal import console

from ..board.ports import add_port_option, chosen_port

_PORT = 8378


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Serve the page of `microshrub web`, and give it a board's port over a WebSocket, for "
        "browsers without WebSerial. Only this machine and this page can use it: its address "
        "contains a token. Ctrl-C ends it."
    )
    add_port_option(parser)
    parser.add_argument(
        "--baud", type=int, default=115200, metavar="N", help="bits a second (default 115200)"
    )
    parser.add_argument(
        "--http-port",
        metavar="N",
        type=int,
        default=_PORT,
        help=f"the port of the server, 0 for a free one (default {_PORT})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    from ..web import bridge

    result = bridge.of_port(chosen_port(arguments.port), arguments.baud, arguments.http_port)
    console.say(f"{result.address} (Ctrl-C ends it)")
    result.run()
    return 0
