"""A PC's end of the line to an MQTT 3.1.1 broker, which waits: for commands, not for boards."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from microshrub_host.base.child_process import patience
from microshrub_host.base.errors import UserError

from . import certificate

PORT, TLS_PORT = 1883, 8883
_KEPT = 1 << 17  # bytes of a packet; what is longer is read, and lost
_SILENCE = 0.2  # seconds: a broker may tell what it has kept after its next answer
_REFUSALS = dict.fromkeys((4, 5), "the user or the password is wrong")  # mosquitto answers 5


@dataclass(frozen=True)
class Message:
    """What came at a topic; `retained` if the broker had kept it.

    Of a long message, the data have less than 128 KB, from its beginning on.
    """

    topic: str
    data: bytes
    retained: bool


class Broker:
    """An open line. Raises UserError if there is no broker, or if it does not let one in."""

    def __init__(
        self,
        host: str,
        port: int = PORT,
        user: str = "",
        password: str = "",
        ca: Path | None = None,
        seconds: float = 10.0,
    ) -> None:
        self._seconds = seconds = patience(seconds)
        self._came: deque[Message] = deque()
        self._got = bytearray()
        self._lost = 0  # bytes of a long packet that are gone already
        self._number = 0
        self._where = f"{host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), seconds)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if ca:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.load_verify_locations(cadata=certificate.read(ca))
                self._socket = context.wrap_socket(self._socket, server_hostname=host)
            flags = 2 | (0x80 if user else 0) | (0x40 if password else 0)
            texts = ["", *([user] if user else []), *([password] if password else [])]
            hello = b"\0\4MQTT\4" + struct.pack(">BH", flags, 0)  # for as long as it takes
            self._send(0x10, hello + b"".join(map(_text, texts)))
            kind, answer = self._packet(seconds)
        except (OSError, ValueError) as error:
            raise UserError(f"there is no broker at {host}:{port}: {error}") from None
        if kind != 0x20 or len(answer) != 2 or answer[1]:
            code = answer[1] if len(answer) == 2 else 0
            why = _REFUSALS.get(code, f"it answers {code}")
            raise UserError(f"the broker at {host}:{port} does not let us in: {why}")

    def __enter__(self) -> Broker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(UserError):
            self._send(0xE0, b"")
        self._socket.close()

    def publish(self, topic: str, data: bytes, *, retain: bool = False) -> None:
        """Send a message; returns once the broker has it."""
        self._number += 1
        number = struct.pack(">H", self._number)
        self._send(0x32 | retain, _text(topic) + number + data)
        self._until(0x40, number)

    def publish_once(self, topic: str, data: bytes, *, retain: bool = False) -> None:
        """Send a message with QoS 0, without waiting for anything."""
        self._send(0x30 | retain, _text(topic) + data)

    def subscribe(self, *topics: str) -> None:
        """From now on, messages at these come."""
        self._ask(0x82, 0x90, b"".join(_text(topic) + b"\1" for topic in topics))

    def receive(self, seconds: float) -> Message | None:
        """The next message; None if none comes within so many seconds. Raises UserError."""
        end = time.monotonic() + seconds
        while not self._came:
            left = end - time.monotonic()
            if left <= 0:
                return None
            try:
                self._take(*self._packet(left))
            except TimeoutError:
                return None
            except OSError as error:
                raise self._gone(error) from None
        return self._came.popleft()

    def retained(self, *topics: str) -> Iterator[Message]:
        """All that the broker has kept at these, which subscribes to none. Raises UserError."""
        self.subscribe(*topics)
        told = True
        while told:
            self._send(0xC0, b"")  # what it answers comes behind what it had to tell
            self._until(0xD0, b"")
            came = self.receive(_SILENCE)
            told = came is not None
            while came:
                if came.retained:
                    yield came
                came = self._came.popleft() if self._came else None
        self._ask(0xA2, 0xB0, b"".join(map(_text, topics)))

    def _ask(self, kind: int, answer: int, body: bytes) -> None:
        """Send a packet that has a number, and wait for its answer."""
        self._number += 1
        number = struct.pack(">H", self._number)
        self._send(kind, number + body)
        self._until(answer, number)

    def _until(self, wanted: int, start: bytes) -> None:
        """Wait for a packet of that kind whose body starts so."""
        try:
            while True:
                kind, body = self._packet(self._seconds)
                if kind == wanted and body.startswith(start):
                    return
                self._take(kind, body)
        except OSError as error:
            raise self._gone(error) from None

    def _gone(self, error: OSError) -> UserError:
        return UserError(f"the broker at {self._where} is gone: {error}")

    def _no_broker(self) -> UserError:
        return UserError(f"what answers at {self._where} is no MQTT broker")

    def _take(self, kind: int, body: bytes) -> None:
        if kind >> 4 != 3:
            return
        size = 2 + int.from_bytes(body[:2], "big")
        start = size + 2 * (kind >> 1 & 3 > 0)
        if len(body) < start:
            raise self._no_broker()
        if kind >> 1 & 3:
            self._send(0x40, body[size:start])
        topic = body[2:size].decode(errors="replace")
        self._came.append(Message(topic, body[start:], bool(kind & 1)))

    def _send(self, kind: int, body: bytes) -> None:
        size, length = len(body), b""
        while True:
            length += bytes((size & 127 | (128 if size > 127 else 0),))
            size >>= 7
            if not size:
                break
        try:
            self._socket.sendall(bytes((kind,)) + length + body)
        except OSError as error:
            raise self._gone(error) from None

    def _packet(self, seconds: float) -> tuple[int, bytes]:
        """The next packet: its first byte and its body."""
        end = time.monotonic() + seconds
        while True:
            found = self._whole()
            if found:
                return found
            self._socket.settimeout(max(end - time.monotonic(), 0.001))
            data = self._socket.recv(65536)
            if not data:
                raise ConnectionResetError("it has closed the line")
            self._got += data

    def _whole(self) -> tuple[int, bytes] | None:
        """The same, if it is there: what came of it so far is lost beyond _KEPT bytes."""
        size = shift = 0
        for at, byte in enumerate(self._got[1:5], 2):
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                kept = at + min(size, _KEPT)
                over = size - (kept - at)
                gone = min(len(self._got) - kept, over - self._lost)
                if gone > 0:
                    del self._got[kept : kept + gone]
                    self._lost += gone
                if len(self._got) < kept or self._lost < over:
                    return None
                body, kind = bytes(self._got[at:kept]), self._got[0]
                del self._got[:kept]
                self._lost = 0
                return kind, body
        if len(self._got) > 4:
            raise self._no_broker()
        return None


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">H", len(data)) + data
