"""A client of an MQTT 3.1.1 broker that never waits: turn() does what can be done at once.

MicroPython's umqtt waits in its socket, and for the answer to what is sent with QoS 1. Here all
buffers are made once, and a turn reads one packet and writes what the socket takes. While there is
no broker, it looks for one after pauses that grow from a second to five minutes. Only opening a
line allocates; a host that is given by its name is looked up then, which waits for the router.
"""

import errno
import select

from micropython import const

from .mqtt_packets import BrokerError, PacketIn, PacketOut
from .sockets import close, copy

AWAY = const(0)  # states: there is no broker,
_CONNECTING = const(1)  # a socket opens,
_GREETED = const(2)  # CONNECT is sent,
OPEN = const(3)  # and was accepted

_CONNECT = const(0x10)  # first bytes of packets
_CONNACK = const(0x20)
PUBLISH = const(0x30)
_PUBACK = const(0x40)
SUBSCRIBE = const(0x82)
_SUBACK = const(0x90)
_PINGREQ = const(0xC0)
_PINGRESP = const(0xD0)
RETAIN = const(1)  # bits of PUBLISH
QOS_1 = const(2)
_AGAIN = const(8)

_KEEP_ALIVE = const(60)  # seconds, as the broker is told
_PING = const(25000)  # milliseconds of silence before one is sent
_DEAD = const(75000)  # and until the line is given up
_PATIENCE = const(15000)  # for a line to open
_FIRST = const(1000)  # pauses between two attempts, milliseconds
_LAST = const(300000)
_ROOM = const(192)  # bytes of a message that are kept
_TICKS = const(1073741823)

_REFUSALS = (  # of a CONNACK, from 1 on
    "the broker speaks another version of MQTT",
    "the broker refuses the board's name",
    "the broker is not ready",
    "the broker refuses the user or the password",
    "the broker does not let this user in",
)


