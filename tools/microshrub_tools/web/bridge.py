"""A serial port for a page without WebSerial: over a WebSocket, on this machine only.

Binary messages carry the port's bytes. Text messages are JSON, with the names of WebSerial: the
server sends the numbers of the port's USB device when the page gets the port, and the page sends
settings, the rate or the lines DTR and RTS.

The page comes from the same server. It has to send the token, which is after the # of its address,
where no server and no other page sees it, and it has to have this origin.
"""

from __future__ import annotations

import contextlib
import http
import json
import secrets
import socket
import threading
import urllib.parse
from collections.abc import Callable
from typing import Any

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

from microshrub_host.base.errors import UserError

from ..link.serial_line import SerialLine
from . import site
from .visitors import Visitors

PATH = "/bridge"
_PATIENCE = 3.0  # seconds for the port's last user to close it
_WAIT = 0.05  # seconds that a read waits for the first byte
_BUSY, _LOST = 4000, 4001  # codes that close a WebSocket
_LONGEST = 120  # bytes of the reason for closing
_CONNECTIONS = 32  # at a time: a page opens a few, and more would use up the file numbers
_USB = ("usbVendorId", "usbProductId")
_SETTINGS = ("baudRate", "dataTerminalReady", "requestToSend")
_FASTEST = 4_000_000  # bits a second
_GONE = "The board was unplugged or reset."

Open = Callable[[], SerialLine]


class _Door(socket.socket):
    """A socket that listens on this machine, and counts a connection before its thread starts."""

    def __init__(self, port: int, visitors: Visitors) -> None:
        made = socket.create_server((site.HOST, port), backlog=2 * _CONNECTIONS)
        super().__init__(fileno=made.detach())
        self._visitors = visitors

    def accept(self) -> tuple[socket.socket, Any]:
        while True:
            line, address = super().accept()
            if self._visitors.enter(line):
                return line, address
            line.close()


class Bridge:
    """The server, not yet running; `address` is for a browser."""

    def __init__(self, open_line: Open, port: int) -> None:
        site.built()
        self.token = secrets.token_urlsafe(24)
        self._open = open_line
        self._taken = threading.Lock()
        self._page: ServerConnection | None = None  # the page that has the port
        self._visitors = Visitors(_CONNECTIONS)
        try:
            door = _Door(port, self._visitors)
            self._server: Server = serve(
                self._carry, sock=door, process_request=self._answer, compression=None
            )
        except OSError as error:
            why = error.strerror or error
            raise UserError(f"--http-port {port} cannot be used: {why}. Choose another.") from None
        self._serve_one = self._server.handler
        self._server.handler = self._handle
        self._hosts = site.hosts(self.port)

    @property
    def port(self) -> int:
        """The server's port."""
        return int(self._server.socket.getsockname()[1])

    @property
    def address(self) -> str:
        """The page's address, with the token."""
        return f"http://localhost:{self.port}/#bridge={self.token}"

    def run(self) -> None:
        """Serve until stop() or Ctrl-C; the port is then closed."""
        # like this thread, the threads of connections are daemons, which end with the program
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_PATIENCE)
        finally:
            self._server.socket.close()
            self._let_go()

    def stop(self) -> None:
        """End run()."""
        self._let_go()
        self._server.shutdown()

    def _let_go(self) -> None:
        """Have the page's thread, if there is one, close the port, and wait for it."""
        page = self._page
        if page:
            with contextlib.suppress(OSError):
                page.socket.shutdown(socket.SHUT_RDWR)
        if self._taken.acquire(timeout=_PATIENCE):
            self._taken.release()

    def _handle(self, connection: socket.socket, address: Any) -> None:
        """Serve one connection."""
        try:
            self._serve_one(connection, address)
        finally:
            self._visitors.leave(connection)

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return the response with a file of the page; None for a WebSocket that may be opened."""
        self._visitors.heard(connection.socket)
        try:
            return self._answered(connection, request)
        except (ValueError, LookupError):  # an invalid address, a repeated header
            return connection.respond(http.HTTPStatus.BAD_REQUEST, "no such request\n")

    def _answered(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.headers.get("Host") not in self._hosts:
            return connection.respond(http.HTTPStatus.FORBIDDEN, "another host\n")
        parts = urllib.parse.urlsplit(request.path)
        if parts.path == PATH:
            given = urllib.parse.parse_qs(parts.query).get("token", [""])[0]
            origins = [f"http://{host}" for host in self._hosts]
            known = secrets.compare_digest(given.encode(), self.token.encode())
            if known and request.headers.get("Origin") in origins:
                return None
            return connection.respond(http.HTTPStatus.FORBIDDEN, "another origin or token\n")
        result = site.file(parts.path)
        if result is None:
            return connection.respond(http.HTTPStatus.NOT_FOUND, "no such file\n")
        content_type, data = result
        headers = {**site.HEADERS, "Content-Type": content_type, "Content-Length": str(len(data))}
        return Response(200, "OK", Headers({**headers, "Connection": "close"}), data)

    def _carry(self, page: ServerConnection) -> None:
        """Carry bytes both ways until one end closes. One page at a time has the port.

        A page that closes the port and opens it again may connect before the port is closed.
        """
        if not self._taken.acquire(timeout=_PATIENCE):
            page.close(_BUSY, "Another page uses the port. Close that one.")
            return
        self._page = page
        self._visitors.keep(page.socket)
        try:
            self._carry_alone(page)
        finally:
            self._page = None
            self._taken.release()

    def _carry_alone(self, page: ServerConnection) -> None:
        try:
            line = self._open()
        except UserError as error:
            page.close(_LOST, str(error).encode()[:_LONGEST].decode(errors="ignore"))
            return
        ended = threading.Event()
        reader = threading.Thread(target=_read, args=(line, page, ended), daemon=True)
        reader.start()
        try:
            page.send(json.dumps(dict(zip(_USB, line.usb or (), strict=False))))
            for message in page:
                _obey(line, message)
        except OSError:
            page.close(_LOST, _GONE)
        except ConnectionClosed:
            pass
        finally:
            ended.set()
            reader.join()
            line.close()


def _obey(line: SerialLine, message: str | bytes) -> None:
    """Send bytes, or apply the settings of a text; ignore any other text."""
    if isinstance(message, bytes):
        line.write(message)
        return
    try:
        settings = json.loads(message)
        rate, dtr, rts = (settings.get(name) for name in _SETTINGS)
    except (ValueError, AttributeError):
        return
    if type(rate) is int and 0 < rate <= _FASTEST:
        line.set_rate(rate)
    line.set_signals(
        dtr=dtr if isinstance(dtr, bool) else None, rts=rts if isinstance(rts, bool) else None
    )


def _read(line: SerialLine, page: ServerConnection, ended: threading.Event) -> None:
    try:
        while not ended.is_set():
            data = line.read(_WAIT)
            if data:
                page.send(data)
    except ConnectionClosed:
        pass
    except Exception:  # on any error, the page gets a message
        page.close(_LOST, _GONE)


def of_port(port: str, baud: int, http_port: int) -> Bridge:
    """Return the bridge to a serial port, which is opened when the page connects."""
    return Bridge(lambda: SerialLine(port, baud), http_port)
