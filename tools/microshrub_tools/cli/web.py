"""`microshrub web`: the page on which a board's own code learns in the browser."""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser
from pathlib import Path

from microshrub_host.base.terminal import console

from ..web import site

_PORT = 8377
# Set on a Linux desktop; without one, a browser would open in the terminal
_DESKTOPS = ("DISPLAY", "WAYLAND_DISPLAY")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Serve the page on which the device library learns in the browser, in MicroPython, and "
        "open it there. Only this machine can open the page; Ctrl-C ends the command. --output "
        "writes the page's files to a folder instead, for any web server. In a clone of the "
        "project, the page is built first if it was not: that needs npm, and takes two minutes."
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
    parser.add_argument(
        "--no-browser",
        action="store_true",
        help="only print the page's address (default: a browser opens it, on a desktop)",
    )


def open_browser(address: str) -> None:
    """Open the page in the browser of the desktop, if there is a desktop."""
    has_desktop = sys.platform in ("win32", "darwin") or any(map(os.environ.get, _DESKTOPS))
    if has_desktop and sys.stdout.isatty():
        webbrowser.open(address)


def run(arguments: argparse.Namespace) -> int:
    """Write the folder, or serve until Ctrl-C."""
    site.build_if_missing()
    if arguments.output is not None:
        size = site.copy(arguments.output)
        console.say(f"{size:,} bytes in {arguments.output}")
        return 0
    with site.server(arguments.http_port) as server:
        address = f"http://localhost:{server.server_address[1]}/"
        console.say(f"{address} (Ctrl-C ends it)")
        if not arguments.no_browser:
            open_browser(address)
        server.serve_forever()
    return 0
