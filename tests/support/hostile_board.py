"""A board on a pty that sends a test's messages: another program's, or damaged ones."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import struct
import threading
import tty
import zlib
from collections.abc import Iterator
from typing import Any

from microshrub_tools.link.frames import Frame, Splitter, pack
from microshrub_tools.link.messages import HELLO, OBSERVED, WELCOME

# Its answers to requests 6 and above, unless the test gives others: kind and payload
STATE, COUNTS, TEXT, ANOMALY, ERRORS, QUERY, CLASS, DONE = 133, 132, 135, 136, 137, 138, 139, 130
GOOD = {
    "status": (
        STATE,
        struct.pack("<18i", 100, 90, 900_000, 5, 6, 7, 8000, 9000, 0, 0, 9, *[0] * 7),
    ),
    "anomaly": (ANOMALY, struct.pack("<3i", 1, 2, 3)),
    "regression": (ERRORS, struct.pack("<8i", 1, 2, 3, 0, 5, 0, 7, 2)),
    "queries": (QUERY, struct.pack("<5i", 7, 1, 3, 100, 2)),
}
_REQUESTS = {
    6: "status",
    7: "confusion",
    11: "text",
    12: "anomaly",
    13: "regression",
    14: "queries",
}
_CLASSES = 15


def observed(
    label: int = 1, known: int = 1, values: tuple[int, ...] = (3, 4), form: bytes = b""
) -> bytes:
    """Return the payload of an observation."""
    return struct.pack("<HBB", 0, label, 50) + form + struct.pack("<H2i", known, *values[:2])


def class_state(number: int, stands_for: int, name: bytes = b"walk") -> bytes:
    """Return the payload of a class's state."""
    return struct.pack("<BBBBBBBH", number, 1, stands_for, 0, 4, 1, 2, 0) + name


class HostileBoard:
    """Serves the board's end of the link in a thread; a PC opens `port`.

    config: config.json, as bytes or fields. answers: kind and payload, by the request's name;
    `classes` gives the state of class 0 for all. A row of the confusion matrix has a count for
    each class. seen: an observation, sent again and again. text: other output, sent between the
    answers.
    """

    def __init__(
        self,
        config: bytes | dict[str, Any] = b"{}",
        *,
        features: int = 2,
        classes: int = 2,
        answers: dict[str, tuple[int, bytes]] | None = None,
        seen: bytes | None = None,
        text: bytes = b"",
    ) -> None:
        self._config = config if isinstance(config, bytes) else json.dumps(config).encode()
        self._shape = features, classes
        row = struct.pack("<i", 50) * classes
        self._answers = GOOD | {"confusion": (COUNTS, row)} | (answers or {})
        self._seen, self._text = seen, text
        self._session = self._number = 0
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self.port = os.ttyname(self._slave)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        os.close(self._master)
        os.close(self._slave)

    def _run(self) -> None:
        splitter = Splitter()
        while not self._stop.is_set():
            if not select.select([self._master], [], [], 0.02)[0]:
                self._by_itself()
                continue
            for part in splitter.feed(os.read(self._master, 4096)):
                if isinstance(part, Frame):
                    self._answer(part)

    def _by_itself(self) -> None:
        self._send(self._text)
        if self._session and self._seen is not None:
            self._number += 1
            self._send(pack(Frame(OBSERVED, self._session, self._number, self._seen, 8)))

    def _send(self, data: bytes) -> None:
        if data and select.select([], [self._master], [], 0)[1]:  # the other end may not read
            os.write(self._master, data)

    def _answer(self, asked: Frame) -> None:
        kind, payload = 143, b"\5no"
        if asked.kind == HELLO:
            self._session, self._number = asked.session, 0
            shape = struct.pack("<IHHHH", zlib.crc32(self._config), *self._shape, 200, 1)
            kind, payload = WELCOME, shape
        elif asked.kind == _CLASSES:
            state = class_state(asked.payload[1], asked.payload[1])
            kind, payload = self._answers.get("classes", (CLASS, state))
        elif _REQUESTS.get(asked.kind) == "text":
            (at,) = struct.unpack("<H", asked.payload)
            kind, payload = TEXT, self._config[at : at + 200]
        elif asked.kind in _REQUESTS:
            kind, payload = self._answers[_REQUESTS[asked.kind]]
        self._send(pack(Frame(kind, asked.session, asked.sequence, payload, 8)))


@contextlib.contextmanager
def hostile(*given: Any, **options: Any) -> Iterator[str]:
    """The port of a hostile board."""
    board = HostileBoard(*given, **options)
    try:
        yield board.port
    finally:
        board.close()
