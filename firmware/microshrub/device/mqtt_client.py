"""An MQTT 3.1.1 client that never waits: turn() does what is possible at once.

MicroPython's umqtt waits for its socket, and for the answer to each packet with QoS 1. Here all
buffers are made once, and a turn reads a packet piece by piece and writes as much as the socket
accepts. While there is no broker, it tries again after pauses that grow from a second to five
minutes.
Only opening a connection allocates, see mqtt_connect.py.
"""

from array import array

import micropython
from micropython import const

from .config import unload
from .networking import close, copy, send

_HEAD = const(3)  # room for a packet's first byte and length
_LONGEST = const(16384)  # bytes of a packet; the connection ends if the broker sends a longer one
_PIECE = const(32)  # bytes that are read at once,
_PIECES = const(16)  # how many pieces are read in a turn
_DIGITS = const(10)  # the most digits of a number below 2**30

AWAY = const(0)  # states: there is no connection,
_OPENING = const(1)  # a connection opens,
_GREETED = const(2)  # CONNECT was sent,
OPEN = const(3)  # CONNECT was accepted

_CONNECT = const(0x10)  # first bytes of packets
_CONNACK = const(0x20)
PUBLISH = const(0x30)
_PUBACK = const(0x40)
_SUBACK = const(0x90)
_PINGREQ = const(0xC0)
_PINGRESP = const(0xD0)
RETAIN = const(1)  # bits of PUBLISH
QOS_1 = const(2)
_AGAIN = const(8)

_PING = const(25000)  # milliseconds of silence before a PINGREQ is sent,
_DEAD = const(75000)  # milliseconds of silence until the connection is given up
_PATIENCE = const(15000)  # milliseconds for a connection to open
_FIRST = const(1000)  # pauses between two attempts, milliseconds
_LAST = const(300000)
_TICKS = const(1073741823)

_LOST = (OSError, ValueError, MemoryError)  # errors that end a connection


@micropython.viper
def copy_text(target, at: int, end: int, source, start: int, n: int) -> int:
    """Copy n bytes to target[at : end], escaped for a JSON string; returns where they end.

    Bytes for which there is no room are left out.
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
    """Write a number of 0..2**30 - 1, base 10 or 16, to data[at :], in at least `least` digits.

    Returns where they end.
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
    """Copy form[k :] to target; the next number of values, array('i'), replaces each byte 1.

    where is array('i'): the place in target and the next value, which both advance, then the ends
    of target and form. A value is 0..2**30 - 1, or -1 for null. Stops at a byte of 2..4 and
    returns its place; otherwise returns the form's length, or -1 if there is no room.
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
    """The packet to be sent, of up to `room` bytes, or a longer one in pieces.

    While is_free(): call begin(), put() any number of times, and send(first byte of the packet).
    Without send(), the bytes are sent as they are: a piece of a packet that is made elsewhere.
    `more`: another piece follows.
    """

    def __init__(self, room):
        self._bytes = bytearray(_HEAD + room)
        self._where = array("i", [0, 0, _HEAD + room, 0])  # the places in a form, see fill()
        self.forget()

    def forget(self):
        """Drop the packet."""
        self._sent = self.end = 0
        self.more = False

    def is_free(self):
        """Return whether the last packet was sent."""
        return self._sent == self.end

    def begin(self):
        """Begin a packet, or a piece of one."""
        self._sent = self.end = _HEAD

    def put(self, data, start=0, n=-1):
        """Add n bytes of data, or all of them from `start` on, as far as there is room."""
        if n < 0:
            n = len(data) - start
        n = min(n, len(self._bytes) - self.end)
        copy(self._bytes, self.end, data, start, n)
        self.end += n

    def begin_form(self):
        """Begin a form, with its first value."""
        self._where[1] = 0

    def put_form(self, form, start, values):
        """Add form[start :] with its numbers, see fill(); returns where in the form it stopped.

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
        """Return the place of the form's next value, and skip n values."""
        at = self._where[1]
        self._where[1] = at + n
        return at

    def put_text(self, data, start, n):
        """Add n bytes, escaped for a JSON string, as far as there is room."""
        self.end = copy_text(self._bytes, self.end, len(self._bytes), data, start, n)

    def put_16(self, value):
        """Add two bytes, big-endian."""
        self._bytes[self.end] = value >> 8
        self._bytes[self.end + 1] = value & 255
        self.end += 2

    def put_digits(self, value, base=10, least=1):
        """Add a number of 0..2**30 - 1, base 10 or 16, in at least `least` digits."""
        if self.end + _DIGITS <= len(self._bytes):
            self.end = write_digits(self._bytes, self.end, value, base, least)

    def send(self, first):
        """Complete the packet with its first byte and its length, which is below 2**14."""
        size = self.end - _HEAD
        at = int(size < 128)
        self._bytes[1] = size & 127 | 128
        self._bytes[2] = size >> 7 if size > 127 else size
        self._bytes[at] = first
        self._sent = at

    def write(self, socket):
        """Write as much as the socket accepts; returns whether it accepted anything."""
        before = self._sent
        self._sent = send(socket, self._bytes, before, self.end)
        return self._sent != before


