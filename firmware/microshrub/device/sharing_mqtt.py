"""Sample packets by MQTT: a board publishes its own at its group's topics, and reads the others'.

    microshrub-packet/GROUP/CLASS/BOARD     a packet of samples of that class, retained

The board asks the broker for one class after another: when the connection opens, once an hour, and
when there were more packets than it could take. A few seconds later, all packets of the class have
come. The board takes one of them, and asks again once it has learned that one. Packets may come at
any time, but the board ignores them while it learns a packet, as the broker keeps them.

A class is sent after the broker was asked for it, as the broker keeps packets of a class from at
most eight other boards. If it has lost the board's own packet, the board sends that again.
"""

import gc
from binascii import crc32

from micropython import const

from .mqtt_client import PUBLISH, RETAIN
from .sharing import SharingTransport

_TOPIC = b"microshrub-packet/"
_SUBSCRIBE = const(0x82)
_ANY = const(268435455)  # bytes of a packet: one that is too long is skipped, as others sent it
_HOUR = const(3600)  # seconds between two rounds of all classes,
_SOON = const(60)  # seconds to the next round, if packets were left
_COME = const(5)  # seconds of silence after which all packets of a class have come
_BOARDS = const(8)  # the most packets of a class that a group has, and that a round looks at
_NAME = const(32)  # bytes of a board's name
_ESCAPED = const(3)  # bytes that one of its bytes may take in a topic, as in a URL
_PIECE = const(128)
_MESSAGES = const(8)  # the most messages that wait to be published
_PLAIN = b"-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class SharingMqtt(SharingTransport):
    """A SharingTransport that uses a group's topics of an MqttClient.

    kept   bytes of the longest useful message, with its topic
    """

    def __init__(self, app, group, say):
        super().__init__(app, say)
        sharing = self._sharing
        self._own = sharing.name.encode()
        self._base = _TOPIC + group.encode() + b"/"
        most = max([len(name.encode()) for name in sharing.class_names])
        self.kept = 2 + len(self._base) + _ESCAPED * most + 1 + _NAME + sharing.room
        self._messages = []  # messages about packets that wait to be published
        self._client = self._publisher = say  # until they are set
        self._take = self._talk = say
        self._begin()

    def join(self, client, publisher):
        """Take the place of the MqttCompanion at its MqttClient, and use its MqttPublisher."""
        client._in.longest = _ANY
        self._client, self._publisher = client, publisher
        self._take, client.take = client.take, self.take
        self._talk, client.talk = client.talk, self.talk

    def _begin(self):
        """Begin with a new connection: subscribe to all classes."""
        self._packet = b""  # the packet that is being sent
        self._gone = 0  # how many of its bytes were sent
        self._class = -1  # the class that the broker was asked for; -1: none
        self._only = False  # no other class is to follow
        self._left = False  # a packet could not be taken
        self._mine = False  # the broker has this board's packet of the class,
        self._others = 0  # how many packets of other boards the broker has
        self._tries = 0  # how many times in a row it was asked for that class
        self._latest = 0  # when to go on, even if packets still come
        self._round = self._looked = self._app.seconds  # when all classes are asked for

    def turn(self, milliseconds, passed):
        """Judge or learn, if a step is due, and publish the outcome."""
        super().turn(milliseconds, passed)
        if self._messages and not self._publisher.text:
            self._publisher.text = self._messages.pop(0)

    def tell(self, words):
        """Print the result for a packet, bytes, and publish it."""
        super().tell(words)
        self._messages.append(words)

    # Received messages

    def take(self, body, start, end, size, retained):
        """Take a message, as a client gives it: a packet, or one for the MqttCompanion."""
        topic = bytes(memoryview(body)[2:start])
        if topic.startswith(self._base):
            self._take_packet(topic, body, start, end, size)
        else:
            self._take(body, start, end, size, retained)

    def _take_packet(self, topic, body, start, end, size):
        if self._class >= 0:
            self._looked = min(self._app.seconds + _COME, self._latest)
        name, _, origin = topic[len(self._base) :].partition(b"/")
        label = self._class_of(name)
        if origin == self._own:
            self._mine = self._mine or (label == self._class and end > start)
        elif label >= 0 and end > start and is_name(origin):
            self._others += int(label == self._class)
            self._offer(label, str(origin, "utf-8"), body, start, end, size)

    def _class_of(self, name):
        names = self._sharing.class_names
        for c in range(len(names)):
            if quoted(names[c]) == name:
                return c
        return -1

    def _offer(self, label, origin, body, start, end, size):
        # of the topic, too: at another topic, the same bytes are another board's, or nobody's
        key = crc32(memoryview(body)[2 : max(end - 4, start)])
        if len(self._messages) < _MESSAGES:
            left = self.offer(key, label, origin, body, start, end, size)
        else:
            left = self._sharing.is_new(key)
        self._left = self._left or left

    # Sent messages

    def talk(self, fresh, now):
        """Send the next message, as a client calls it: the MqttPublisher's, or else a packet."""
        client = self._client
        if fresh:
            self._begin()
        if self._packet:
            if client.is_free():
                self._send_piece(client.out)
            return
        self._talk(fresh, now)
        if client.is_free() and not client.out.more:
            self._tell()

    def _send_piece(self, out):
        packet = self._packet
        n = min(len(packet) - self._gone, _PIECE)
        out.begin()
        out.put(packet, self._gone, n)
        self._gone += n
        out.more = self._gone < len(packet)
        if not out.more:
            self._packet = b""
            gc.collect()

    def _tell(self):
        """Ask for a class or begin to send one, if that is due; else allocates nothing."""
        now = self._app.seconds
        if now < self._looked or self._sharing.is_busy or self._client._in._kind >= 0:
            return
        self._looked = now + 1
        if self._class >= 0:
            self._close(self._class, now)
            return
        if self._left:
            self._left = False
            self._round = min(self._round, now + _SOON)
        if now >= self._round:
            self._round = now + _HOUR
            self._ask(0, now, False)
            return
        label = self.due(now)
        if label >= 0:
            self._ask(label, now, True)

    def _ask(self, label, now, only):
        """Ask the broker for a class; `only`: not for those that follow it."""
        out = self._client.out
        name = quoted(self._sharing.class_names[label])
        out.begin()
        out.put_16(1)  # the number of the request
        out.put_16(len(self._base) + len(name) + 2)
        out.put(self._base)
        out.put(name)
        out.put(b"/+\0")
        out.send(_SUBSCRIBE)
        self._tries = self._tries + 1 if label == self._class else 1
        self._class, self._only = label, only
        self._left = self._mine = False
        self._others = 0
        self._looked = now + _COME
        self._latest = now + _SOON

    def _close(self, label, now):
        """All packets of a class have come: ask again, send it, or ask for the next class."""
        if self._left and self._tries < _BOARDS:
            self._ask(label, now, self._only)
        elif self._is_wanted(label, now):
            self._send(label, now)
        elif self._only or label + 1 == self._sharing.classes:
            self._class = -1
        else:
            self._ask(label + 1, now, False)

    def _is_wanted(self, label, now):
        """Whether the broker is to get the board's packet of a class that was asked for."""
        sharing = self._sharing
        due = now >= self.sends[label] and sharing.is_due(label)
        if due and self._others >= _BOARDS:
            sharing.sent(label)  # as if it were: the group has enough for now
            return False
        return due or (sharing.is_sent(label) and not self._mine and self._others < _BOARDS)

    def _send(self, label, now):
        self._mine = True  # so that it is not sent again at once
        data = self.collect(label, now)
        if data:
            name = quoted(self._sharing.class_names[label])
            self._packet = retained(self._base + name + b"/" + self._own, data)
            self._gone = 0


def is_name(name):
    """Whether a board can have this name, bytes."""
    return 0 < len(name) <= _NAME and all([byte in _PLAIN for byte in name])


def quoted(name):
    """Return a text as in a URL, bytes."""
    text = b""
    for byte in name.encode():
        text += bytes((byte,)) if byte in _PLAIN else b"%%%02X" % byte
    return text


def retained(topic, data):
    """The MQTT packet with which a broker keeps data at a topic."""
    head = bytearray((PUBLISH | RETAIN,))
    size = 2 + len(topic) + len(data)
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    head += bytes((size, len(topic) >> 8, len(topic) & 255))
    return head + topic + data
