"""Frames of the serial link, and the outbox that keeps the frames of the last answers.

Frames are COBS between zero bytes, with a CRC32 inside. On the line, a frame is
`0 | COBS(body) | 0`, and a body is, little-endian:

    version u8 | type u8 | session u16 | sequence number u16 | credits u8 | payload | CRC32 u32

COBS is Cheshire, Baker: Consistent Overhead Byte Stuffing, SIGCOMM 1997. The CRC is that of zlib.
docs/reference/link.md specifies the protocol.
"""

from array import array

import micropython
from micropython import const

_HEADER = const(7)  # bytes before the payload
HEADER = _HEADER
TRAILER = 4  # bytes behind the payload

_ROOM = const(0)  # words of a splitter's state: bytes that a frame may have
_FILL = const(1)  # bytes of the unfinished one so far
_CAME = const(2)  # bytes of the one that was finished, _ROOM + 1 if it was too long, or 0
SPLIT_WORDS = 3

_LEAST = const(11)  # HEADER + TRAILER
_LOW_28 = const(268435455)  # 2**28 - 1

VERSION = 1


def stuffed(n):
    """Return the most bytes that n bytes have after COBS, without the zeros around them."""
    return n + n // 254 + 1


def crc_table():
    """Make the table of a CRC32 by four bits at a time, array('i') of 16, for checksum()."""
    table = array("i", bytes(64))
    for n in range(16):
        crc = n
        for _ in range(4):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
        table[n] = crc - (crc >> 31 << 32)
    return table


@micropython.viper
def checksum(table, data, at: int, n: int, out, to: int):
    """Write the CRC32 of data[at : at + n] to out[to : to + 4]: a small int cannot hold it."""
    steps = ptr32(table)
    source = ptr8(data)
    target = ptr8(out)
    crc = -1
    for i in range(at, at + n):
        crc = crc ^ source[i]
        crc = ((crc >> 4) & _LOW_28) ^ steps[crc & 15]
        crc = ((crc >> 4) & _LOW_28) ^ steps[crc & 15]
    crc = crc ^ -1
    for i in range(to, to + 4):
        target[i] = crc & 255
        crc = crc >> 8


@micropython.viper
def pack(table, header, body, to: int, size: int) -> int:
    """Put a header before the `size` bytes of payload, and the CRC32 of both behind them.

    The header goes to body[to]. Returns the size of the whole.
    """
    source = ptr8(header)
    target = ptr8(body)
    at = to - _HEADER
    for i in range(_HEADER):
        target[at + i] = source[i]
    checksum(table, body, at, _HEADER + size, body, to + size)
    return _LEAST + size


@micropython.viper
def is_intact(table, data, n: int, scratch) -> int:
    """Is the CRC32 in the last four of n bytes right? scratch is a bytearray of 4."""
    if n < _LEAST:
        return 0
    checksum(table, data, 0, n - 4, scratch, 0)
    sent = ptr8(data)
    computed = ptr8(scratch)
    for i in range(4):
        if computed[i] != sent[n - 4 + i]:
            return 0
    return 1


@micropython.viper
def stuff(body, at: int, n: int, out) -> int:
    """Write 0 | COBS(body[at : at + n]) | 0 to out; returns the number of bytes written."""
    source = ptr8(body)
    target = ptr8(out)
    target[0] = 0
    code = 1  # where the length of the present run goes
    to = 2
    for i in range(at, at + n):
        if to - code == 255:
            target[code] = 255
            code = to
            to += 1
        if source[i]:
            target[to] = source[i]
        else:
            target[code] = to - code
            code = to
        to += 1
    target[code] = to - code
    target[to] = 0
    return to + 1


@micropython.viper
def unstuff(buffer, n: int) -> int:
    """Undo the COBS of n bytes without zeros, in place; returns the body's length, or -1."""
    data = ptr8(buffer)
    at = 0
    to = 0
    while at < n:
        end = at + data[at]
        if end == at or end > n:
            return -1
        full = int(end - at == 255)
        for i in range(at + 1, end):
            data[to] = data[i]
            to += 1
        if end < n and not full:
            data[to] = 0
            to += 1
        at = end
    return to


@micropython.viper
def split(state, frame, buffer, at: int, n: int) -> int:
    """Append buffer[at : n] to frame up to the next zero; returns where to go on.

    state is 'i' of SPLIT_WORDS, frame a bytearray of state[_ROOM]. A longer frame is dropped.
    """
    s = ptr32(state)
    data = ptr8(buffer)
    target = ptr8(frame)
    room = s[_ROOM]
    fill = s[_FILL]
    s[_CAME] = 0
    while at < n:
        byte = data[at]
        at += 1
        if not byte:
            s[_CAME] = fill
            s[_FILL] = 0
            return at
        if fill < room:
            target[fill] = byte
        if fill <= room:
            fill += 1
    s[_FILL] = fill
    return at


@micropython.viper
def read_values(body, at: int, values, count: int) -> int:
    """Read `count` i32; returns 0 at the first one outside -2**29..2**29 - 1."""
    data = ptr8(body)
    out = ptr32(values)
    for i in range(count):
        top = data[at + 3]
        if top >= 128:
            top -= 256
        if top < -32 or top > 31:
            return 0
        out[i] = top << 24 | data[at + 2] << 16 | data[at + 1] << 8 | data[at]
        at += 4
    return 1


@micropython.viper
def write_values(body, at: int, values, count: int):
    """Write `count` i32."""
    data = ptr8(body)
    source = ptr32(values)
    for i in range(count):
        value = source[i]
        for k in range(at, at + 4):
            data[k] = value & 255
            value = value >> 8
        at += 4


def read_u16(data, at):
    """Read two bytes, little-endian."""
    return data[at] | data[at + 1] << 8


def put_u16(data, at, value):
    """Write two bytes, little-endian."""
    data[at] = value & 255
    data[at + 1] = value >> 8


class Outbox:
    """Keeps the last `window` answers, each with up to `room` bytes of payload, for repeated
    requests, and has space for one frame that is sent once, with up to `widest` bytes of payload.

    window is a power of two. A request with sequence number s is answered from slot s % window. A
    payload is written to `body` at slot(sequence), or at `once`; then keep() or send_once() puts
    header and CRC around it. Nothing is allocated.
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
        self._lengths = array("H", [0] * window)  # the sizes of the answers that are kept
        self._line = bytearray(stuffed(last) + 2)
        self.crc_table = crc_table()

    def allow(self, requests):
        """Set how many requests the host may have under way, from the next answer on."""
        self._start[6] = requests

    def slot(self, sequence):
        """Return where the payload of the answer to a request goes."""
        return (sequence & (self.window - 1)) * self._bytes + HEADER

    def forget(self):
        """Drop all answers."""
        for i in range(self.window):
            self._lengths[i] = 0

    def keep(self, kind, session, sequence, size):
        """Complete the answer whose payload of `size` bytes is in its slot."""
        self._head(kind, session, sequence)
        self._lengths[sequence & (self.window - 1)] = self._complete(self.slot(sequence), size)

    def repeat(self, sequence):
        """Send the answer that was kept for a request, if there is one."""
        n = self._lengths[sequence & (self.window - 1)]
        if n:
            self._send(self.slot(sequence), n)

    def send_once(self, kind, session, sequence, size):
        """Send a frame whose payload of `size` bytes is at `once`."""
        self._head(kind, session, sequence)
        size = self._complete(self.once, size)
        self._send(self.once, size)

    def put_error(self, to, code, words):
        """Write an error's payload, with as much of its text, bytes, as fits; returns its size."""
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