class PacketIn:
    """The packet being received: `body` has its first `room` bytes, `size` is its full size.

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
        self.came = False  # the last read() has read a byte

    def read(self, socket):
        """Read what has arrived; returns a packet's first byte once it is complete, else -1.

        Allocates nothing. Raises OSError if the line has ended, and ValueError for a wrong packet.
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
        """Take n bytes of a piece; returns the same as read()."""
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


class MqttClient:
    """A board's connection to a broker.

    where   (host, port, None or a file with the certificate of TLS)
    hello   the body of CONNECT, see hello_of() in network_start.py
    room    bytes of the largest packet to send
    kept    bytes to keep of a received message and its topic
    take    take(body, start, end, size, retained): a message came; its topic is body[2 : start],
            its text body[start : end]; size is what end would be had nothing been dropped
    talk    talk(fresh, milliseconds), called while connected: it may put a packet into `out`, if
            is_free(); fresh: the connection is new
    clock   milliseconds, as Hardware has them
    """

    def __init__(self, where, hello, room, kept, clock):
        self._where = where
        self._hello = hello
        self.take = self.talk = clock  # until they are set
        self._clock = clock
        self.out = PacketOut(max(room, len(hello)))
        self._in = PacketIn(kept)
        self._socket = self._opening = self._address = None
        self.state = AWAY
        self.waits = 0  # the number of a packet with QoS 1 that the broker has not acknowledged
        self._number = 1  # the number of the last packet with QoS 1; SUBSCRIBE has 1
        self._taken = 0  # the number of the message that was taken last,
        self._owed = 0  # the number of a message that is still to be acknowledged
        self._pause = _FIRST
        self._wait = 0  # milliseconds from _since on until the next attempt
        self._since = self._last = self._heard = clock()
        self._reason = None  # why the connection was lost, a message
        self._asked = self._fresh = False  # a PINGREQ waits for its answer; the connection is new

    def is_free(self):
        """Return whether `out` can take a packet, or the next piece of one."""
        return self.state == OPEN and self.out.is_free()

    def put_number(self, again):
        """Add the number by which the broker acknowledges a packet; again: the last number.

        Returns the first byte of the packet.
        """
        if not again:
            self._number = self._number + 1 if self._number < 65535 else 2
        self.out.put_16(self._number)
        self.waits = self._number
        return PUBLISH | QOS_1 | (_AGAIN if again else 0)

    def turn(self, reachable):
        """Do as much as is possible without waiting; reachable: whether there is a network.

        Returns an error's message, or None. Allocates nothing, except to open a connection.
        """
        self._reason = None
        with self:  # and no `except`, whose frame would be on the heap
            self._go_on(reachable)
        return self._reason

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        """Suppress the error that ended the connection."""
        lost = kind is not None and issubclass(kind, _LOST)
        if lost:
            self._lose(error)
        return lost

    def _go_on(self, reachable):
        if self.state > _OPENING:
            self._serve(self._clock())
        elif reachable:
            self._open(self._clock())

    def _lose(self, error):
        """Close the connection for a pause, and keep the reason."""
        close(self._socket)
        self._socket = self._opening = None
        self.out.forget()
        self.state = AWAY
        self._since = self._clock()
        self._wait = self._pause + (self._since & 255)
        self._pause = min(2 * self._pause, _LAST)
        self._reason = str(error).strip()
        if error.args and isinstance(error.args[0], int):
            self._reason = "the connection is lost: " + self._reason

    def _open(self, now):
        waited = (now - self._since) & _TICKS
        if self.state == AWAY:
            if waited < self._wait:
                return
            from .mqtt_connect import MqttConnect

            unload("mqtt_connect")
            self._since = now
            self._wait = self._pause + (now & 255)  # so that boards come back one by one
            self._opening = MqttConnect(*self._where)
            address = self._address if self._pause < _LAST else None
            self._address = self._opening.find(address)
            self._socket = self._opening.socket
            self.state = _OPENING
        elif self._opening.is_done():  # type: ignore[union-attr]
            self._socket = self._opening.socket  # type: ignore[union-attr]
            self._opening = None
            self._in.forget()
            self._owed = 0
            self._asked = False
            self.out.begin()
            self.out.put(self._hello)
            self.out.send(_CONNECT)
            self.state = _GREETED
            self._last = self._heard = now
        elif waited > _PATIENCE:
            raise OSError("the broker does not answer")

    def _serve(self, now):
        out = self.out
        if out.write(self._socket):
            self._last = now
        if not self._owed:
            kind = self._in.read(self._socket)
            if self._in.came:
                self._heard = now
            if kind >= 0:
                self._packet(kind, self._in.size)
        quiet = (now - self._heard) & _TICKS
        if out.is_free() and not out.more:
            if self._owed:
                out.begin()
                out.put_16(self._owed)
                out.send(_PUBACK)
                self._owed = 0
            elif max(quiet, (now - self._last) & _TICKS) > _PING and not self._asked:
                self._asked = True
                out.begin()
                out.send(_PINGREQ)
        if quiet > (_DEAD if self.state == OPEN else _PATIENCE):
            raise OSError("the broker does not answer")
        if self.state == OPEN:
            fresh, self._fresh = self._fresh, False
            self.talk(fresh, now)

    def _packet(self, kind, size):
        body = self._in.body
        if self.state == _GREETED:
            if kind != _CONNACK or size != 2:
                raise ValueError("this is no MQTT broker")
            if body[1]:
                from .mqtt_connect import refusal

                raise ValueError(refusal(body[1]))
            if not body[0]:  # it does not know this board, so all it sends is new
                self._taken = 0
            self._pause = _FIRST
            self._fresh = True
            self.state = OPEN
        elif kind >> 4 == PUBLISH >> 4:
            self._message(body, kind, size)
        elif kind == _PUBACK and size == 2:
            if body[0] << 8 | body[1] == self.waits:
                self.waits = 0
        elif kind == _PINGRESP and not size:
            self._asked = False
        elif kind != _SUBACK or size < 3:
            raise ValueError("the broker sends an unexpected packet")

    def _message(self, body, kind, size):
        qos = kind >> 1 & 3
        start = 2 + (body[0] << 8 | body[1]) if size >= 2 else 0
        end = min(size, len(body))
        number = 0
        if qos == 1 and 3 <= start <= end - 2:
            number = body[start] << 8 | body[start + 1]
        if qos > 1 or start < 3 or start > end or bool(qos) != bool(number):
            raise ValueError("the broker sends an invalid message")
        if qos:
            self._owed = number
            if kind & _AGAIN and number == self._taken:
                return
            self._taken = number
            end -= 2
            size -= 2
            copy(body, start, body, start + 2, end - start)
        self.take(body, start, end, size, kind & RETAIN)
