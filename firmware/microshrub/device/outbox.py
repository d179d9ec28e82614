"""What the device's end of the serial link sends: its last answers, kept to be sent again.

A request with sequence number s is answered from slot s % window. One slot more is for what is
sent once. A slot holds a frame's body, see frames.py.
"""

from array import array

from .frames import HEADER, TRAILER, crc_table, pack, stuff, stuffed

VERSION = 1


def read_u16(data, at):
    """Two bytes, little-endian."""
    return data[at] | data[at + 1] << 8


def put_u16(data, at, value):
    """Write two bytes, little-endian."""
    data[at] = value & 255
    data[at + 1] = value >> 8


class Outbox:
    """Bodies for `window` answers of up to `room` bytes of payload, and one of up to `widest`.

    window is a power of two. A payload is written to `body` at slot(sequence), or at `once`; then
    keep() or send_once() puts header and CRC around it. Nothing is allocated.
    """

    def __init__(self, write, window, room, widest):
        self.window = window
        self._start = bytearray(HEADER)
        self._start[0] = VERSION
        self._start[6] = window
        self.room = room
        self._write = write
        self._bytes = HEADER + room + TRAILER
        last = HEADER + max(room, widest) + TRAILER
        self.once = window * self._bytes + HEADER
        self.body = bytearray(window * self._bytes + last)
        self._lengths = array("H", [0] * window)  # of the bodies that are kept
        self._line = bytearray(stuffed(last) + 2)
        self.crc_table = crc_table()

    def allow(self, requests):
        """Let the host have so many requests under way, from the next answer on."""
        self._start[6] = requests

    def slot(self, sequence):
        """Where the payload of the answer to a request belongs."""
        return (sequence & (self.window - 1)) * self._bytes + HEADER

    def forget(self):
        """Keep no answer any more."""
        for i in range(self.window):
            self._lengths[i] = 0

    def keep(self, kind, session, sequence, size):
        """Complete the answer whose payload of that size stands in its slot."""
        self._head(kind, session, sequence)
        self._lengths[sequence & (self.window - 1)] = self._complete(self.slot(sequence), size)

    def repeat(self, sequence):
        """Send the answer that is kept for a request, if there is one."""
        n = self._lengths[sequence & (self.window - 1)]
        if n:
            self._send(self.slot(sequence), n)

    def send_once(self, kind, session, sequence, size):
        """Send a frame whose payload of that size stands at `once`."""
        self._head(kind, session, sequence)
        size = self._complete(self.once, size)
        self._send(self.once, size)

    def put_error(self, to, code, words):
        """Write an error's payload, as many of the words, bytes, as fit; returns its size."""
        self.body[to] = code
        n = min(len(words), self.room - 1)
        for i in range(n):
            self.body[to + 1 + i] = words[i]
        return 1 + n

    def _head(self, kind, session, sequence):
        header = self._start
        header[1] = kind
        put_u16(header, 2, session)
        put_u16(header, 4, sequence)

    def _complete(self, to, size):
        return pack(self.crc_table, self._start, self.body, to, size)

    def _send(self, to, n):
        self._write(self._line, stuff(self.body, to - HEADER, n, self._line))
