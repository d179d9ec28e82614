"""A board in the network: the real program, on a 32-bit MicroPython with its sockets."""

from __future__ import annotations

import json
import os
import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from device_support import Device, configuration, put_device
from mqtt_support import free_port
from patience import PATIENCE

from microshrub_tools.link.client import HostLink
from microshrub_tools.link.serial_line import PortError
from microshrub_tools.link.tcp_line import CODE, LINK, NONCE, TcpLine, signed

KEY = bytes(range(7, 39))
PROOF = NONCE + 1 + CODE
THICKET: tuple[str, dict[str, Any]] = ("Thicket", {"features": 3, "classes": 2, "bytes": 12000})


class NetworkBoard:
    """A board that serves the link at `tcp`, and at its serial port; started by start()."""

    def __init__(self, command: tuple[str, ...], folder: Path, heap: str = "256k") -> None:
        self.folder, self._command, self._heap = folder, command, heap
        self.tcp = free_port()
        self.device: Device | None = None

    def start(
        self, main: str = "", files: dict[str, bytes] | None = None, **fields: Any
    ) -> Device:
        """Start the board with these fields of config.json; main replaces its main.py."""
        config = configuration(*THICKET) | {"tcp": {"port": self.tcp}} | fields
        put_device(self.folder, config)
        (self.folder / "secrets.json").write_text(json.dumps({"key": KEY.hex()}))
        for name, data in (files or {}).items():
            (self.folder / name).write_bytes(data)
        if main:
            (self.folder / "main.py").write_text(main)
        self.device = Device(self._command, self.folder, self._heap)
        return self.device

    def line(self, port: int = 0) -> TcpLine:
        """Return a line to the board, or to a port that leads there, however long it takes."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return TcpLine(f"127.0.0.1:{port or self.tcp}", KEY)
            except PortError:
                assert time.monotonic() < end
                time.sleep(0.05)

    def connected(self, port: int = 0, **options: Any) -> HostLink:
        """Return the PC's end of the link, after the board's welcome."""
        link = HostLink(self.line(port), **options)
        link.connect()
        return link

    def stranger(self) -> socket.socket:
        """Return a connection to the board on which nothing is sent yet."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                connection = socket.create_connection(("127.0.0.1", self.tcp), PATIENCE)
                connection.settimeout(PATIENCE)
                return connection
            except ConnectionRefusedError:
                assert time.monotonic() < end
                time.sleep(0.05)

    def close(self) -> None:
        if self.device:
            self.device.close()


class Crowd:
    """Three clients without a key; within the block, each connects and sends again and again."""

    def __init__(self, port: int, what: bytes) -> None:
        self._port, self._what = port, what
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._crowd) for _ in range(3)]

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()
        time.sleep(0.5)  # so that they connect first

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _crowd(self) -> None:
        while not self._ended.is_set():
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1) as line:
                line.settimeout(10)
                line.sendall(self._what)
                rest(line)


@contextmanager
def unheard(device: Device) -> Iterator[None]:
    """Drop the board's serial output within the block; otherwise it would wait for a reader."""
    ended = threading.Event()
    port = os.open(device.port, os.O_RDONLY | os.O_NOCTTY)

    def read() -> None:
        while not ended.is_set():
            if select.select([port], [], [], 0.05)[0]:
                os.read(port, 4096)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield
    finally:
        ended.set()
        reader.join()
        os.close(port)


def proof(key: bytes, theirs: bytes, ours: bytes, what: bytes = LINK) -> bytes:
    """Return the proof of a host with this key and number `ours` for a board's number `theirs`."""
    return ours + what + signed(key, what, ours + theirs)[:CODE]


def number(line: socket.socket) -> bytes:
    """Return the number that a board sends to every new connection."""
    return line.recv(NONCE, socket.MSG_WAITALL)


def rest(line: socket.socket) -> bytes:
    """Return all bytes until the other end closes the connection."""
    received = b""
    try:
        while data := line.recv(4096):
            received += data
    except ConnectionResetError:
        pass
    return received


def until_it_ends(line: TcpLine) -> str:
    """Read until the line ends; return the reason."""
    try:
        while True:
            line.read(PATIENCE)
    except OSError as error:
        return str(error)
