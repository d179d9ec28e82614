"""`microshrub web`: the page on which a board's own code learns in the browser."""

from __future__ import annotations

import argparse
from pathlib import Path

from microshrub_host.base.terminal import console

from ..web import site

_PORT = 8377


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Serve the page on which the device library learns in the browser, in MicroPython. Only "
        "this machine can open the page; Ctrl-C ends the command. --output writes the page's "
        "files to a folder instead, for any web server."
    )
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        type=Path,
        help="the folder to write the page's files to (default: serve the page)",
    )
    parser.add_argument(
        "--http-port",
        metavar="N",
        type=int,
        default=_PORT,
        help=f"the port of the server, 0 for a free one (default {_PORT})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the folder, or serve until Ctrl-C."""
    if arguments.output is not None:
        size = site.copy(arguments.output)
        console.say(f"{size:,} bytes in {arguments.output}")
        return 0
    with site.server(arguments.http_port) as server:
        console.say(f"http://localhost:{server.server_address[1]}/ (Ctrl-C ends it)")
        server.serve_forever()
    return 0
