"""Carries packets by ESP-NOW, from board to board, where there is no network: of ESP32s.

It does what packets_udp.py does. All boards of a group have to be on one channel of the radio.
"""

from micropython import const

_MOST = const(1470)  # bytes of ESP-NOW's second version; the first one has 250
_ALL = b"\xff\xff\xff\xff\xff\xff"  # the address of all boards in reach


class EspNowCarrier:
    """By the radio, on that channel. board has station(), see hardware.py."""

    def __init__(self, board, channel):
        self._data = [bytearray(6), bytearray(_MOST)]  # whose a packet is, and the packet
        self.body = self._data[1]  # of which recvinto() changes the length
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
        except OSError:  # it was there
            pass

    def take(self):
        """Bytes of what has come, one packet."""
        if self.is_open and self._radio.any():  # type: ignore[union-attr]
            return self._radio.recvinto(self._data, 0)  # type: ignore[union-attr]
        return 0

    def give(self, packet):
        """Send it, without waiting for whoever hears it."""
        try:
            if self.is_open:
                self._radio.send(_ALL, packet, False)  # type: ignore[union-attr]
        except OSError:  # the radio is busy: it is lost
            pass

    def close(self):
        """Switch ESP-NOW off."""
        self.is_open = False
        if self._radio:
            self._radio.active(False)
