"""Packets of MQTT 3.1.1, put together and taken apart piece by piece in buffers made once."""

from micropython import const

from .sockets import copy, send

_HEAD = const(3)  # room for a packet's first byte and length
_LONGEST = const(16384)  # of a packet that comes; a broker that sends more is left
_PIECE = const(32)  # bytes that are read at once,
_PIECES = const(16)  # so often


class PacketOut:
    """What is sent: packets of up to `room` bytes, and longer ones in pieces.

    begin(), put()s and send(first byte of the packet), while it is free. Without send(), what was
    put goes as it stands: a piece of a packet that is made elsewhere, of which there is `more`.
    """

    def __init__(self, room):
        self._bytes = bytearray(_HEAD + room)
        self.forget()

    def forget(self):
        """Let go of what is in it."""
        self._sent = self.end = 0
        self.more = False

    @property
    def is_free(self):
        """Whether what was put has gone."""
        return self._sent == self.end

    def begin(self):
        """Begin a packet, or a piece of one."""
        self._sent = self.end = _HEAD

    def put(self, data, start=0, n=-1):
        """Add n bytes of data, or all from `start` on, as far as there is room."""
        if n < 0:
            n = len(data) - start
        n = min(n, len(self._bytes) - self.end)
        copy(self._bytes, self.end, data, start, n)
        self.end += n

    def put_16(self, value):
        """Add two bytes, big-endian."""
        self._bytes[self.end] = value >> 8
        self._bytes[self.end + 1] = value & 255
        self.end += 2

    def send(self, first):
        """The packet is complete, but for its first byte and its length, below 2**14."""
        size = self.end - _HEAD
        at = int(size < 128)
        self._bytes[1] = size & 127 | 128
        self._bytes[2] = size >> 7 if size > 127 else size
        self._bytes[at] = first
        self._sent = at

    def write(self, socket):
        """Write what the socket takes; returns whether it took something."""
        before = self._sent
        self._sent = send(socket, self._bytes, before, self.end)
        return self._sent != before


class PacketIn:
    """What comes: the first `room` bytes of a packet are in `body`; it has `size` of them.

    A packet has at most `longest` bytes.
    """

    def __init__(self, room):
        self.body = bytearray(room)
        self.longest = _LONGEST
        self._piece = bytearray(_PIECE)
        self.forget()

    def forget(self):
        """Wait for a packet's first byte."""
        self._kind = -1
        self.size = self._shift = self._got = 0
        self._in_body = False
        self.came = False  # something has, with the last read()

    def read(self, socket):
        """Read what has come; returns the first byte of a packet once it is there, else -1.

        Allocates nothing. Raises OSError where the line has ended, ValueError for what cannot be.
        """
        self.came = False
        for _ in range(_PIECES):
            wanted = min(self.size - self._got, _PIECE) if self._in_body else 1
            n = socket.readinto(self._piece, wanted)
            if n is None:
                break
            if not n:
                raise OSError("the broker has closed the line; has another board this name?")
            self.came = True
            kind = self._take(n)
            if kind >= 0:
                return kind
        return -1

    def _take(self, n):
        """Take n bytes of a piece; returns what read() does."""
        if self._in_body:
            self._keep(min(n, max(len(self.body) - self._got, 0)))
            self._got += n
        else:
            self._head(self._piece[0])
        if not self._in_body or self._got < self.size:
            return -1
        kind, size = self._kind, self.size
        self.forget()
        self.came = True
        self.size = size
        return kind

    def _keep(self, n):
        copy(self.body, self._got, self._piece, 0, n)

    def _head(self, byte):
        if self._kind < 0:
            self._kind = byte
            self.size = 0
            return
        self.size |= (byte & 127) << self._shift
        self._shift += 7
        self._in_body = byte < 128
        if self.size > self.longest or (byte >= 128 and self._shift > 21):
            raise ValueError("the broker sends a packet that is too long")
