"""Sample packets in datagrams, which reach every board of the group nearby, or get lost.

A datagram has 250 bytes, the most of ESP-NOW, little-endian:

    magic b"mp" | version u8 | kind u8 | class u32 | packet u32 | size u16 | part u16
    | data [218] | code [16]

A part has the data of a packet from byte 218 * part on, padded with zeros; `packet` is the CRC32
at the end of the packet, and `size` is how many bytes it has. A request has no data: its sender
lacks the class. `class` is the CRC32 of the class's name. Of both CRC32s, the upper two bits are
left out. The code is the beginning of the HMAC-SHA256 of all bytes before it, with the group's
key: datagrams with another code are ignored.

A packet is sent three times, a part each second, when it is due or requested, but not while
another board sends one. Lost parts come when the packet is requested again. An old datagram that
somebody repeats does no harm: its packet was judged before, or is as good as a new one.
"""

import gc
from array import array
from binascii import crc32

from micropython import const

from ..thicket.sharing import MOST
from .frames import put_u16, read_u16
from .networking import copy
from .sha256 import Hmac, Sha256, same
from .sharing import SharingTransport

BYTES = const(250)
_CODE = const(16)
_SIGNED = const(234)  # BYTES - _CODE
_DATA = const(218)  # bytes of a packet in a datagram, behind a head of
_HEAD = const(16)
_KIND = const(3)  # places in it
_CLASS = const(4)
_PACKET = const(8)
_SIZE = const(12)
_PART = const(14)
_MAGIC = b"mp\1"  # followed by the version
_IS_PART = const(1)  # kinds
_IS_ASK = const(2)
_MARK = const(1073741823)  # the part of a CRC32 that is kept: a number that takes no heap
_LONGEST = const(65535)
_TIMES = const(3)  # how many times a packet is sent
_STALE = const(30)  # seconds without a new part, after which a packet is given up
_QUIET = const(4)  # seconds without a part from others, before the board sends its own
_FIRST = const(30)  # seconds between two requests, which grow while nobody sends a packet,
_HOUR = const(3600)  # seconds: the longest time between two requests
_MINUTE = const(60)  # seconds between two answers to requests for a class
_ORIGIN = const(5)  # where a packet has the name of its board, see sample_packet.py


