"""Wi-Fi, sockets that never wait, and carriers of datagrams.

Where the system has a network of its own, there is none to join. Datagrams reach all boards
nearby: by UDP in a local network, or by ESP-NOW without a network.

A carrier has open(), which returns an error's text or nothing; `is_open`; take(), which puts a
datagram at the beginning of `body` and returns its bytes, 0 for none; give(datagram), which may
lose it; close(). It waits for no other board, and once it is open, it allocates nothing.
"""

import socket

import micropython
from micropython import const

_PATIENCE = const(20000)  # milliseconds for one attempt to join
_TICKS = const(1073741823)
_BYTES = const(250)  # of a datagram; readinto() reads on behind a shorter one: both are lost
_BROADCAST = const(32)  # SO_BROADCAST, where MicroPython has no name for it

_open = []  # type: list  # sockets of a program that ended; the next one closes them

_MOST = const(1470)  # bytes of ESP-NOW's second version; the first one has 250
_ALL = b"\xff\xff\xff\xff\xff\xff"  # the address of all boards in reach


class Wifi:
    """Joins a network, and joins it again whenever it is lost.

    board has station(), see hardware.py. login is [name, password], or None for no network.
    """

    def __init__(self, board, login):
        self._station = board.station() if login else None
        self._login = login
        self._clock = board.milliseconds
        self._began = -1  # when the last attempt to join began; -1: there is none

    def joined(self):
        """Return whether the board is in the network; if not, try to join, without waiting."""
        if not self._station or self._station.isconnected():
            self._began = -1
            return True
        now = self._clock()
        if self._began < 0 or (now - self._began) & _TICKS > _PATIENCE:
            self._began = now
            try:
                self._station.active(True)
                self._station.connect(*self._login)
            except OSError:  # the radio is busy, or has failed: the next attempt comes
                pass
        return False

    def own_address(self):
        """The board's address in the network, or 0.0.0.0 where the system has its own network."""
        return self._station.ifconfig()[0] if self._station else "0.0.0.0"


@micropython.viper
def copy(target, at: int, source, start: int, n: int):
    """Copy source[start : start + n] to target[at :], from the first byte on."""
    out = ptr8(target)
    data = ptr8(source)
    for k in range(n):
        out[at + k] = data[start + k]


def send(socket, data, at, end):
    """Write as much of data[at : end] as the socket accepts; returns where the rest begins."""
    while at < end:
        n = socket.write(data, at, end - at)
        if not n:
            break
        at += n
    return at


def close(socket):
    """Close a socket, if there is one."""
    if socket:
        try:  # noqa: SIM105  (MicroPython has no contextlib)
            socket.close()
        except OSError:  # it is closed already
            pass


class UdpCarrier:
    """UDP from a port of the board to an address, [host, port], once wifi has joined."""

    def __init__(self, wifi, port, to):
        self.body = bytearray(_BYTES)
        self.is_open = False
        self._wifi = wifi
        self._port = port
        self._to = to
        self._in = self._out = None

    def open(self):
        """Open a socket for each direction, if there is a network."""
        if not self._wifi.joined():
            return "there is no network yet"
        while _open:
            close(_open.pop())
        try:
            self._in = _made(socket.SO_REUSEADDR)
            self._in.bind(_address("0.0.0.0", self._port))
            self._out = _made(getattr(socket, "SO_BROADCAST", _BROADCAST))
            self._out.connect(_address(*self._to))
        except OSError as error:
            self.close()
            return "the port %d cannot be used: %s" % (self._port, error)
        _open.append(self._in)
        _open.append(self._out)
        self.is_open = True
        return ""

    def take(self):
        """Take the next datagram that has come; returns its bytes, or 0."""
        try:
            return (self._in.readinto(self.body) or 0) if self._in else 0
        except OSError:
            self.close()
        return 0

    def give(self, datagram):
        """Send it."""
        try:
            if self._out:
                self._out.write(datagram)
        except OSError:  # the network is gone, or nobody is at that address
            self.close()

    def close(self):
        """Close both sockets."""
        close(self._in)
        close(self._out)
        self._in = self._out = None
        self.is_open = False


def _made(option):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, option, 1)
    made.setblocking(False)
    return made


def _address(host, port):
    return socket.getaddrinfo(host, port, 0, socket.SOCK_DGRAM)[0][-1]


class EspNowCarrier:
    """ESP-NOW, by the radio of an ESP32 on that channel. board has station(), see hardware.py.

    All boards of a group have to be on one channel.
    """

    def __init__(self, board, channel):
        self._data = [bytearray(6), bytearray(_MOST)]  # the sender's address, and the datagram
        self.body = self._data[1]  # recvinto() changes its length
        self.is_open = False
        self._station = board.station()
        self._channel = channel
        self._radio = None

    def open(self):
        """Switch the radio on."""
        try:
            import espnow  # type: ignore[import-not-found]

            self._station.active(True)
            self._station.config(channel=self._channel)
            self._radio = espnow.ESPNow()
            self._radio.active(True)
            self._add_all()
        except (ImportError, AttributeError):
            return "this board's MicroPython has no module espnow"
        except (OSError, RuntimeError, ValueError) as error:
            return "the radio cannot be used: %s" % error
        self.is_open = True
        return ""

    def _add_all(self):
        try:  # noqa: SIM105  (MicroPython has no contextlib)
            self._radio.add_peer(_ALL)  # type: ignore[union-attr]
        except OSError:  # it was added before
            pass

    def take(self):
        """Take the next datagram that has come; returns its bytes, or 0."""
        if self.is_open and self._radio.any():  # type: ignore[union-attr]
            return self._radio.recvinto(self._data, 0)  # type: ignore[union-attr]
        return 0

    def give(self, datagram):
        """Send it, without waiting for anybody to receive it."""
        try:
            if self.is_open:
                self._radio.send(_ALL, datagram, False)  # type: ignore[union-attr]
        except OSError:  # the radio is busy: it is lost
            pass

    def close(self):
        """Switch ESP-NOW off."""
        self.is_open = False
        if self._radio:
            self._radio.active(False)
