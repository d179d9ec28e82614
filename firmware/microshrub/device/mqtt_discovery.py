"""Announces the board to Home Assistant by MQTT discovery; unloaded once it has done so.

The PC writes whole packets to discovery.bin, see discovery_messages.py: the subscriptions of the
board, the retained messages by which Home Assistant finds it, and its status. Before each piece
stand two bytes, big-endian: its size, below 2**14, and two bits: whether the packet continues
after it, and whether it stands for the name of a class. The size is then the bytes that the packet
reserves for the name: names may change, while a packet has its size at its beginning. Unused bytes
become spaces at the packet's end, up to 128 for each piece of size 0 that stands for a name.
"""

from micropython import const

_MORE = const(0x4000)  # the packet goes on
_NAME = const(0x8000)  # no bytes follow: the name of the next class comes here, or spaces
_SIZE = const(0x3FFF)  # the bytes of the piece
_LIST = const(91)  # a bracket, after which names come
_PIECE = const(128)


class MqttDiscovery:
    """Sends the messages in the file at a path, with the names of a MqttClassNames."""

    def __init__(self, path, names, out):
        self._file = open(path, "rb")  # noqa: SIM115  (it is read in pieces)
        self._names = names
        self._out = out
        self._piece = bytearray(_PIECE)
        self._left = 0  # bytes of the piece still to be read
        self._owed = 0  # reserved bytes that names did not use
        self._first = False  # a list has begun, and has no name yet
        self._more = False
        self._class = 0  # the class whose name comes next

    def go_on(self):
        """Put the next piece; returns False after the last one."""
        out, piece = self._out, self._piece
        if not self._left:
            if self._file.readinto(piece, 2) < 2:
                self.close()
                return False
            head = piece[0] << 8 | piece[1]
            self._more = bool(head & _MORE)
            self._left = head & _SIZE
            if head & _NAME:
                self._tell_name()
                return True
            self._class = 0
        out.begin()
        n = self._file.readinto(piece, min(self._left, _PIECE))
        self._first = piece[n - 1] == _LIST
        out.put(piece, 0, n)
        self._left -= n
        out.more = self._left > 0 or self._more
        return True

    def close(self):
        """Stop, and close the file."""
        self._file.close()

    def _tell_name(self):
        """Put the next name, or spaces for a piece of size 0."""
        out, names, c = self._out, self._names, self._class
        out.begin()
        begin = out.end
        if not self._left:
            out.put(b" " * min(self._owed, _PIECE))
        elif names.sizes[c]:
            if not self._first:
                out.put(b",")
            self._first = False
            names.put(out, c)
        self._owed += self._left - out.end + begin
        out.more = self._more
        self._left = 0
        self._class += 1
