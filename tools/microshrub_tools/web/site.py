"""The page's files, which `make web` builds and the wheel carries, and a server of them."""

from __future__ import annotations

import shutil
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from microshrub_host.base.errors import UserError

HOST = "127.0.0.1"
FOLDER = Path(__file__).with_name("site")
_MARK = "main.js"  # is there when the page was built
# What the page says of itself in index.html, and what only a header can say.
_HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
_TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".gz": "application/gzip",
}


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, **_TYPES}  # noqa: RUF012

    def do_GET(self) -> None:
        if self._is_ours():
            super().do_GET()

    def do_HEAD(self) -> None:
        if self._is_ours():
            super().do_HEAD()

    def _is_ours(self) -> bool:
        """Refuse requests for another host: a page elsewhere whose name leads here reads none."""
        name = (self.headers.get("Host") or "").rpartition(":")[0]
        if name in (HOST, "localhost"):
            return True
        self.send_error(403)
        return False

    def end_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        pass


def built() -> Path:
    """The folder of the page. Raises UserError if it was not built."""
    if not (FOLDER / _MARK).is_file():
        raise UserError("The page has not been built here: run `make web`, which needs npm.")
    return FOLDER


def copy(output: Path) -> int:
    """Copy the page to a folder that is new or empty, or holds the page; gives the bytes.

    Raises UserError if it is anything else, or cannot be written.
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
    """A server of the page on this machine alone; port 0 is a free one. Raises UserError."""
    handler = partial(_Handler, directory=str(built()))
    try:
        return ThreadingHTTPServer((HOST, port), handler)
    except OSError as error:
        why = error.strerror or error
        raise UserError(f"--http-port {port} cannot be used: {why}. Choose another one.") from None
