"""The wireless network that a program joins, and sockets that never wait.

Where the system has a network of its own, there is nothing to join.
"""

import micropython
from micropython import const

_PATIENCE = const(20000)  # milliseconds for one attempt to join
_TICKS = const(1073741823)


class Wifi:
    """Joins a network, and joins it again after it was lost.

    board has station(), see hardware.py. login is [name, password], or None for no network.
    """

    def __init__(self, board, login):
        self._station = board.station() if login else None
        self._login = login
        self._clock = board.milliseconds
        self._began = -1  # when the last attempt to join began; -1: there is none

    def joined(self):
        """Whether the board is in the network; if not, have it try to join, without waiting."""
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
    """Write as much of data[at : end] as the socket takes; returns where the rest begins."""
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
