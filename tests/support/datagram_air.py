"""The air between boards that share by datagrams: UDP ports on loopback, and bad weather.

Each board sends to the air's port. The air passes each datagram on to the ports of the other
boards: late, twice, in another order, altered, or not at all. It keeps datagrams, to send old
ones again.
"""

from __future__ import annotations

import hmac
import json
import random
import select
import socket
import struct
import threading
from binascii import crc32
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from device_support import Device, put_device
from mqtt_support import fast
from packet_receiver import group_config
from packet_support import NAMES

KEY = bytes(range(32))
LONG_NAMES = tuple(name * 150 for name in NAMES)  # so that a packet has more than one part
MARK = (1 << 30) - 1  # bits of a CRC32 in a datagram


@dataclass(frozen=True)
class Weather:
    """The probability that a datagram is lost, doubled, late, altered, or repeated."""

    lost: float = 0.0
    twice: float = 0.0
    late: float = 0.0
    altered: float = 0.0
    old: float = 0.0


class Air:
    """Carries datagrams between the ports of boards, until it is closed."""

    def __init__(self, weather: Weather, seed: int = 1) -> None:
        self.weather = weather
        self.heard: list[bytes] = []  # all datagrams that boards have sent
        self._dice = random.Random(seed)
        self._late: list[bytes] = []
        self._ports: list[int] = []
        self._socket = _bound()
        self.port = self._socket.getsockname()[1]
        self._ends = False
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def new_port(self) -> int:
        """Return a port at which another board listens."""
        with _bound() as probe:
            self._ports.append(int(probe.getsockname()[1]))
        return self._ports[-1]

    def say(self, datagram: bytes) -> None:
        """Send a datagram to all boards; as with a broadcast, its sender receives it, too."""
        for port in self._ports:
            self._socket.sendto(datagram, ("127.0.0.1", port))

    def close(self) -> None:
        self._ends = True
        self._thread.join()
        self._socket.close()

    def _carry(self) -> None:
        while not self._ends:
            if not select.select([self._socket], [], [], 0.05)[0]:
                continue
            try:
                datagram = self._socket.recv(2048)
            except OSError:  # no board listens at a port
                continue
            self.heard.append(datagram)
            for each in self._become(datagram):
                self.say(each)

    def _become(self, datagram: bytes) -> list[bytes]:
        dice, weather = self._dice, self.weather
        datagrams = [] if dice.random() < weather.lost else [datagram]
        if dice.random() < weather.twice:
            datagrams.append(datagram)
        if dice.random() < weather.late:
            self._late += datagrams
            datagrams = []
        elif self._late:
            datagrams.append(self._late.pop(0))
        if dice.random() < weather.altered:
            datagrams += [altered(datagram, dice)]
        if dice.random() < weather.old:
            datagrams.append(dice.choice(self.heard))
        return datagrams


def parts_of(data: bytes, name: str, key: bytes = KEY) -> list[bytes]:
    """Return the datagrams of a packet of the class with that name."""
    whole = struct.unpack("<I", data[-4:])[0]
    return [
        datagram(1, name, struct.pack("<IHH", whole & MARK, len(data), part), piece, key)
        for part, at in enumerate(range(0, len(data), 218))
        if (piece := data[at : at + 218])
    ]


def datagram(kind: int, name: str, head: bytes, data: bytes = b"", key: bytes = KEY) -> bytes:
    """Return a datagram, signed with the key."""
    mark = struct.pack("<I", crc32(name.encode()) & MARK)
    body = (b"mp\1" + bytes((kind,)) + mark + head + data).ljust(234, b"\0")
    return body + hmac.digest(key, body, "sha256")[:16]


def altered(datagram: bytes, dice: random.Random) -> bytes:
    """Return the datagram with another byte, cut, longer, or replaced by random bytes."""
    which = dice.randrange(4)
    if which == 0:
        return datagram[: dice.randrange(len(datagram))]
    if which == 1:
        return datagram + dice.randbytes(dice.randrange(1, 300))
    if which == 2:
        return dice.randbytes(250)
    at = dice.randrange(len(datagram))
    return datagram[:at] + bytes((datagram[at] ^ dice.randrange(1, 256),)) + datagram[at + 1 :]


def _bound() -> socket.socket:
    connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    connection.bind(("127.0.0.1", 0))
    return connection


def settings(air: Air, name: str, shared: tuple[int, ...]) -> dict[str, Any]:
    """Return the config.json of a board of the group."""
    datagrams = {"by": "udp", "port": air.new_port(), "to": ["127.0.0.1", air.port]}
    return group_config(name, shared, LONG_NAMES, datagrams=datagrams)


ESPNOW = """
import socket

MAX_DATA_LEN = 1470

def _made(port):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setblocking(False)
    return made, socket.getaddrinfo("127.0.0.1", port, 0, socket.SOCK_DGRAM)[0][-1]

class Station:
    is_active = channel = None
    def active(self, on):
        self.is_active = on
    def config(self, channel):
        assert self.is_active
        self.channel = channel

station = Station()

class ESPNow:
    def __init__(self):
        self._peers = []
        self._has = None
    def active(self, on):
        assert station.is_active and station.channel == 6
        if on:
            self._in, address = _made(%d)
            self._in.bind(address)
            self._out, self._to = _made(%d)
        else:
            self._in.close()
    def add_peer(self, mac):
        if mac in self._peers:
            raise OSError(-12395, "ESP_ERR_ESPNOW_EXIST")
        self._peers.append(mac)
    def any(self):
        if self._has is None:
            try:
                self._has = self._in.recv(MAX_DATA_LEN)
            except OSError:
                pass
        return self._has is not None
    def recvinto(self, data, timeout):
        assert timeout == 0 and len(data) == 2
        if len(data[1]) < len(self._has):
            data[1].extend(bytes(len(self._has) - len(data[1])))
        n = len(self._has)
        data[1][:] = self._has
        data[0] = b"abcdef"
        self._has = None
        return n
    def send(self, mac, message, sync):
        assert mac in self._peers and sync is False and len(message) <= 250
        self._out.sendto(message, self._to)
        return True
"""
_STATION = """
    def station(self):
        import espnow
        return espnow.station
"""


def put_board(
    command: tuple[str, ...],
    folder: Path,
    config: dict[str, Any],
    key: bytes = KEY,
    radio: tuple[int, int] | None = None,
    **pace: int,
) -> Device:
    """Start the board in a folder, with a clock that runs 16 times as fast.

    radio: the ports at which a simulated module espnow receives and sends. pace is passed to
    fast().
    """
    folder.mkdir()
    put_device(folder, config)
    main = fast(16, **pace)
    if radio:
        (folder / "lib/espnow.py").write_text(ESPNOW % radio)
        main = main.replace("\nmain(", _STATION + "\nmain(")
    (folder / "main.py").write_text(main)
    (folder / "secrets.json").write_text(json.dumps({"group": key.hex()}))
    return Device(command, folder, "256k")
