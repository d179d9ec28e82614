"""Carries packets by UDP: to all boards of a local network, and without waiting for any.

A carrier has open(), which returns what went wrong, in words; `is_open`; take(), how many bytes of
a packet came, to the beginning of `body`, 0: none did; give(packet), which may lose it; close().
Once it is open, it allocates nothing. packets_espnow.py has another one.
"""

import socket

from micropython import const

from .sockets import close

_BYTES = const(250)  # of a packet; readinto() reads on behind a shorter one: both are lost
_BROADCAST = const(32)  # SO_BROADCAST, where MicroPython has no name for it

_open = []  # type: list  # sockets of a program that ended; the next one closes them


class UdpCarrier:
    """By a port of the board, to an address, [host, port], once wifi has joined a network."""

    def __init__(self, wifi, port, to):
        self.body = bytearray(_BYTES)
        self.is_open = False
        self._wifi = wifi
        self._port = port
        self._to = to
        self._in = self._out = None

    def open(self):
        """Open both ends, if there is a network."""
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
        """Bytes of what has come, one packet."""
        try:
            return (self._in.readinto(self.body) or 0) if self._in else 0
        except OSError:
            self.close()
        return 0

    def give(self, packet):
        """Send it."""
        try:
            if self._out:
                self._out.write(packet)
        except OSError:  # the network is gone, or nobody is at that address
            self.close()

    def close(self):
        """Let go of the port."""
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