class MqttClient:
    """A board's end of the line to a broker.

    options   {"host", "port"}, and perhaps "ca", a file with the certificate of TLS
    hello     what stands in CONNECT behind protocol and version, see hello_of()
    room      bytes of the largest packet that is put together
    take      take(body, start, end, size, retained): a message came; its topic is body[2 : start],
              its text body[start : end]; size is what end would be if nothing had been dropped
    clock     milliseconds, as Hardware has them

    What is put into `out` is sent with the next turns; is_free says whether a packet may begin.
    """

    def __init__(self, options, hello, room, take, clock):
        self._options = options
        self._hello = hello
        self._take = take
        self._clock = clock
        self.out = PacketOut(max(room, len(hello) + 7))
        self._in = PacketIn(_ROOM)
        self._socket = self._poll = self._address = None
        self.state = AWAY
        self.waits = 0  # the number of what was sent with QoS 1, until the broker has it
        self._number = 1  # which is that of SUBSCRIBE
        self._taken = 0  # the number of the message that was taken last
        self._owed = 0  # of one that is to be acknowledged
        self._pause = _FIRST
        self._wait = 0  # milliseconds from _since on until the next attempt
        self._since = self._last = self._heard = clock()
        self._asked = False  # whether it is there

    @property
    def is_free(self):
        """Whether a packet can be put, or go on if there is more of it."""
        return self.state == OPEN and self.out.is_free

    def put_number(self, again=False):
        """Add the number by which the broker acknowledges a packet; again: that of the last."""
        if again:
            self.out.mark(_AGAIN)
        else:
            self._number = self._number + 1 if self._number < 65535 else 2
        self.out.put_16(self._number)
        self.waits = self._number

    def turn(self, reachable):
        """Do what can be done at once; reachable: whether there is a network.

        Returns what went wrong, in words, or None. Without a line to open, allocates nothing.
        """
        try:
            if self.state == AWAY:
                self._look(reachable)
            elif self.state == _CONNECTING:
                self._open()
            else:
                self._serve()
        except (OSError, ValueError, MemoryError) as error:
            return self._leave(error)
        return None

    # A line is opened

    def _look(self, reachable):
        now = self._clock()
        if not reachable or (now - self._since) & _TICKS < self._wait:
            return
        import socket

        self._since = now
        self._wait = self._pause + (now & 255)  # boards that lost it together come one by one
        if not self._address or self._pause == _LAST:
            host, port = self._options["host"], self._options["port"]
            self._address = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)[0]
        self._socket = socket.socket(self._address[0])
        self._socket.setblocking(False)
        self.state = _CONNECTING
        try:
            self._socket.connect(self._address[-1])
        except OSError as error:
            if error.args[0] not in (errno.EINPROGRESS, errno.EALREADY, errno.EAGAIN):
                raise
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLOUT)

    def _open(self):
        now = self._clock()
        for _, flags in self._poll.ipoll(0) if self._poll else ():
            if flags & (select.POLLERR | select.POLLHUP):
                raise OSError(errno.ECONNREFUSED)
            self._poll = None
            if "ca" in self._options:
                self._secure()
            self._in.forget()
            self._owed = 0
            self._asked = False
            self.out.begin(_CONNECT)
            self.out.put(b"\0\4MQTT\4")
            self.out.put(self._hello)
            self.out.send()
            self.state = _GREETED
            self._last = self._heard = self._since = now
            return
        if (now - self._since) & _TICKS > _PATIENCE:
            raise OSError(errno.ETIMEDOUT)

    def _secure(self):
        """Speak TLS from now on."""
        import tls

        context = tls.SSLContext(tls.PROTOCOL_TLS_CLIENT)
        with open(self._options["ca"], "rb") as file:
            context.load_verify_locations(file.read())
        self._socket = context.wrap_socket(
            self._socket, server_hostname=self._options["host"], do_handshake_on_connect=False
        )

    def _leave(self, error):
        close(self._socket)
        self._socket = self._poll = None
        self.out.forget()
        self.state = AWAY
        self._since = self._clock()
        self._wait = self._pause + (self._since & 255)
        self._pause = min(2 * self._pause, _LAST)
        return str(error)

    # And used

    def _serve(self):
        now = self._clock()
        if self.out.write(self._socket):
            self._last = now
        if not self._owed:
            kind = self._in.read(self._socket)
            if self._in.came:
                self._heard = now
            if kind >= 0:
                self._packet(kind, self._in.size)
        if self.out.is_free and not self.out.more:
            self._answer(now)
        quiet = (now - self._heard) & _TICKS
        if quiet > (_DEAD if self.state == OPEN else _PATIENCE):
            raise OSError(errno.ETIMEDOUT)

    def _answer(self, now):
        """Send what the protocol asks for."""
        if self._owed:
            self.out.begin(_PUBACK)
            self.out.put_16(self._owed)
            self.out.send()
            self._owed = 0
            return
        quiet = max((now - self._heard) & _TICKS, (now - self._last) & _TICKS)
        if quiet > _PING and self.state == OPEN and not self._asked:
            self._asked = True
            self.out.begin(_PINGREQ)
            self.out.send()

    def _packet(self, kind, size):
        body = self._in.body
        if self.state == _GREETED:
            if kind != _CONNACK or size != 2:
                raise BrokerError("what is there is no broker")
            if body[1]:
                raise BrokerError(_REFUSALS[min(body[1], len(_REFUSALS)) - 1])
            if not body[0]:  # it does not know us, and what it sends is new
                self._taken = 0
            self._pause = _FIRST
            self.state = OPEN
        elif kind >> 4 == PUBLISH >> 4:
            self._message(body, kind, size)
        elif kind == _PUBACK and size == 2:
            if body[0] << 8 | body[1] == self.waits:
                self.waits = 0
        elif kind == _PINGRESP and not size:
            self._asked = False
        elif kind != _SUBACK or size < 3:
            raise BrokerError("the broker sends a packet that cannot come")

    def _message(self, body, kind, size):
        qos = kind >> 1 & 3
        start = 2 + (body[0] << 8 | body[1]) if size >= 2 else 0
        end = min(size, len(body))
        if qos > 1 or start < 3 or start + 2 * qos > end:
            raise BrokerError("the broker sends a message that cannot be")
        if qos:
            number = body[start] << 8 | body[start + 1]
            if not number:
                raise BrokerError("the broker sends a message without a number")
            self._owed = number
            if kind & _AGAIN and number == self._taken:
                return
            self._taken = number
            end -= 2
            size -= 2
            copy(body, start, body, start + 2, end - start)
        self._take(body, start, end, size, kind & RETAIN)


def hello_of(name, will, user, password):
    """What stands in CONNECT behind the protocol's name and version: bytes.

    will is the topic that says "offline", retained, once the board is gone; messages with QoS 1
    are kept for a board of this name while it is away.
    """
    flags = 0x24  # a will that is retained
    texts = [name, will, "offline"]
    for text, flag in ((user, 0x80), (password, 0x40)):
        if text:
            flags |= flag
            texts.append(text)
    said = bytearray((flags, 0, _KEEP_ALIVE))
    for text in texts:
        data = text.encode()
        said += bytes((len(data) >> 8, len(data) & 255)) + data
    return bytes(said)
