"""Parcels by packets, which every board of the group in reach hears, or loses.

A packet has 250 bytes, the most of ESP-NOW, little-endian:

    magic b"mp" | version u8 | kind u8 | class u32 | parcel u32 | size u16 | part u16
    | data [218] | code [16]

A part has the data of a parcel from 218 * part on, and zeros behind them; `parcel` is the CRC32 in
which the parcel ends, `size` its bytes. An ask has no data: who sends it lacks the class. `class`
is the CRC32 of the class's name. Of both CRC32s, the upper two bits are left out. The code is the
beginning of an HMAC-SHA256 of all before it, with the group's key: other packets are passed over.

A parcel is sent three times, a part each second; once there is something new to tell, or once it
was asked for, but not while another board sends one. What is lost comes when it is asked for
again. An old packet that somebody repeats does no harm: its parcel was judged, or is as good as
a new one.
"""

import gc
from array import array
from binascii import crc32

from micropython import const

from ..thicket.sharing import MOST
from .outbox import put_u16, read_u16
from .parcel_post import ParcelPost
from .sha256 import Hmac, Sha256, same
from .sockets import copy

BYTES = const(250)
_CODE = const(16)
_SIGNED = const(234)  # BYTES - _CODE
_DATA = const(218)  # bytes of a parcel in a packet, behind a head of
_HEAD = const(16)
_KIND = const(3)  # places in it
_CLASS = const(4)
_PARCEL = const(8)
_SIZE = const(12)
_PART = const(14)
_MAGIC = b"mp\1"  # and the version
_IS_PART = const(1)  # kinds
_IS_ASK = const(2)
_MARK = const(1073741823)  # of a CRC32: a number that takes no heap
_LONGEST = const(65535)
_TIMES = const(3)  # that a parcel is sent
_STALE = const(30)  # seconds without a new part, after which a parcel is given up
_QUIET = const(4)  # seconds without a part of others, before one's own are sent
_FIRST = const(30)  # seconds between two asks, which grow while nobody sends a parcel
_HOUR = const(3600)  # to that
_MINUTE = const(60)  # between two answers
_ORIGIN = const(5)  # where a parcel has the name of its board, see parcel.py


