"""Carries datagrams to all boards in reach: by UDP in a local network, or by ESP-NOW without any.

A carrier has open(), which returns an error's text or nothing; `is_open`; take(), which puts a
datagram at the beginning of `body` and returns its bytes, 0 for none; give(datagram), which may
lose it; close(). It waits for no other board, and once it is open, it allocates nothing.
"""

import socket

from micropython import const

from .networking import close

_BYTES = const(250)  # of a datagram; readinto() reads on behind a shorter one: both are lost
_BROADCAST = const(32)  # SO_BROADCAST, where MicroPython has no name for it

_open = []  # type: list  # sockets of a program that ended; the next one closes them

_MOST = const(1470)  # bytes of ESP-NOW's second version; the first one has 250
_ALL = b"\xff\xff\xff\xff\xff\xff"  # the address of all boards in reach


class UdpCarrier:
    """UDP from a port of the board to an address, [host, port], once wifi is in a network."""

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
