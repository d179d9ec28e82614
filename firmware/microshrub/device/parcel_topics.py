"""Parcels by MQTT: a board gives its own to its group's topics, and takes those of the others.

    microshrub-parcel/GROUP/CLASS/BOARD     a parcel of samples of that class, retained

The broker is asked for one class after the other: when the line opens, once an hour, and where
there was more than could be taken. All that it has of a class has come a few seconds later. The
board takes one parcel of it, and asks again once it has learned that. It listens all the time as
well, but what comes while a parcel is learned is let go: the broker has it still.

A class is told after the broker was asked for it, as its parcels of at most eight other boards are
kept there. If it has lost the board's own one, that is sent again.
"""

import gc
from binascii import crc32

from micropython import const

from .mqtt import PUBLISH, RETAIN
from .parcel_post import ParcelPost

_TOPIC = b"microshrub-parcel/"
_SUBSCRIBE = const(0x82)
_ANY = const(268435455)  # bytes of a packet: what is too long is passed over, as others sent it
_HOUR = const(3600)  # seconds between two rounds of all classes
_SOON = const(60)  # and if something was left
_COME = const(5)  # of silence, behind which all has come that was asked for
_BOARDS = const(8)  # whose parcels of a class a group has, and are looked at in a round
_NAME = const(32)  # bytes of a board's name
_ESCAPED = const(3)  # bytes of one that stands in a topic as in a URL
_PIECE = const(128)
_SENTENCES = const(8)  # sentences that wait to be said
_PLAIN = b"-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class ParcelTopics(ParcelPost):
    """A ParcelPost by a group's topics, and an MqttClient `client`.

    kept   bytes of the longest message that is of use, with its topic
    """

    def __init__(self, app, group, say):
        super().__init__(app, say)
        parcels = self._parcels
        self._own = parcels.name.encode()
        self._base = _TOPIC + group.encode() + b"/"
        most = max([len(name.encode()) for name in parcels.class_names])
        self.kept = 2 + len(self._base) + _ESCAPED * most + 1 + _NAME + parcels.room
        self._words = []  # what became of parcels, until the voice has said it
        self._client = self._voice = say  # until they are set
        self._take = self._talk = say
        self._begin()

    def attach(self, client, voice):
        """Stand before a house at its MqttClient, and use its HouseVoice."""
        client._in.longest = _ANY
        self._client, self._voice = client, voice
        self._take, client.take = client.take, self.take
        self._talk, client.talk = client.talk, self.talk
        self.begin()

    def _begin(self):
        """A line has been opened: ask for all classes."""
        self._packet = b""  # what is being sent,
        self._gone = 0  # and how many have gone
        self._class = -1  # the one that is asked for; -1: none is
        self._only = False  # and no other one
        self._left = False  # something could not be taken
        self._mine = False  # the broker has a parcel of it that is this board's,
        self._others = 0  # and so many of others
        self._tries = 0
        self._latest = 0  # when to go on, even if more comes
        self._round = self._looked = self._app.seconds  # when all classes are asked for

    def tick(self, milliseconds):
        """Tell the time, as the application takes it; judge or learn, and have it said."""
        said = super().tick(milliseconds)
        if self._words and not self._voice.words:
            self._voice.words = self._words.pop(0)
        return said

    def tell(self, words):
        """Say it on the line, and at the broker."""
        super().tell(words)
        self._words.append(words)

    # What comes

    def take(self, body, start, end, size, retained):
        """Take a message, as a client gives it: a parcel, or one for the house."""
        topic = bytes(memoryview(body)[2:start])
        if topic.startswith(self._base):
            self._take_parcel(topic, body, start, end, size)
        else:
            self._take(body, start, end, size, retained)

    def _take_parcel(self, topic, body, start, end, size):
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
        names = self._parcels.class_names
        for c in range(len(names)):
            if quoted(names[c]) == name:
                return c
        return -1

    def _offer(self, label, origin, body, start, end, size):
        # of the topic, too: elsewhere the same bytes are another board's, or nobody's
        key = crc32(memoryview(body)[2 : max(end - 4, start)])
        if len(self._words) < _SENTENCES:
            left = self.offer(key, label, origin, body, start, end, size)
        else:
            left = self._parcels.is_new(key)
        self._left = self._left or left

    # What is sent

    def talk(self, fresh, now):
        """Send what is next, as a client asks for it: of the house, or else of parcels."""
        client = self._client
        if fresh:
            self._begin()
        if self._packet:
            if client.is_free:
                self._send_piece(client.out)
            return
        self._talk(fresh, now)
        if client.is_free and not client.out.more:
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
        """Ask for a class or begin to tell one, if it is time; else allocates nothing."""
        now = self._app.seconds
        if now < self._looked or self._parcels.is_busy or self._client._in._kind >= 0:
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
        """Ask for a class, and perhaps for the ones behind it."""
        out = self._client.out
        name = quoted(self._parcels.class_names[label])
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
        """All has come of a class: ask again, tell it, or ask for the next one."""
        if self._left and self._tries < _BOARDS:
            self._ask(label, now, self._only)
        elif self._is_wanted(label, now):
            self._send(label, now)
        elif self._only or label + 1 == self._parcels.classes:
            self._class = -1
        else:
            self._ask(label + 1, now, False)

    def _is_wanted(self, label, now):
        """Whether the broker is to get the board's parcel of a class that was asked for."""
        parcels = self._parcels
        due = now >= self.sends[label] and parcels.is_due(label)
        if due and self._others >= _BOARDS:
            parcels.sent(label)  # as if: there are enough, until there is more to tell
            return False
        return due or (parcels.is_sent(label) and not self._mine and self._others < _BOARDS)

    def _send(self, label, now):
        self._mine = True  # so that it is not sent again at once
        data = self.collect(label, now)
        if data:
            name = quoted(self._parcels.class_names[label])
            self._packet = retained(self._base + name + b"/" + self._own, data)
            self._gone = 0


def is_name(name):
    """Whether a board can be called so, bytes."""
    return 0 < len(name) <= _NAME and all([byte in _PLAIN for byte in name])


def quoted(name):
    """A text as it stands in a URL, bytes."""
    found = b""
    for byte in name.encode():
        found += bytes((byte,)) if byte in _PLAIN else b"%%%02X" % byte
    return found


def retained(topic, data):
    """The packet that has a broker keep data at a topic."""
    head = bytearray((PUBLISH | RETAIN,))
    size = 2 + len(topic) + len(data)
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    head += bytes((size, len(topic) >> 8, len(topic) & 255))
    return head + topic + data
