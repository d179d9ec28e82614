"""Packets of MQTT 3.1.1, put together and taken apart piece by piece in buffers made once."""

from array import array

import micropython
from micropython import const

from .sockets import copy, send

_HEAD = const(3)  # room for a packet's first byte and length
_LONGEST = const(16384)  # of a packet that comes; a broker that sends more is left
_PIECE = const(32)  # bytes that are read at once,
_PIECES = const(16)  # so often
_DIGITS = const(10)  # of a number below 2**30, at most


@micropython.viper
def copy_text(target, at: int, end: int, source, start: int, n: int) -> int:
    """Copy n bytes as they stand in a text of JSON to target[at : end]; returns the place behind.

    What has no room is left out.
    """
    out = ptr8(target)
    data = ptr8(source)
    for k in range(n):
        c = int(data[start + k])
        if at + 2 > end:
            return at
        if c == 34 or c == 92:  # a quotation mark or a backslash
            out[at] = 92
            at += 1
        out[at] = c
        at += 1
    return at


@micropython.viper
def write_digits(data, at: int, value: int, base: int, least: int) -> int:
    """Write a number of 0..2**30 - 1, base 10 or 16, from data[at] on, in at least so many digits.

    Returns the place behind them.
    """
    out = ptr8(data)
    count = 1
    rest = value // base
    while rest:
        count += 1
        rest = rest // base
    if count < least:
        count = least
    end = at + count
    k = end
    while k > at:
        k -= 1
        digit = value % base
        value = value // base
        out[k] = digit + 48 if digit < 10 else digit + 87
    return end


@micropython.viper
def fill(target, where, form, k: int, values) -> int:
    """Copy form from k on to target, with numbers of values, array('i'), where a byte 1 stands.

    where is array('i') of the place in target and the next value, which go on, and of the ends of
    target and form. A value is 0..2**30 - 1, or -1 for null. Ends before a byte of 2..4, and
    returns its place; or the form's length; or -1 if there is no room.
    """
    places = ptr32(where)
    out = ptr8(target)
    data = ptr8(form)
    numbers = ptr32(values)
    at = places[0]
    end = places[2] - _DIGITS
    n = places[3]
    while k < n:
        c = int(data[k])
        if at > end:
            return -1
        if c > 4:
            out[at] = c
            at += 1
        elif c > 1:
            break
        else:
            value = numbers[places[1]]
            places[1] = places[1] + 1
            if value < 0:
                out[at] = 110  # null
                out[at + 1] = 117
                out[at + 2] = 108
                out[at + 3] = 108
                at += 4
            else:
                at = int(write_digits(target, at, value, 10, 1))
        k += 1
    places[0] = at
    return k


class PacketOut:
    """What is sent: packets of up to `room` bytes, and longer ones in pieces.

    begin(), put()s and send(first byte of the packet), while it is free. Without send(), what was
    put goes as it stands: a piece of a packet that is made elsewhere, of which there is `more`.
    """

    def __init__(self, room):
        self._bytes = bytearray(_HEAD + room)
        self._where = array("i", [0, 0, _HEAD + room, 0])  # of a form, see fill()
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

    def begin_form(self):
        """The next form begins with the first of its values."""
        self._where[1] = 0

    def put_form(self, form, start, values):
        """Add form from `start` on with its numbers, see fill(); returns where it ends for now.

        Raises ValueError if there is no room.
        """
        self._where[0] = self.end
        self._where[3] = len(form)
        k = fill(self._bytes, self._where, form, start, values)
        if k < 0:
            raise ValueError("a message is longer than its room")
        self.end = self._where[0]
        return k

    def next_value(self, n):
        """The place of the next of the form's values; n of them are taken."""
        at = self._where[1]
        self._where[1] = at + n
        return at

    def put_text(self, data, start, n):
        """Add n bytes as they stand in a text of JSON, as far as there is room."""
        self.end = copy_text(self._bytes, self.end, len(self._bytes), data, start, n)

    def put_16(self, value):
        """Add two bytes, big-endian."""
        self._bytes[self.end] = value >> 8
        self._bytes[self.end + 1] = value & 255
        self.end += 2

    def put_digits(self, value, base=10, least=1):
        """Add a number of 0..2**30 - 1, base 10 or 16, in at least so many digits."""
        if self.end + _DIGITS <= len(self._bytes):
            self.end = write_digits(self._bytes, self.end, value, base, least)

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
