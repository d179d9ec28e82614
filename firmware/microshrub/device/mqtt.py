"""A client of an MQTT 3.1.1 broker that never waits: turn() does what can be done at once.

MicroPython's umqtt waits in its socket, and for the answer to what is sent with QoS 1. Here all
buffers are made once, and a turn reads one packet and writes what the socket takes. While there is
no broker, it looks for one after pauses that grow from a second to five minutes. Only opening a
line allocates, see mqtt_open.py.
"""

from micropython import const

from .config import unload
from .mqtt_packets import PacketIn, PacketOut
from .sockets import close, copy

AWAY = const(0)  # states: there is no broker,
_OPENING = const(1)  # a line opens,
_GREETED = const(2)  # CONNECT is sent,
OPEN = const(3)  # and was accepted

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

_PING = const(25000)  # milliseconds of silence before one is sent
_DEAD = const(75000)  # and until the line is given up
_PATIENCE = const(15000)  # for a line to open
_FIRST = const(1000)  # pauses between two attempts, milliseconds
_LAST = const(300000)
_TICKS = const(1073741823)

_LOST = (OSError, ValueError, MemoryError)  # what ends a line


class MqttClient:
    """A board's end of the line to a broker.

    where   (host, port, None or a file with the certificate of TLS)
    hello   the body of CONNECT, see hello_of() in house_start.py
    room    bytes of the largest packet that is put together
    kept    bytes of a message, with its topic, that are kept
    take    take(body, start, end, size, retained): a message came; its topic is body[2 : start],
            its text body[start : end]; size is what end would be if nothing had been dropped
    talk    talk(fresh, milliseconds), while a line is open: what is put into `out` is sent, if
            is_free; fresh: the line has just been opened
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
        self.waits = 0  # the number of what was sent with QoS 1, until the broker has it
        self._number = 1  # which is that of SUBSCRIBE
        self._taken = 0  # the number of the message that was taken last
        self._owed = 0  # of one that is to be acknowledged
        self._pause = _FIRST
        self._wait = 0  # milliseconds from _since on until the next attempt
        self._since = self._last = self._heard = clock()
        self._said = None  # why a line was lost, in words
        self._asked = self._fresh = False  # whether it is there; whether it has just come

    @property
    def is_free(self):
        """Whether a packet can be put, or a piece of one if there is more of it."""
        return self.state == OPEN and self.out.is_free

    def put_number(self, again):
        """Add the number by which the broker acknowledges a packet; again: that of the last.

        Returns the first byte of that packet.
        """
        if not again:
            self._number = self._number + 1 if self._number < 65535 else 2
        self.out.put_16(self._number)
        self.waits = self._number
        return PUBLISH | QOS_1 | (_AGAIN if again else 0)

    def turn(self, reachable):
        """Do what can be done at once; reachable: whether there is a network.

        Returns what went wrong, in words, or None. Without a line to open, allocates nothing.
        """
        self._said = None
        with self:  # and no `except`, whose frame would be on the heap
            self._go_on(reachable)
        return self._said

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        """Whether it was the line that ended."""
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
        """Let go of the line, for a pause, and tell why."""
        close(self._socket)
        self._socket = self._opening = None
        self.out.forget()
        self.state = AWAY
        self._since = self._clock()
        self._wait = self._pause + (self._since & 255)
        self._pause = min(2 * self._pause, _LAST)
        self._said = str(error).strip()
        if error.args and isinstance(error.args[0], int):
            self._said = "the line is lost: " + self._said

    def _open(self, now):
        waited = (now - self._since) & _TICKS
        if self.state == AWAY:
            if waited < self._wait:
                return
            from .mqtt_open import Opening

            unload("mqtt_open")
            self._since = now
            self._wait = self._pause + (now & 255)  # those that lost it together come one by one
            self._opening = Opening(*self._where)
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
            raise OSError("nothing is heard of the broker")

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
        if out.is_free and not out.more:
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
            raise OSError("nothing is heard of the broker")
        if self.state == OPEN:
            fresh, self._fresh = self._fresh, False
            self.talk(fresh, now)

    def _packet(self, kind, size):
        body = self._in.body
        if self.state == _GREETED:
            if kind != _CONNACK or size != 2:
                raise ValueError("what is there is no broker")
            if body[1]:
                from .mqtt_open import refusal

                raise ValueError(refusal(body[1]))
            if not body[0]:  # it does not know us, and what it sends is new
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
            raise ValueError("the broker sends a packet that cannot come")

    def _message(self, body, kind, size):
        qos = kind >> 1 & 3
        start = 2 + (body[0] << 8 | body[1]) if size >= 2 else 0
        end = min(size, len(body))
        number = 0
        if qos == 1 and 3 <= start <= end - 2:
            number = body[start] << 8 | body[start + 1]
        if qos > 1 or start < 3 or start > end or bool(qos) != bool(number):
            raise ValueError("the broker sends a message that cannot be")
        if qos:
            self._owed = number
            if kind & _AGAIN and number == self._taken:
                return
            self._taken = number
            end -= 2
            size -= 2
            copy(body, start, body, start + 2, end - start)
        self.take(body, start, end, size, kind & RETAIN)
