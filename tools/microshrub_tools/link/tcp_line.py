"""The line of a link to a board on the network, with the board's key.

docs/reference/link.md has the messages. Both ends prove the key to each other; every record is
counted and signed, so a record that is altered, lost, repeated or moved on the way ends the line.
Records are not encrypted.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import select
import socket
import struct
import time

from microshrub_host.base.child_process import patience

from .serial_line import PortError

PORT = 7477
SCHEME = "tcp://"
MOST = 256  # bytes of a record to the board
KEY = 32
NONCE = CODE = 16
LINK, FLASH = b"p", b"f"  # the purpose of the line
_LABEL = b"microshrub 1 "
_PAUSE = 0.1  # seconds between two tries
_START_PAUSE = 0.5  # seconds between two tries, for a starting board
_KNOCK = 1.5  # seconds for the board's network to answer, which may have no room at first
_PATIENCE = 10.0  # seconds to wait in the board's queue, and for the board to accept data
_QUIET = 2.0  # seconds without a record sent, after which the board gets an empty one
_SILENT = 4.0  # seconds within which the board has to answer


class StrangerError(OSError):
    """The other end does not have the key."""


class TurnedAwayError(OSError):
    """The board closes the line at once, as its queue is full."""


def code(key: bytes, *parts: bytes) -> bytes:
    """Return the HMAC-SHA256 of the parts, 32 bytes."""
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


def signed(key: bytes, which: bytes, numbers: bytes) -> bytes:
    """Return a greeting's signature, or a direction's key; numbers are the host's and board's."""
    return code(key, _LABEL, which, numbers)


class SignedRecords:
    """One direction: records that are counted and signed with a key."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._count = 0

    def seal(self, data: bytes) -> bytes:
        """Return the next record, with these data."""
        record = struct.pack("<H", len(data)) + data + self._code(data)
        self._count += 1
        return record

    def open(self, data: bytes, given: bytes) -> bool:
        """Return whether the data and their code are the next record."""
        right = hmac.compare_digest(given, self._code(data))
        self._count += right
        return right

    def _code(self, data: bytes) -> bytes:
        return code(self._key, data, struct.pack("<HI", len(data), self._count))[:CODE]


