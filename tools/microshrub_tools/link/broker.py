"""A PC's client of an MQTT 3.1.1 broker, which blocks: for commands, not for boards.

The broker is not trusted: its data for a request are limited in bytes, messages and time, and a
message at a topic without a subscription is dropped.
"""

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

from microshrub_host.base.child_process import patience
from microshrub_host.base.errors import UserError

from . import certificate

PORT, TLS_PORT = 1883, 8883
_KEPT = 1 << 17  # bytes of a packet; the rest of a longer one is read and dropped
_MOST_BYTES = 1 << 25  # bytes of an answer: packets of 100 classes by 8 boards
_MOST_MESSAGES = 10_000  # messages retained at the topics of a request
_MOST_ASKED = 20  # pings in a row that may bring more messages
_MOST_SILENCES = 6  # a request may take this many times the broker's longest silence
_SILENCE = 0.2  # seconds: a broker may send retained messages after its next answer
_REFUSALS = dict.fromkeys((4, 5), "the user or the password is wrong")  # mosquitto answers 5


@dataclass(frozen=True)
class Message:
    """A message at a topic; `retained` if the broker had stored it.

    `data` has only the beginning of a long message, less than 128 KB.
    """

    topic: str
    data: bytes
    retained: bool


class Broker:
    """An open connection. Raises UserError if there is no broker, or if it refuses the login."""

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
        self._filters: tuple[str, ...] = ()
        self._got = bytearray()
        self._lost = 0  # bytes of a long packet that were dropped
        self._number = 0
        self._where = f"{host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), seconds)
        except (OSError, ValueError) as error:
            raise self._none(error) from None
        try:
            self._greet(host, user, password, ca)
        except BaseException as error:
            self._socket.close()
            if isinstance(error, (OSError, ValueError)):
                raise self._none(error) from None
            raise

    def _greet(self, host: str, user: str, password: str, ca: Path | None) -> None:
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if ca:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.load_verify_locations(cadata=certificate.read(ca))
            self._socket = context.wrap_socket(self._socket, server_hostname=host)
        flags = 2 | (0x80 if user else 0) | (0x40 if password else 0)
        texts = ["", *([user] if user else []), *([password] if password else [])]
        hello = b"\0\4MQTT\4" + struct.pack(">BH", flags, 0)  # no keep-alive
        self._begin()
        self._send(0x10, hello + b"".join(map(_text, texts)))
        kind, answer = self._packet(self._seconds)
        if kind != 0x20 or len(answer) != 2 or answer[1]:
            code = answer[1] if len(answer) == 2 else 0
            why = _REFUSALS.get(code, f"it answers {code}")
            raise UserError(f"the broker at {self._where} does not let us in: {why}")

    def _none(self, error: Exception) -> UserError:
        return UserError(f"there is no broker at {self._where}: {error}")

    def __enter__(self) -> Broker:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(UserError):
            self._send(0xE0, b"")
        self._socket.close()

    def publish(self, topic: str, data: bytes, *, retain: bool = False) -> None:
        """Send a message; return once the broker has it."""
        self._begin()
        number = self._next_number()
        self._send(0x32 | retain, _text(topic) + number + data)
        self._until(0x40, number)

    def publish_once(self, topic: str, data: bytes, *, retain: bool = False) -> None:
        """Send a message with QoS 0, without waiting for an answer."""
        self._send(0x30 | retain, _text(topic) + data)

    def subscribe(self, *topics: str) -> None:
        """Subscribe to topics: from now on, receive() returns their messages."""
        self._begin()
        self._subscribe(*topics)

    def _subscribe(self, *topics: str) -> None:
        self._filters += topics
        self._ask(0x82, 0x90, b"".join(_text(topic) + b"\1" for topic in topics))

    def receive(self, seconds: float) -> Message | None:
        """Return the next message; None if none arrives within `seconds`. Raises UserError."""
        self._begin()
        end = time.monotonic() + seconds
        return self._receive(end)

    def _receive(self, end: float) -> Message | None:
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
        """Yield the retained messages at topics, and subscribe to none. Raises UserError."""
        self._begin()
        before = self._filters
        self._subscribe(*topics)
        more, number, asked = True, 0, 0
        while more:
            asked += 1
            if asked > _MOST_ASKED:
                raise self._too_much("more whenever it is asked")
            self._send(0xC0, b"")  # the broker sends its messages before it answers this
            self._until(0xD0, b"")
            came = self._receive(time.monotonic() + _SILENCE)
            more = came is not None
            while came:
                number += 1
                if number > _MOST_MESSAGES:
                    raise UserError(
                        f"the broker at {self._where} has more than {_MOST_MESSAGES:,} messages "
                        f"at {', '.join(topics)}"
                    )
                if came.retained:
                    yield came
                came = self._came.popleft() if self._came else None
        self._filters = before
        self._ask(0xA2, 0xB0, b"".join(map(_text, topics)))

    def _begin(self) -> None:
        """Begin a request: reset its limits of time and bytes."""
        self._deadline = time.monotonic() + _MOST_SILENCES * self._seconds
        self._spare = _MOST_BYTES

    def _next_number(self) -> bytes:
        self._number = self._number % 0xFFFF + 1  # 0 is not a number
        return struct.pack(">H", self._number)

    def _ask(self, kind: int, answer: int, body: bytes) -> None:
        """Send a packet with a number, and wait for the broker's answer."""
        number = self._next_number()
        self._send(kind, number + body)
        self._until(answer, number)

    def _until(self, wanted: int, start: bytes) -> None:
        """Wait for a packet of that kind whose body begins with `start`."""
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

    def _too_much(self, what: str) -> UserError:
        return UserError(f"the broker at {self._where} sends {what} for one request")

    def _take(self, kind: int, body: bytes) -> None:
        if kind >> 4 != 3:
            return
        if kind & 6 == 6:
            raise self._no_broker()
        size = 2 + int.from_bytes(body[:2], "big")
        start = size + 2 * (kind >> 1 & 3 > 0)
        if len(body) < start:
            raise self._no_broker()
        if kind >> 1 & 3:
            self._send(0x40, body[size:start])
        topic = body[2:size].decode(errors="replace")
        if any(matches(each, topic) for each in self._filters):
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
        """Return the next packet: its first byte and its body."""
        end = time.monotonic() + seconds
        while True:
            result = self._whole()
            if result:
                return result
            now = time.monotonic()
            if now > self._deadline:
                raise self._too_much(f"for more than {_MOST_SILENCES * self._seconds:g} seconds")
            if now > end and self._got:
                raise TimeoutError("timed out")
            self._socket.settimeout(max(end - now, 0.001))
            data = self._socket.recv(65536)
            if not data:
                raise ConnectionResetError("it has closed the line")
            self._spare -= len(data)
            if self._spare < 0:
                raise self._too_much(f"more than {_MOST_BYTES:,} bytes")
            self._got += data

    def _whole(self) -> tuple[int, bytes] | None:
        """Return the next packet if it is complete; drop its bytes beyond _KEPT."""
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


def matches(wanted: str, topic: str) -> bool:
    """Return whether a filter matches a topic: `+` is any level, `#` at the end all that follow.

    A topic with such a letter, or one that is not in UTF-8, matches no filter.
    """
    if any(letter in topic for letter in "+#\0\ufffd"):
        return False
    names, levels = wanted.split("/"), topic.split("/")
    if names[-1] == "#":
        names = names[:-1]
        levels = levels[: len(names)]
    return len(names) == len(levels) and all(
        name in ("+", level) for name, level in zip(names, levels, strict=True)
    )


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">H", len(data)) + data
