"""A hostile broker: forged lengths, invalid packets, random bytes.

    python tests/support/hostile_broker.py --packets 100000 --seed 1

A board, the real program on a 32-bit MicroPython, reads its sensor at the same time. It must keep
running with nothing learned, and accept an honest greeting afterwards. Prints the number of
packets that passed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import socket
import struct
import sys
import tempfile
from pathlib import Path

from device_support import Device, connected
from mqtt_support import put_mqtt, settings
from patience import PATIENCE
from recorded_board import observe

from microshrub_host.base.micropython_binary import find_or_fetch
from microshrub_tools.link.messages import STATUS, DeviceStatus

GREETING = b"\x20\x02\0\0"
LINE = 200  # packets on a connection, unless the board closes it earlier
TOPICS = (
    b"microshrub/kitchen/label/set",
    b"microshrub/kitchen/answer/set",
    b"microshrub/kitchen/name/set",
    b"microshrub/kitchen/",
    b"homeassistant/status",
    b"",
    b"\xff\0",
)


def packet(draw: random.Random) -> bytes:
    """Return a packet that may be well formed, and hardly ever has a meaning."""
    topic = draw.choice(TOPICS)
    text = draw.randbytes(draw.choice((0, 1, 8, 40, 300)))
    kind = draw.choice((0x30, 0x31, 0x32, 0x3A, 0x34, 0x40, 0x90, 0xD0, draw.randrange(256)))
    number = draw.randbytes(2) if kind & 6 else b""
    size = len(topic) if draw.random() < 0.8 else draw.randrange(65536)
    body = struct.pack(">H", size) + topic + number + text
    if kind >> 4 != 3:
        body = draw.randbytes(draw.choice((0, 1, 2, 2, 3, 200)))
    length = len(body)
    if draw.random() < 0.05:
        length = draw.choice((0, 1, length + 1, 16384, 16385, 1 << 27))
    digits = bytearray()
    while True:
        digits.append(length & 127 | (128 if length > 127 else 0))
        length >>= 7
        if not length:
            break
    return bytes((kind,)) + bytes(digits) + body


def attack(listens: socket.socket, heard: int, packets: int, draw: random.Random) -> int:
    """Serve connections until `packets` packets are sent; return the number of connections.

    The board's output, at the file descriptor `heard`, is read at the same time.
    """
    listens.settimeout(PATIENCE)
    sent = lines = 0
    while sent < packets:
        board, _ = listens.accept()
        lines += 1
        with contextlib.suppress(BlockingIOError):
            os.read(heard, 65536)
        with board, contextlib.suppress(OSError):
            board.settimeout(5)
            board.sendall(GREETING if draw.random() < 0.9 else draw.randbytes(4))
            for _ in range(LINE):
                sent += 1
                board.sendall(packet(draw))
                board.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while board.recv(65536):
                        pass
                board.settimeout(5)
    return lines


def main() -> int:
    """Run the attack; fail if a packet had an effect or a sample was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as listens:
        folder = Path(name)
        put_mqtt(folder, settings(listens.getsockname()[1]), times=100)
        with Device(find_or_fetch().command, folder, "256k") as device:
            heard = os.open(device.port, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
            lines = attack(listens, heard, arguments.packets, random.Random(arguments.seed))
            os.close(heard)
            with connected(device) as link:
                observe(link, 50)
                status = link.ask(STATUS)
            assert isinstance(status, DeviceStatus)
            assert status.samples == 0, "something was learned"
            assert device.process.poll() is None
    print(f"{arguments.packets:,} passed on {lines:,} lines: nothing in, nothing lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
