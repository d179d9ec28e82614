"""A broker that attacks the PC that fetches packets from it.

    python tests/support/hostile_to_pc.py --lines 400 --seed 1

It answers as MQTT prescribes, except for tricks that a seed draws: topics without a subscription,
tens of thousands of messages, endless messages, forged lengths, random bytes, silence, a closed
connection. Each command has to end with a one-line error or with nothing learned, soon and with
little memory. Prints the number of connections that passed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import random
import resource
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from packet_support import saved_model

from microshrub_tools.cli.main import main as run
from microshrub_tools.link import broker

CONNECT, PUBLISH, SUBSCRIBE, UNSUBSCRIBE, PING = 1, 3, 8, 10, 12
PATIENCE = 0.3  # seconds that the broker may be silent, instead of 10
MOST_MEGABYTES = 300
MOST_SECONDS = 60
Pieces = Iterator[bytes]
Trick = Callable[[random.Random], Pieces]


def packet(kind: int, body: bytes, length: int | None = None) -> bytes:
    """Return a packet, whose length may be forged."""
    left = len(body) if length is None else length
    digits = bytearray()
    while True:
        digits.append(left & 127 | (128 if left > 127 else 0))
        left >>= 7
        if not left:
            return bytes((kind,)) + bytes(digits) + body


def message(topic: str, data: bytes = b"", kind: int = 0x31) -> bytes:
    """Return a retained message."""
    return packet(kind, struct.pack(">H", len(topic)) + topic.encode() + data)


def odd_topics(draw: random.Random) -> Pieces:
    for topic in ("x", "", "/", "+", "a/b", "microshrub-packet", "\x1b[2J", "x/" * 9000):
        yield message(topic, draw.randbytes(9))


def many_topics(draw: random.Random) -> Pieces:
    for first in range(0, 66_000, 1000):
        numbers = range(first, first + 1000)
        yield b"".join(message(f"microshrub-packet/g/c{k}/b") for k in numbers)


def odd_names(draw: random.Random) -> Pieces:
    for name in ("%1b[2J", "%", "a%0ab", "%ff", ""):
        yield message(f"microshrub-packet/g/{name}/b", draw.randbytes(40))


def endless_messages(draw: random.Random) -> Pieces:
    some = message("microshrub-packet/g/c/b", bytes(60_000))
    return itertools.repeat(some)


def one_endless(draw: random.Random) -> Pieces:
    yield packet(0x31, b"", (1 << 28) - 1) + b"\0\1x"
    yield from itertools.repeat(bytes(1 << 16))


def in_drops(draw: random.Random) -> Pieces:
    yield packet(0x31, b"", (1 << 28) - 1) + b"\0\1x"
    while True:
        time.sleep(0.05)
        yield b"\0"


def forged(draw: random.Random) -> Pieces:
    topic = draw.choice((b"", b"\xff\0", b"microshrub-packet/g/c/b"))
    size = draw.choice((len(topic), 65535, 0))
    body = struct.pack(">H", size) + topic + draw.randbytes(draw.choice((0, 1, 2, 50)))
    length = draw.choice((None, 0, 1, len(body) + 1, 1 << 20, (1 << 28) - 1))
    yield packet(draw.randrange(256), body, length)


def unlike_mqtt(draw: random.Random) -> Pieces:
    yield draw.choice((b"HTTP/1.1 400 Bad\r\n\r\n", b"\xff" * 20, draw.randbytes(3000)))


def nothing(draw: random.Random) -> Pieces:
    return iter(())


TRICKS: tuple[Trick, ...] = (
    odd_topics, many_topics, odd_names, endless_messages, one_endless, in_drops, forged,
    unlike_mqtt, nothing,
)  # fmt: skip


class HostileBroker:
    """A broker at `port`; `trick` comes before the answers to packets of the kinds `at`."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._listens = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listens.getsockname()[1]
        self.trick: Trick = nothing
        self.at: tuple[int, ...] = (SUBSCRIBE,)
        self.then = "answers"  # or "closes", or "is silent"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            line, _ = self._listens.accept()
            with line, contextlib.suppress(OSError, ValueError):
                line.settimeout(MOST_SECONDS)
                self._talk(line, line.makefile("rb"))

    def _talk(self, line: socket.socket, heard: Any) -> None:
        while first := heard.read(1):
            size = shift = 0
            while (digit := heard.read(1)[0]) > 127:
                size |= (digit & 127) << shift
                shift += 7
            body = heard.read(size | digit << shift)
            kind = first[0] >> 4
            if kind in self.at:
                for piece in self.trick(self._draw):
                    line.sendall(piece)
                if self.then == "closes":
                    return
                if self.then == "is silent":
                    heard.read()
            line.sendall(self._answer(kind, first[0], body))

    def _answer(self, kind: int, first: int, body: bytes) -> bytes:
        if kind == PUBLISH and first & 6:
            start = 2 + int.from_bytes(body[:2], "big")
            return packet(0x40, body[start : start + 2])
        return {
            CONNECT: packet(0x20, b"\0\0"),
            SUBSCRIBE: packet(0x90, body[:2] + b"\1"),
            UNSUBSCRIBE: packet(0xB0, body[:2]),
            PING: packet(0xD0, b""),
        }.get(kind, b"")


def commands(folder: Path, port: int) -> list[list[str]]:
    """Return all commands that connect to a broker."""
    where = ["--mqtt", f"127.0.0.1:{port}", "--group", "g"]
    model, more = str(saved_model(folder / "own.mshrub", (0, 1), 2)), str(folder / "more.mshrub")
    return [
        ["share", "import", model, *where, "-o", more],
        ["share", "forget", *where, "--origin", "b"],
        ["share", "forget", model, *where, "--origin", "b", "-o", more],
        ["share", "export", model, "--classes", "all", *where],
        ["mqtt", "forget", "b", *where[:2]],
    ]


def withstands(words: list[str]) -> str:
    """Run a command; return the fault in its exit code, its output or its time, or ""."""
    out, err = io.StringIO(), io.StringIO()
    began = time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    text = err.getvalue()
    if code not in (0, 1, 2):
        return f"exit code {code}: {text[-500:]}"
    if "Traceback" in text or "Error:" in text or "bug" in text or "\x1b" in text + out.getvalue():
        return text[-1000:]
    if len(text.splitlines()) > 25:
        return f"{len(text.splitlines())} lines"
    seconds = time.monotonic() - began
    return f"{seconds:.0f} seconds" if seconds > MOST_SECONDS else ""


def main() -> int:
    """Run the attack; return 1 if a command did not withstand it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    broker.patience = lambda seconds: PATIENCE
    with tempfile.TemporaryDirectory() as name:
        there = HostileBroker(draw)
        choices = commands(Path(name), there.port)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(arguments.lines):
            there.trick = draw.choice(TRICKS)
            there.at = tuple(draw.sample((CONNECT, PUBLISH, SUBSCRIBE, UNSUBSCRIBE, PING), 2))
            there.then = draw.choice(("answers", "answers", "closes", "is silent"))
            words = draw.choice(choices)
            wrong = withstands(words)
            if wrong:
                print(there.trick.__name__, there.at, there.then, words, wrong, file=sys.stderr)
                return 1
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    assert grown < MOST_MEGABYTES, f"{grown} MB"
    print(f"{arguments.lines:,} passed: refused in a line, in at most {grown} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
