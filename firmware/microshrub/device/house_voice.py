"""What a board in a house tells its broker, message by message, as its socket takes them.

house.bin has the retained messages by which Home Assistant finds the board, house_messages.py of
the PC writes it: each begins with four 16-bit numbers, big-endian: the bytes of its topic, and
those of its text before and behind the names of the classes, and whether there are these.
"""

import gc
from array import array

from micropython import const

from .mqtt import PUBLISH, QOS_1, RETAIN, SUBSCRIBE

_MINUTE = const(60000)  # milliseconds between two states, at most,
_LEAST = const(1000)  # and at least
_ROOM = const(112)  # bytes of what is said
_TICKS = const(1073741823)

_LISTEN = const(0)  # what is to be done first: hear what is said,
_INTRODUCE = const(1)  # be found,
_GREET = const(2)  # say that it is there
_TALK = const(3)

_HEARS = (  # and with which QoS: what comes with 1, the broker keeps for a board that is away
    (b"label/set", 0),
    (b"normal/set", 0),
    (b"answer/set", 1),
    (b"name/set", 1),
)
_BIRTH = b"homeassistant/status"
_HEX = b"0123456789abcdef"
_BITS = b"\0\1"
_KINDS = (b"state", b"drift", b"drift over", b"anomaly", b"anomaly over", b"question", b"new")
_HEAD = const(8)  # bytes before each message of the file