class ParcelPackets(ParcelPost):
    """A ParcelPost by a carrier, see packets_udp.py, with a key of 32 bytes that the group has.

    Makes all its buffers at once. Raises ValueError if a parcel would be too long.
    """

    def __init__(self, app, key, carrier, say):
        super().__init__(app, say)
        parcels = self._parcels
        if parcels.room > _LONGEST:
            raise ValueError("the names of the features are too long to share by packets")
        self._carrier = carrier
        self._hmac = Hmac(Sha256())
        self._hmac.take(key)
        self._marks = array("i", [crc32(name.encode()) & _MARK for name in parcels.class_names])
        self._packet = bytearray(BYTES)
        self._told = bytearray(parcels.room)  # the parcel that is sent,
        self._told_key = -1  # its number,
        self._told_label = 0
        self._told_size = 0  # and bytes; 0: none is
        self._next = 0  # packet of it
        self._came = bytearray(parcels.room)  # the one that comes,
        self._has = bytearray((parcels.room + _DATA - 1) // _DATA)  # which parts have come,
        self._came_key = -1  # its number; -1: none comes
        self._came_label = 0
        self._came_size = 0
        self._missing = 0  # parts
        self._news = 0  # second of the last new part,
        self._heard = 0  # and until which others send
        self._asked = bytearray(parcels.classes)  # by others,
        self._answers = array("i", [0] * parcels.classes)  # from which second on that counts
        self._asks = 0  # the class that is asked for next, if it is lacked
        self._pause = _FIRST
        self._dice = 1 + (crc32(parcels.name.encode()) & 65535)
        self._ask_at = app.seconds + 1 + self._throw(_QUIET)
        self._second = app.seconds
        self._wrong = ""  # said last of the carrier
        self.begin()

    def _throw(self, most):
        """A number of 0..most - 1, another one on each board."""
        self._dice = (self._dice * 75 + 74) % 65537
        return self._dice % most

    def tick(self, milliseconds):
        """Tell the time, as the application takes it; hear a packet, and send what is due."""
        said = super().tick(milliseconds)
        carrier = self._carrier
        if carrier.take() == BYTES:
            self._hear(carrier.body)
        if self._app.restart:
            carrier.close()
        elif self._app.seconds != self._second:
            self._second = self._app.seconds
            self._turn(self._second)
        return said

    # What comes

    def _hear(self, packet):
        """Take a packet, if somebody of the group has sent it."""
        if same(packet, 0, _MAGIC, 3):
            self._hmac.sign(packet, 0, _SIGNED)
            if self._hmac.is_right(packet, _SIGNED, _CODE):
                self._heed(packet)

    def _heed(self, packet):
        label = self._label_of(_number(packet, _CLASS))
        if label < 0:
            return
        if packet[_KIND] == _IS_ASK:
            self._asked[label] = 1
        elif packet[_KIND] == _IS_PART:
            now = self._app.seconds
            self._heard = now + _QUIET
            if self._pause > _FIRST:
                self._pause = _FIRST
                self._ask_at = min(self._ask_at, now + _FIRST + self._throw(_FIRST))
            self._take(packet, label, _number(packet, _PARCEL), read_u16(packet, _SIZE))

    def _label_of(self, mark):
        marks = self._marks
        for c in range(len(marks)):
            if marks[c] == mark:
                return c
        return -1

    def _take(self, packet, label, key, size):
        """Take a part of that parcel, if it is of the one that comes, or may be."""
        part = read_u16(packet, _PART)
        at = part * _DATA
        if key == self._told_key or size > len(self._came) or at >= size:
            return
        if key != self._came_key and not self._is_begun(key, label, size):
            return
        if size != self._came_size or label != self._came_label or self._has[part]:
            return
        self._has[part] = 1
        self._missing -= 1
        self._news = self._app.seconds
        copy(self._came, at, packet, _HEAD, min(_DATA, size - at))

    def _is_begun(self, key, label, size):
        """Whether that parcel comes from now on."""
        begun = self._came_key >= 0
        if begun and (not self._missing or self._app.seconds - self._news < _STALE):
            return False
        if not self._parcels.is_new(key):
            return False
        self._came_key, self._came_label, self._came_size = key, label, size
        self._missing = (size + _DATA - 1) // _DATA
        for i in range(self._missing):
            self._has[i] = 0
        return True

    def _offer(self):
        """Have the parcel judged that has come as a whole; it waits while another one is."""
        body, size = self._came, self._came_size
        end = _ORIGIN + 1 + (body[_ORIGIN] if size > _ORIGIN else 0)
        try:
            origin = str(memoryview(body)[_ORIGIN + 1 : end], "utf-8")
        except UnicodeError:
            origin = ""
        key, label = self._came_key, self._came_label
        own = origin == self._parcels.name  # which it has sent before it was started anew
        if own or not self.offer(key, label, origin, body, 0, size, size):
            self._came_key = -1

    # What is sent

    def _turn(self, now):
        """Do what is due in a second."""
        carrier = self._carrier
        if not carrier.is_open:
            self._open()
        if self._came_key >= 0 and not self._missing and not self._parcels.is_busy:
            self._offer()
        if self._told_size:
            self._send_part()
        elif not self._parcels.is_busy and carrier.is_open:
            self._choose(now)

    def _open(self):
        wrong = self._carrier.open()
        if wrong != self._wrong:
            self._wrong = wrong
            self._say("parcels: " + (wrong or "they are sent and heard"))

    def _choose(self, now):
        """Begin to send a parcel, or ask for one, if that is due."""
        label = self._wanted(now) if now >= self._heard else -1
        if label >= 0:
            self._begin_parcel(label, now)
        elif now >= self._ask_at:
            self._ask(now)

    def _wanted(self, now):
        """A class to send, or -1."""
        label = self.due(now)
        if label >= 0:
            return label
        for c in self._parcels.allowed:
            if self._asked[c] and now >= self._answers[c] and self._parcels.is_sent(c):
                return c
        return -1

    def _begin_parcel(self, label, now):
        self._asked[label] = 0
        self._answers[label] = now + _MINUTE
        data = self.collect(label, now)
        if data:
            size = len(data)
            copy(self._told, 0, data, 0, size)
            self._told_key = _number(data, size - 4)
            self._told_label, self._told_size, self._next = label, size, 0
            data = None
        gc.collect()

    def _send_part(self):
        size = self._told_size
        parts = (size + _DATA - 1) // _DATA
        part = self._next % parts
        at = part * _DATA
        packet = self._packet
        self._head(_IS_PART, self._told_label, self._told_key)
        put_u16(packet, _SIZE, size)
        put_u16(packet, _PART, part)
        copy(packet, _HEAD, self._told, at, min(_DATA, size - at))
        self._give()
        self._next += 1
        if self._next >= _TIMES * parts:
            self._told_size = 0

    def _ask(self, now):
        """Ask for the next class of which there is too little, perhaps none."""
        classes = self._parcels.classes
        for _ in range(classes):
            label = self._asks
            self._asks = label + 1
            if self._asks == classes:
                self._asks = 0
                self._pause = min(2 * self._pause, _HOUR)
            if self._parcels.held(label) < MOST:
                self._head(_IS_ASK, label, 0)
                self._give()
                break
        self._ask_at = now + self._pause + self._throw(self._pause)

    def _head(self, kind, label, key):
        packet = self._packet
        for i in range(3):
            packet[i] = _MAGIC[i]
        for i in range(_SIZE, _SIGNED):
            packet[i] = 0
        packet[_KIND] = kind
        _put_number(packet, _CLASS, self._marks[label])
        _put_number(packet, _PARCEL, key)

    def _give(self):
        """Sign the packet and send it; if that fails, it is lost."""
        self._hmac.sign(self._packet, 0, _SIGNED)
        self._hmac.give(self._packet, _SIGNED, _CODE)
        self._carrier.give(self._packet)


def _number(data, at):
    """The 30 lower bits of four bytes."""
    return read_u16(data, at) | (read_u16(data, at + 2) & 16383) << 16


def _put_number(data, at, value):
    put_u16(data, at, value & 65535)
    put_u16(data, at + 2, value >> 16)
