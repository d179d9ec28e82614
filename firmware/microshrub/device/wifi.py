"""The wireless network that a program joins; a system with a network of its own is left alone."""

from micropython import const

_PATIENCE = const(20000)  # milliseconds for one attempt to join
_TICKS = const(1073741823)


class Wifi:
    """Joins a network of that name, with that password, and joins it again when it is lost.

    board has station(), see hardware.py. login is [name, password], or None for no network.
    """

    def __init__(self, board, login):
        self._station = board.station() if login else None
        self._login = login
        self._clock = board.milliseconds
        self._began = -1  # when it tried to join

    def joined(self):
        """Whether the board is in it; if not, have the radio try, without waiting for it."""
        if not self._station or self._station.isconnected():
            self._began = -1
            return True
        now = self._clock()
        if self._began < 0 or (now - self._began) & _TICKS > _PATIENCE:
            self._began = now
            try:
                self._station.active(True)
                self._station.connect(*self._login)
            except OSError:  # it is busy, or has failed: the next attempt comes
                pass
        return False

    def own_address(self):
        """The board's address in it; that of all networks where the system has its own."""
        return self._station.ifconfig()[0] if self._station else "0.0.0.0"
