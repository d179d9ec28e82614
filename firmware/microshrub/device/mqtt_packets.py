"""Packets of MQTT 3.1.1, put together and taken apart piece by piece in buffers made once."""

from micropython import const

from .sockets import copy, send

_HEAD = const(5)  # room for a packet's first byte and length
_LONGEST = const(16384)  # of a packet that comes; a broker that sends more is left
_PIECES = const(8)  # that are read at once


class BrokerError(ValueError):
    """The broker does what MQTT does not allow, or does not let the board in."""


class PacketOut:
    """What is sent: packets of up to `room` bytes, and longer ones in pieces.

    begin(), put()s and send() while it is free; then, while there is more, go_on(), put()s and
    send_on().
    """

    def __init__(self, room):
        self._bytes = bytearray(_HEAD + room)
        self._first = 0
        self.forget()

    def forget(self):
        """Let go of what is in it."""
        self._sent = self._end = self._limit = 0
        self.more = 0  # bytes of the packet that are still to be put

    @property
    def is_free(self):
        """Whether what was put has gone."""
        return self._sent == self._end

    @property
    def room(self):
        """Bytes that can be put now."""
        return self._limit - self._end

    def begin(self, first):
        """Begin a packet with that byte."""
        self._first = first
        self._sent = 0
        self._end = _HEAD
        self._limit = len(self._bytes)

    def mark(self, bits):
        """Set bits of its first byte."""
        self._first |= bits

    def put(self, data, start=0, n=-1):
        """Add n bytes of data, or all from `start` on, as far as there is room."""
        if n < 0:
            n = len(data) - start
        n = min(n, self.room)
        copy(self._bytes, self._end, data, start, n)
        self._end += n

    def put_16(self, value):
        """Add two bytes, big-endian."""
        if self.room >= 2:
            self._bytes[self._end] = value >> 8
            self._bytes[self._end + 1] = value & 255
            self._end += 2

    def send(self, more=0):
        """It is complete but for so many bytes, which are put later."""
        size = self._end - _HEAD + more
        n = 1
        while size >> 7 * n:
            n += 1
        at = _HEAD - 1 - n
        self._bytes[at] = self._first
        for k in range(n):
            self._bytes[at + 1 + k] = (size >> 7 * k & 127) | (128 if k < n - 1 else 0)
        self._sent = at
        self.more = more

    def go_on(self, most):
        """What is put now, up to so many bytes, goes on with the packet."""
        self._sent = self._end = 0
        self._limit = min(most, len(self._bytes))

    def send_on(self):
        """Send what was put."""
        self.more -= self._end

    def write(self, socket):
        """Write what the socket takes; returns whether it took something."""
        before = self._sent
        self._sent = send(socket, self._bytes, self._sent, self._end)
        return self._sent != before


class PacketIn:
    """What comes: the first `room` bytes of a packet are in `body`; it has `size` of them."""

    def __init__(self, room):
        self.body = bytearray(room)
        self._piece = bytearray(64)
        self.forget()

    def forget(self):
        """Wait for a packet's first byte."""
        self._kind = -1
        self.size = self._shift = self._got = 0
        self._in_body = False
        self.came = False  # something has, with the last read()

    def read(self, socket):
        """Read what has come; returns the first byte of a packet once it is there, else -1.

        Allocates nothing. Raises OSError where the line has ended, and BrokerError.
        """
        self.came = False
        for _ in range(_PIECES):
            wanted = min(self.size - self._got, len(self._piece)) if self._in_body else 1
            n = socket.readinto(self._piece, wanted)
            if n is None:
                return -1
            if not n:
                raise OSError("the broker has closed the line")
            self.came = True
            if self._in_body:
                kept = min(n, max(len(self.body) - self._got, 0))
                copy(self.body, self._got, self._piece, 0, kept)
                self._got += n
            else:
                self._head(self._piece[0])
            if self._in_body and self._got == self.size:
                kind, size = self._kind, self.size
                self.forget()
                self.came = True
                self.size = size
                return kind
        return -1

    def _head(self, byte):
        if self._kind < 0:
            self._kind = byte
            self.size = 0
            return
        self.size |= (byte & 127) << self._shift
        self._shift += 7
        self._in_body = byte < 128
        if self.size > _LONGEST or (byte >= 128 and self._shift > 21):
            raise BrokerError("the broker sends a packet that is too long")
