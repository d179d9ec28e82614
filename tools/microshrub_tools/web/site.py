"""The page's files, which `make web` builds and the wheel carries, and a server of them."""

from __future__ import annotations

import shutil
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from microshrub_host.base import child_process
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages

from .visitors import Visitors

HOST = "127.0.0.1"
FOLDER = Path(__file__).with_name("site")
# The policy that only a header can set; the rest is in index.html, for any web server.
HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
_PATIENCE = 10.0  # seconds for a request to arrive, and for the client to take an answer
_HTTP = 80  # a port that browsers leave out of addresses
_CONNECTIONS = 64  # connections at a time
_MARK = "main.js"  # exists once the page is built
_TYPES = {
    ".css": "text/css",
    ".gz": "application/gzip",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".mjs": "text/javascript",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _PATIENCE

    def do_GET(self) -> None:
        if isinstance(self.server, _Server):
            self.server.visitors.heard(self.connection)
        try:
            path = urllib.parse.urlsplit(self.path).path
        except ValueError:
            self.send_error(400)
            return
        port = int(self.server.server_address[1])  # type: ignore[index]
        if self.headers.get("Host") not in hosts(port):  # a foreign name that leads here
            self.send_error(403)
            return
        result = file(path)
        if result is None:
            self.send_error(404)
            return
        content_type, data = result
        self.send_response(200)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    """A server with a thread for each connection; it does not report broken connections."""

    request_queue_size = _CONNECTIONS  # beyond the queue, a client tries again seconds later

    def __init__(self, port: int) -> None:
        super().__init__((HOST, port), _Handler)
        self.visitors = Visitors(_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self.visitors.enter(request):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.visitors.leave(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def hosts(port: int) -> list[str]:
    """Return the Host headers of a page served here, without the port if it is HTTP's own."""
    names = ["localhost", HOST]
    return [f"{name}:{port}" for name in names] + (names if port == _HTTP else [])


def is_built() -> bool:
    """Return whether the page is built."""
    return (FOLDER / _MARK).is_file()


def build_if_missing() -> None:
    """Build the page if this is a clone without one. Raises UserError."""
    root = FOLDER.parents[3]
    if is_built() or not (root / "tools" / "web" / "package.json").is_file():
        return
    missing = [name for name in ("make", "npm") if not shutil.which(name)]
    if missing:
        raise UserError(
            f"The page has not been built here. That needs {' and '.join(missing)}, which is not "
            "installed; the package has the page in it: pip install microshrub"
        )
    messages.say("The page has not been built here, so it is built now.")
    command = ["make", "--no-print-directory", "web"]
    with child_process.start(command, cwd=root, stdout=sys.stderr) as build:
        build.wait()
    if build.returncode:
        raise UserError("The page could not be built; the reason is above.")


def built() -> Path:
    """Return the folder of the page. Raises UserError if the page is not built."""
    if not is_built():
        raise UserError("The page has not been built here: run `make web`, which needs npm.")
    return FOLDER


def file(path: str) -> tuple[str, bytes] | None:
    """Return type and bytes of the page's file at a URL's path; None if there is no such file."""
    wanted = path.removeprefix("/") or "index.html"
    for result in built().rglob("*"):
        if result.is_file() and result.relative_to(FOLDER).as_posix() == wanted:
            return _TYPES.get(result.suffix, "application/octet-stream"), result.read_bytes()
    return None


def copy(output: Path) -> int:
    """Copy the page to a folder that is new, empty, or has the page; return the bytes.

    Raises UserError if the folder has other files, or cannot be written.
    """
    source = built()
    if output.exists() and not _may_replace(output):
        raise UserError(f"--output {output}: there is something else; choose another folder")
    try:
        shutil.copytree(source, output, dirs_exist_ok=True)
    except OSError as error:
        raise UserError(f"--output {output}: cannot be written: {error}") from None
    return sum(path.stat().st_size for path in output.rglob("*") if path.is_file())


def _may_replace(output: Path) -> bool:
    return output.is_dir() and ((output / _MARK).is_file() or not any(output.iterdir()))


def server(port: int) -> ThreadingHTTPServer:
    """Return a server of the page on this machine only; port 0 is a free one. Raises UserError."""
    built()
    try:
        return _Server(port)
    except OSError as error:
        why = error.strerror or error
        raise UserError(f"--http-port {port} cannot be used: {why}. Choose another one.") from None