class SharingDatagrams(SharingTransport):
    """A SharingTransport by a carrier (see networking.py), with the group's key of 32 bytes.

    Makes all its buffers at once. Raises ValueError if a packet would be too long.
    """

    def __init__(self, app, key, carrier, say):
        super().__init__(app, say)
        sharing = self._sharing
        if sharing.room > _LONGEST:
            raise ValueError("the names of the features are too long to share by datagrams")
        self._carrier = carrier
        self._hmac = Hmac(Sha256())
        self._hmac.take(key)
        self._marks = array("i", [crc32(name.encode()) & _MARK for name in sharing.class_names])
        self._datagram = bytearray(BYTES)
        self._outgoing = bytearray(sharing.room)  # the packet that is sent,
        self._outgoing_key = -1  # its CRC32,
        self._outgoing_label = 0  # its class,
        self._outgoing_size = 0  # its bytes; 0: none is being sent
        self._next = 0  # how many of its datagrams were sent
        self._incoming = bytearray(sharing.room)  # the packet that comes,
        self._has = bytearray((sharing.room + _DATA - 1) // _DATA)  # which of its parts have come,
        self._incoming_key = -1  # its CRC32; -1: none comes
        self._incoming_label = 0
        self._incoming_size = 0
        self._missing = 0  # how many of its parts have not come
        self._news = 0  # the second of the last new part,
        self._heard = 0  # the second until which other boards send
        self._asked = bytearray(sharing.classes)  # 1: others have requested this class
        self._answers = array("i", [0] * sharing.classes)  # from which second on that counts
        self._asks = 0  # the class to request next, if the board lacks samples of it
        self._pause = _FIRST
        self._dice = 1 + (crc32(sharing.name.encode()) & 65535)
        self._ask_at = app.seconds + 1 + self._throw(_QUIET)
        self._second = app.seconds
        self._wrong = ""  # the last error of the carrier

    def _throw(self, most):
        """A random number of 0..most - 1, different on each board."""
        self._dice = (self._dice * 75 + 74) % 65537
        return self._dice % most

    def turn(self, milliseconds, passed):
        """Receive a datagram, and send one if it is due."""
        super().turn(milliseconds, passed)
        carrier = self._carrier
        if carrier.take() == BYTES:
            self._hear(carrier.body)
        if self._app.restart:
            carrier.close()
        elif self._app.seconds != self._second:
            self._second = self._app.seconds
            self._turn(self._second)

    # Received datagrams

    def _hear(self, datagram):
        """Receive a datagram, if a board of the group has sent it."""
        if same(datagram, 0, _MAGIC, 3):
            self._hmac.sign(datagram, 0, _SIGNED)
            if self._hmac.is_right(datagram, _SIGNED, _CODE):
                self._heed(datagram)

    def _heed(self, datagram):
        label = self._label_of(_number(datagram, _CLASS))
        if label < 0:
            return
        if datagram[_KIND] == _IS_ASK:
            self._asked[label] = 1
        elif datagram[_KIND] == _IS_PART:
            now = self._app.seconds
            self._heard = now + _QUIET
            if self._pause > _FIRST:
                self._pause = _FIRST
                self._ask_at = min(self._ask_at, now + _FIRST + self._throw(_FIRST))
            self._take(datagram, label, _number(datagram, _PACKET), read_u16(datagram, _SIZE))

    def _label_of(self, mark):
        marks = self._marks
        for c in range(len(marks)):
            if marks[c] == mark:
                return c
        return -1

    def _take(self, datagram, label, key, size):
        """Keep a part of a packet, if it is the one being received, or becomes it now."""
        part = read_u16(datagram, _PART)
        at = part * _DATA
        if key == self._outgoing_key or size > len(self._incoming) or at >= size:
            return
        if key != self._incoming_key and not self._is_begun(key, label, size):
            return
        if size != self._incoming_size or label != self._incoming_label or self._has[part]:
            return
        self._has[part] = 1
        self._missing -= 1
        self._news = self._app.seconds
        copy(self._incoming, at, datagram, _HEAD, min(_DATA, size - at))

    def _is_begun(self, key, label, size):
        """Return whether to receive this packet from now on."""
        begun = self._incoming_key >= 0
        if begun and (not self._missing or self._app.seconds - self._news < _STALE):
            return False
        if not self._sharing.is_new(key):
            return False
        self._incoming_key, self._incoming_label, self._incoming_size = key, label, size
        self._missing = (size + _DATA - 1) // _DATA
        for i in range(self._missing):
            self._has[i] = 0
        return True

    def _offer(self):
        """Have the complete packet judged; it waits while another one is being judged."""
        body, size = self._incoming, self._incoming_size
        end = _ORIGIN + 1 + (body[_ORIGIN] if size > _ORIGIN else 0)
        try:
            origin = str(memoryview(body)[_ORIGIN + 1 : end], "utf-8")
        except UnicodeError:
            origin = ""
        key, label = self._incoming_key, self._incoming_label
        is_own = origin == self._sharing.name  # sent by this board before it was restarted
        if is_own or not self.offer(key, label, origin, body, 0, size, size):
            self._incoming_key = -1

    # Sent datagrams

    def _turn(self, now):
        """Do what is due once a second."""
        carrier = self._carrier
        if not carrier.is_open:
            self._open()
        if self._incoming_key >= 0 and not self._missing and not self._sharing.is_busy:
            self._offer()
        if self._outgoing_size:
            self._send_part()
        elif not self._sharing.is_busy and carrier.is_open:
            self._choose(now)

    def _open(self):
        wrong = self._carrier.open()
        if wrong != self._wrong:
            self._wrong = wrong
            self._say("packets: " + (wrong or "sending and receiving"))

    def _choose(self, now):
        """Begin to send or to request a packet, if that is due."""
        label = self._wanted(now) if now >= self._heard else -1
        if label >= 0:
            self._begin_packet(label, now)
        elif now >= self._ask_at:
            self._ask(now)

    def _wanted(self, now):
        """Return a class to send, or -1."""
        label = self.due(now)
        if label >= 0:
            return label
        for c in self._sharing.allowed:
            if self._asked[c] and now >= self._answers[c] and self._sharing.is_sent(c):
                return c
        return -1

    def _begin_packet(self, label, now):
        self._asked[label] = 0
        self._answers[label] = now + _MINUTE
        data = self.collect(label, now)
        if data:
            size = len(data)
            copy(self._outgoing, 0, data, 0, size)
            self._outgoing_key = _number(data, size - 4)
            self._outgoing_label, self._outgoing_size, self._next = label, size, 0
            data = None
        gc.collect()

    def _send_part(self):
        size = self._outgoing_size
        parts = (size + _DATA - 1) // _DATA
        part = self._next % parts
        at = part * _DATA
        datagram = self._datagram
        self._head(_IS_PART, self._outgoing_label, self._outgoing_key)
        put_u16(datagram, _SIZE, size)
        put_u16(datagram, _PART, part)
        copy(datagram, _HEAD, self._outgoing, at, min(_DATA, size - at))
        self._give()
        self._next += 1
        if self._next >= _TIMES * parts:
            self._outgoing_size = 0

    def _ask(self, now):
        """Request the next class of which the board has too few samples, if there is one."""
        classes = self._sharing.classes
        for _ in range(classes):
            label = self._asks
            self._asks = label + 1
            if self._asks == classes:
                self._asks = 0
                self._pause = min(2 * self._pause, _HOUR)
            if self._sharing.held(label) < MOST:
                self._head(_IS_ASK, label, 0)
                self._give()
                break
        self._ask_at = now + self._pause + self._throw(self._pause)

    def _head(self, kind, label, key):
        datagram = self._datagram
        for i in range(3):
            datagram[i] = _MAGIC[i]
        for i in range(_SIZE, _SIGNED):
            datagram[i] = 0
        datagram[_KIND] = kind
        _put_number(datagram, _CLASS, self._marks[label])
        _put_number(datagram, _PACKET, key)

    def _give(self):
        """Sign the datagram and send it; if that fails, it is lost."""
        self._hmac.sign(self._datagram, 0, _SIGNED)
        self._hmac.give(self._datagram, _SIGNED, _CODE)
        self._carrier.give(self._datagram)


def _number(data, at):
    """Return the 30 lower bits of four bytes."""
    return read_u16(data, at) | (read_u16(data, at + 2) & 16383) << 16


def _put_number(data, at, value):
    put_u16(data, at, value & 65535)
    put_u16(data, at + 2, value >> 16)
