"""How a board in a house is found: imported for it, and given back.

house.bin has whole packets, which house_messages.py of the PC writes: what the board hears, the
retained messages by which Home Assistant finds it, and that it is there. Each piece has two bytes
before it, big-endian: the bytes that follow, below 2**14, and whether the packet goes on behind
them. Or there is the name of a class for so many bytes, filled up with spaces: names may change,
and a packet's size is told at its beginning.
"""

from micropython import const

_MORE = const(0x4000)  # the packet goes on
_NAME = const(0x8000)  # no bytes follow: the name of the next class comes here
_SIZE = const(0x3FFF)
_PIECE = const(128)


class Introduction:
    """Tells the file at a path, with the names of a HouseNames."""

    def __init__(self, path, names, out):
        self._file = open(path, "rb")  # noqa: SIM115  (it is told in pieces)
        self._names = names
        self._out = out
        self._piece = bytearray(_PIECE)
        self._left = 0  # bytes of a piece of the file
        self._more = False
        self._class = 0  # whose name comes next

    def go_on(self):
        """Put the next piece; returns False behind the last one."""
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
        out.put(piece, 0, n)
        self._left -= n
        out.more = self._left > 0 or self._more
        return True

    def close(self):
        """Tell no more of it."""
        self._file.close()

    def _tell_name(self):
        out, names, c = self._out, self._names, self._class
        out.begin()
        end = out.end + self._left
        if names.sizes[c]:
            out.put(b',"')
            names.put(out, c)
            out.put(b'"')
        while out.end < end:
            out.put(b" ")
        out.more = self._more
        self._left = 0
        self._class += 1