class HouseVoice:
    """The voice of a House, whose topics begin with `base`; path is that of house.bin.

    `due`: the state is to be told before its minute is over.
    """

    def __init__(self, house, app, client, base, path):
        self._house = house
        self._app = app
        self._path = path
        self._base = base
        self._client = client
        self._out = client.out
        self.due = False
        self.flying = False  # an event is under way
        self._changes = house.names.changes
        self._words = bytearray(_ROOM)
        self._size = 0  # of what is to be said
        self._piece = bytearray(64)
        self._digits = bytearray(10)
        self._next = _LISTEN
        self._file = None  # house.bin, while it is told
        self._left = array("H", (0, 0, 0))  # of a message: before the names, of these, behind
        self._class = 0  # whose name comes next
        self._anew = False  # all of the file is to be told
        self._again = False  # the event that is under way is to be sent again
        self._told = 0

    def introduce(self):
        """Tell, from the beginning, how the board is found."""
        self._next = min(self._next, _INTRODUCE)
        self._anew = True

    def speak(self, words):
        """Say something to people."""
        data = words.encode()
        n = min(len(data), _ROOM)
        while 0 < n < len(data) and data[n] & 0xC0 == 0x80:  # not half a letter
            n -= 1
        for k in range(n):
            self._words[k] = data[k]
        self._size = n

    def talk(self, fresh, now):
        """Send what is next, if there is room for it; fresh: the line has just been opened."""
        out = self._out
        if fresh:
            self._next = _LISTEN
            self._again = self.flying
            self.introduce()
        if not self._client.is_free:
            return
        if self._house.names.changes != self._changes:
            self._changes = self._house.names.changes
            self.introduce()
        if self._next == _LISTEN:
            self._listen()
            self._next = _INTRODUCE
        elif self._next == _INTRODUCE or out.more:
            self._introduce()
        elif self._next == _GREET:
            self._begin(PUBLISH + RETAIN, b"status")
            out.put(b"online")
            out.send()
            self._next = _TALK
            self.due = True
            self._told = (now - _LEAST) & _TICKS
        elif self.flying and not self._client.waits:
            self.flying = False
            self._house.events.drop()
        elif self._house.events.held and (self._again or not self.flying):
            self._tell_event()
        elif self._size:
            self._begin(PUBLISH, b"said")
            out.put(self._words, 0, self._size)
            out.send()
            self._size = 0
        elif (now - self._told) & _TICKS >= (_LEAST if self.due else _MINUTE):
            self._told = now
            self.due = False
            self._tell_state()

    # What it tells

    def _begin(self, first, topic):
        """Begin a message of this topic behind the base."""
        out = self._out
        out.begin(first)
        out.put_16(len(self._base) + len(topic))
        out.put(self._base)
        out.put(topic)

    def _listen(self):
        out = self._out
        out.begin(SUBSCRIBE)
        out.put_16(1)
        for topic, qos in _HEARS:
            out.put_16(len(self._base) + len(topic))
            out.put(self._base)
            out.put(topic)
            out.put(_BITS, qos, 1)
        out.put_16(len(_BIRTH))
        out.put(_BIRTH)
        out.put(_BITS, 0, 1)
        out.send()

    def _introduce(self):
        """Tell the next piece of the file."""
        out = self._out
        left = self._left
        file = self._file
        if out.more and file:
            k = 0 if left[0] else 1 if left[1] else 2
            out.go_on(left[k])
            before = out.room
            if k == 1:
                self._class = self._house.names.put_next(out, self._class)
            else:
                n = file.readinto(self._piece, min(left[k], len(self._piece)))
                out.put(self._piece, 0, n)
            left[k] -= before - out.room
            out.send_on()
            return
        if self._anew or not file:
            if file:
                file.close()
            file = self._file = open(self._path, "rb")  # noqa: SIM115  (it is told in pieces)
            self._anew = False
        if file.readinto(self._piece, _HEAD) != _HEAD:
            file.close()
            self._file = None
            self._next = _GREET
            return
        piece = self._piece
        topic = piece[0] << 8 | piece[1]
        left[0] = piece[2] << 8 | piece[3]
        left[2] = piece[4] << 8 | piece[5]
        left[1] = self._house.names.list_size() if piece[7] else 0
        out.begin(PUBLISH + RETAIN)
        out.put_16(topic)
        while topic > 0:
            n = file.readinto(piece, min(topic, len(piece)))
            out.put(piece, 0, n)
            topic -= n
        self._class = 0
        out.send(left[0] + left[1] + left[2])

    def _put_name(self, c):
        """Put the name of a class; nothing for -1."""
        self._house.names.put(self._out, c)

    def _put_number(self, value):
        """Put a whole number of 0 or more."""
        digits = self._digits
        at = len(digits)
        while value or at == len(digits):
            at -= 1
            digits[at] = 48 + value % 10
            value //= 10
        self._out.put(digits, at)

    def _put_stamp(self, epoch, number):
        """Put what an answer has to name: eight hexadecimal digits."""
        for shift in (12, 8, 4, 0):
            self._out.put(_HEX, epoch >> shift & 15, 1)
        for shift in (12, 8, 4, 0):
            self._out.put(_HEX, number >> shift & 15, 1)

    def _put_pair(self, name, value):
        """Put a comma, a name and its number."""
        out = self._out
        out.put(b',"')
        out.put(name)
        out.put(b'":')
        self._put_number(value)

    def _tell_state(self):
        out, house, app = self._out, self._house, self._app
        self._begin(PUBLISH + RETAIN, b"state")
        out.put(b'{"state":"')
        self._put_name(house.shown)
        out.put(b'"')
        self._put_pair(b"confidence", app.confidence * 100 // 255)
        if house.labels:
            self._put_pair(b"accuracy", house.right * 100 >> 16)
        else:
            out.put(b',"accuracy":null')
        self._put_pair(b"drift", int(house.drifting))
        self._put_pair(b"anomaly", int(house.unlike))
        self._put_pair(b"new", int(house.new))
        self._put_pair(b"samples", app.metrics.samples)
        self._put_pair(b"free", gc.mem_free())
        self._put_pair(b"lost", house.events.lost)
        out.put(b',"label":"')
        self._put_name(house.label_now)
        out.put(b'","asked":"')
        asked = house.asked
        if asked:
            self._put_stamp(house.epoch_of(asked), asked)
            out.put(b'","guess":"')
            self._put_name(house.questions._said)
        out.put(b'"}')
        out.send()

    def _tell_event(self):
        out, house = self._out, self._house
        events = house.events
        self._begin(PUBLISH + QOS_1, b"event")
        self._client.put_number(self._again)
        self._again = False
        self.flying = True
        out.put(b'{"event":"')
        out.put(_KINDS[events.kind])
        out.put(b'","class":"')
        self._put_name(events.label)
        out.put(b'","id":"')
        self._put_stamp(events.epoch, events.number)
        out.put(b'"')
        self._put_pair(b"ago", max(self._app.seconds - events.second, 0))
        out.put(b"}")
        out.send()