class TcpLine:
    """The line to HOST or HOST:PORT, with the key's 32 bytes.

    `purpose` is LINK, or FLASH to give the board a new program, with ask() only. Raises PortError
    if there is no board, or if the board refuses the key.
    """

    def __init__(self, address: str, key: bytes, purpose: bytes = LINK) -> None:
        host, port = split_address(address)
        self._name = f"{host}:{port}"
        self._address = host, port
        self._key = key
        self._purpose = purpose
        try:
            self._connect(patience(_PATIENCE))
        except OSError as error:
            raise PortError(_advice(self._name, error)) from error

    def _connect(self, seconds: float) -> None:
        """Connect within `seconds`; the board may have a queue, which may be full."""
        end = time.monotonic() + seconds
        while True:
            try:
                self._try(end)
                break
            except (TimeoutError, TurnedAwayError):
                if time.monotonic() > end:
                    raise
                time.sleep(_PAUSE)
        self._got = b""
        self._sent = time.monotonic()
        self._asked = 0.0  # time of the first unanswered empty record, 0 if none

    def _try(self, end: float) -> None:
        left = max(end - time.monotonic(), _PAUSE)
        self._socket = socket.create_connection(self._address, min(left, patience(_KNOCK)))
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._greet(left)
        except BaseException:
            self._socket.close()
            raise

    def _greet(self, seconds: float) -> None:
        self._socket.settimeout(seconds)
        try:
            theirs = self._exactly(NONCE)
        except ConnectionError:
            raise TurnedAwayError("it closes the line before it says a word") from None
        numbers = os.urandom(NONCE) + theirs
        self._socket.settimeout(patience(_PATIENCE))
        self._put(
            numbers[:NONCE] + self._purpose + signed(self._key, self._purpose, numbers)[:CODE]
        )
        try:
            answer = self._exactly(CODE)
        except ConnectionError:
            raise StrangerError("it has closed the line: is it another board's key?") from None
        if not hmac.compare_digest(answer, signed(self._key, b"b", numbers)[:CODE]):
            raise StrangerError("the other end does not have the key")
        self._up = SignedRecords(signed(self._key, b"u", numbers))
        self._down = SignedRecords(signed(self._key, b"d", numbers))

    def _exactly(self, count: int) -> bytes:
        result = b""
        while len(result) < count:
            data = self._socket.recv(count - len(result))
            if not data:
                raise ConnectionResetError("it has closed the line")
            result += data
        return result

    def read(self, seconds: float) -> bytes:
        """Return the bytes that have arrived; wait at most `seconds` for the first."""
        end = time.monotonic() + seconds
        while True:
            now = time.monotonic()
            ready, _, _ = select.select([self._socket], [], [], max(min(end - now, _QUIET), 0))
            result = self._receive() if ready else b""
            now = time.monotonic()
            if self._asked and now - self._asked > patience(_SILENT):
                raise OSError("the board does not answer any more")
            if now - self._sent > _QUIET:
                self._asked = self._asked or now
                self._send(b"")
            if result or now >= end:
                return result

    def _receive(self) -> bytes:
        """Return the data of the complete records."""
        data = self._socket.recv(65536)
        if not data:
            raise OSError("the board has closed the line")
        self._got += data
        result = b""
        while len(self._got) >= 2:
            size = 2 + int.from_bytes(self._got[:2], "little")
            if len(self._got) < size + CODE:
                break
            piece, given = self._got[2:size], self._got[size : size + CODE]
            if not self._down.open(piece, given):
                raise OSError("somebody else has written on the line")
            self._got = self._got[size + CODE :]
            self._asked = 0.0
            result += piece
        return result

    def write(self, data: bytes) -> None:
        """Send all of the data."""
        for at in range(0, len(data), MOST):
            self._send(data[at : at + MOST])

    def ask(self, data: bytes, seconds: float) -> bytes:
        """Send data on a line for FLASH, and return the board's answer.

        Raises OSError if no answer arrives within `seconds`.
        """
        self._socket.settimeout(seconds)
        self.write(struct.pack("<I", len(data)) + data)
        result = b""
        while len(result) < 4 or len(result) < 4 + int.from_bytes(result[:4], "little"):
            result += self._receive()
        return result[4:]

    def _send(self, data: bytes) -> None:
        self._put(self._up.seal(data))
        self._sent = time.monotonic()

    def _put(self, data: bytes) -> None:
        self._socket.sendall(data)

    def reopen(self, seconds: float) -> None:
        """Connect again as soon as the board is back. Raises OSError after `seconds`."""
        self.close()
        end = time.monotonic() + seconds
        while True:
            try:
                self._connect(max(end - time.monotonic(), _PAUSE))
                return
            except OSError as error:
                if time.monotonic() > end:
                    raise OSError(f"{self._name} did not come back: {_reason(error)}") from error
            time.sleep(_PAUSE)

    def close(self) -> None:
        """Close the line."""
        with contextlib.suppress(OSError):
            self._socket.close()


def line_within(address: str, key: bytes, seconds: float, purpose: bytes = LINK) -> TcpLine:
    """Open the line to a board that is starting. Raises PortError after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        time.sleep(min(_START_PAUSE, seconds))
        try:
            return TcpLine(address, key, purpose)
        except PortError:
            if time.monotonic() > end:
                raise


def split_address(text: str) -> tuple[str, int]:
    """Return host and port of tcp://HOST[:PORT] or HOST[:PORT]. Raises PortError."""
    host, colon, port = text.removeprefix(SCHEME).rstrip("/").rpartition(":")
    if not colon:
        host, port = port, str(PORT)
    if not host or not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise PortError(f"--port {text} is not {SCHEME}HOST or {SCHEME}HOST:PORT")
    return host.strip("[]"), int(port)


def _reason(error: OSError) -> str:
    return str(error.strerror or error)


def _advice(name: str, error: OSError) -> str:
    """Return why there is no line, and what to do about it."""
    if isinstance(error, StrangerError):
        return f"the board at {name} cannot be spoken to: {error}"
    if isinstance(error, TimeoutError):
        return (
            f"nothing answers at {name}: is the board in this network, or do others keep it busy "
            "who have no key?"
        )
    if isinstance(error, TurnedAwayError):
        return (
            f"{name} cannot be spoken to: {error}. Is it a board of --tcp, or do others keep it "
            "busy who have no key?"
        )
    return (
        f"there is no board at {name}: {_reason(error)}. Its program says its address at the "
        "cable when it has joined the network; it has to be built with --tcp"
    )
