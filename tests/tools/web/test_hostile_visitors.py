"""Hostile clients of `web` and `bridge`: the servers keep running, quietly, and can be ended."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import socket
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import PATIENCE
from websockets.sync.client import ClientConnection, connect

from microshrub_tools.web import site

_SCRIPT = """
import sys
from pathlib import Path
from microshrub_tools.cli.main import main
from microshrub_tools.web import site
site.FOLDER = Path(sys.argv[1])
sys.exit(main(sys.argv[2:]))
"""


class Visited:
    """A command that serves a page, in a process of its own."""

    def __init__(self, folder: Path, *words: str) -> None:
        page = folder / "page"
        page.mkdir()
        (page / "main.js").write_text("1;" * 100_000)
        (page / "index.html").write_text("<p>")
        self.process = subprocess.Popen(
            [sys.executable, "-c", _SCRIPT, str(page), *words, "--http-port", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout
        self.address = self.process.stdout.readline().split(" ")[0]
        self.port = int(self.address.split(":")[2].split("/")[0])

    def open(self) -> socket.socket:
        return socket.create_connection((site.HOST, self.port), timeout=PATIENCE)

    def status(self, request: bytes) -> int:
        """Return the status of the answer to a request; 400 if the server only hangs up."""
        with self.open() as line:
            line.sendall(request)
            words = line.makefile("rb").readline().split()
            return int(words[1]) if words else 400

    def get(self, path: str = "/", more: str = "") -> int:
        host = f"Host: localhost:{self.port}\r\n"
        return self.status(f"GET {path} HTTP/1.1\r\n{host}{more}\r\n".encode("latin-1"))

    def threads(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/task").iterdir()))

    def stop(self) -> str:
        """End the server with Ctrl-C; return its error output."""
        self.process.send_signal(signal.SIGINT)
        _, error = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 130
        return error


@pytest.fixture
def board() -> Iterator[tuple[int, str]]:
    """A port: the number of its other end, and its name."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    yield master, os.ttyname(slave)
    os.close(master)
    os.close(slave)


@pytest.fixture(params=["web", "bridge"])
def visited(
    request: pytest.FixtureRequest, tmp_path: Path, board: tuple[int, str]
) -> Iterator[Visited]:
    words = ["web"] if request.param == "web" else ["bridge", "--port", board[1]]
    visit = Visited(tmp_path, *words)
    yield visit
    visit.process.kill()
    visit.process.communicate()


@contextlib.contextmanager
def page_of(visited: Visited) -> Iterator[ClientConnection]:
    """A connection like the page's."""
    here, _, token = visited.address.partition("/#bridge=")
    where = f"ws://localhost:{visited.port}/bridge?token={token}"
    with connect(where, origin=here) as connection:  # type: ignore[arg-type]
        assert connection.recv(timeout=PATIENCE) == "{}"
        yield connection


MALFORMED = [
    "//[", "http://[::1/", "//[v6]@:99999999/", "/%00", "/%ff%fe/../..", "/?" + "a=b&" * 3000,
    "/bridge?token=%ed%a0%80", "/bridge?token=\xff", "/bridge?" + "token=a&" * 2000,
]  # fmt: skip


def test_a_malformed_request_is_the_clients_error(visited: Visited) -> None:
    for path in MALFORMED:
        assert 400 <= visited.get(path) < 500 or visited.get(path) == 200, path
    for more in ("Host: a\r\n", "Origin: a\r\nOrigin: b\r\n", "Content-Length: -5\r\n"):
        assert 200 <= visited.get("/bridge?token=a", more) < 500, more
    assert visited.get() == 200
    assert visited.stop().strip() == "microshrub: stopped"


def test_clients_that_hang_up(visited: Visited) -> None:
    request = f"GET /main.js HTTP/1.1\r\nHost: localhost:{visited.port}\r\n\r\n".encode()
    for cut in (0, 1, 10, len(request) - 1, len(request)):
        for _ in range(8):
            line = visited.open()
            line.sendall(request[:cut])
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset
            line.close()
    assert visited.get() == 200
    error = visited.stop()
    assert "Traceback" not in error
    assert error.strip().splitlines()[-1] == "microshrub: stopped"


def test_partial_requests_do_not_keep_a_thread_each(visited: Visited) -> None:
    with contextlib.ExitStack() as stack:
        before = visited.threads()
        for _ in range(300):
            line = stack.enter_context(visited.open())
            with contextlib.suppress(OSError):  # the server may hang up at once
                line.sendall(b"GET / HT")
        time.sleep(0.2)
        assert visited.threads() - before <= 140
        end = time.monotonic() + PATIENCE
        while visited.threads() > before + 2:  # until they time out
            assert time.monotonic() < end
            time.sleep(0.1)
        assert visited.get() == 200
    assert "Traceback" not in visited.stop()


def test_a_complete_request_is_answered_among_partial_ones(visited: Visited) -> None:
    """The oldest partial requests are dropped, and at most 140 threads are added."""
    with contextlib.ExitStack() as stack:
        before = visited.threads()
        lines = [stack.enter_context(visited.open()) for _ in range(300)]
        for line in lines:
            with contextlib.suppress(OSError):
                line.sendall(b"GET / HT")
        for _ in range(20):
            assert visited.get() == 200
        assert visited.threads() - before <= 140
        for line in lines[:100]:  # the oldest have been closed, without an answer
            with contextlib.suppress(ConnectionResetError):
                assert line.recv(1) == b""
    assert "Traceback" not in visited.stop()


def test_an_idle_connection_is_dropped_for_a_new_one(visited: Visited) -> None:
    request = f"GET / HTTP/1.1\r\nHost: localhost:{visited.port}\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        for _ in range(150):
            line = stack.enter_context(visited.open())
            line.sendall(request)
            assert line.recv(12) == b"HTTP/1.1 200"
    assert "Traceback" not in visited.stop()


@pytest.mark.parametrize("visited", ["bridge"], indirect=True)
def test_ctrl_c_ends_the_bridge_while_a_page_is_connected(
    visited: Visited, board: tuple[int, str]
) -> None:
    with page_of(visited) as page, visited.open() as half:
        half.sendall(b"GET /")
        page.send(b"hello")
        assert os.read(board[0], 9) == b"hello"
        assert visited.stop().strip() == "microshrub: stopped"


@pytest.mark.parametrize("visited", ["bridge"], indirect=True)
def test_many_connections_do_not_break_the_reader(
    visited: Visited, board: tuple[int, str]
) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(400):
            stack.enter_context(visited.open())
        page = stack.enter_context(page_of(visited))
        for _ in range(100):  # the port's owner is not dropped
            stack.enter_context(visited.open())
        talks = threading.Thread(target=lambda: [os.write(board[0], b"x" * 9) for _ in range(50)])
        talks.start()
        came = b""
        while len(came) < 450:
            came += bytes(page.recv(timeout=PATIENCE))
        talks.join()
    assert "Traceback" not in visited.stop()
