"""The serial link's end on the device: requests come in frames and are applied once, in order.

docs/reference/link.md has the protocol; what is done for a request is in answers.py.
"""

import struct
from array import array

from micropython import const

from ..learner import whole
from .answers import STATUS_WORDS, Answers
from .frames import (
    HEADER,
    SPLIT_WORDS,
    TRAILER,
    is_intact,
    split,
    stuffed,
    unstuff,
    write_values,
)
from .outbox import VERSION, Outbox, put_u16, read_u16

# From elsewhere, written by `make constants`:
# device/answers.py
_HELLO = const(1)
_OTHER_VERSION = const(1)
_NO_SESSION = const(2)
_USED_SESSION = const(3)
_WELCOME = const(129)
_AGAIN = const(142)
_ERROR = const(143)
_OBSERVED = const(144)
# (end)

_SPEAKS = b"this device speaks version 1 of the link: flash it with this PC's microshrub"

_SESSIONS = const(8)  # that are remembered, to refuse a hello that comes late
_LEAST_PAYLOAD = const(64)
_BITS_16 = const(65535)
_MOST = const(1073741823)  # 2**30 - 1
_ROOM = const(0)  # of the splitter's state, see frames.py
_CAME = const(2)


class Link(Answers):
    """One end of the line. Bytes come by feed() and go by write(buffer, n).

    window is how many requests may be under way, a power of two up to 64: so many answers are
    kept, each with up to `answer` bytes. feed() never raises, and allocates nothing, but for a
    configuration, the CRC of the state and words of the application.
    """

    def __init__(self, app, write, window=8, answer=96):
        if window not in (1, 2, 4, 8, 16, 32, 64):
            raise ValueError("window has to be a power of two of 1..64, not %r" % (window,))
        v = 4 * app.features  # bytes of a sample
        room = whole("answer", answer, 4 * STATUS_WORDS, 1024)
        self._payload = max(_LEAST_PAYLOAD, v + 1)
        body = bytearray(stuffed(HEADER + self._payload + TRAILER))
        Answers.__init__(self, app, Outbox(write, window, room, v + 15), body)
        self._split = array("i", [0] * SPLIT_WORDS)
        self._split[_ROOM] = len(self._in)
        self._crc = bytearray(4)
        self._sessions = array("H", [0] * _SESSIONS)  # the present one and those before
        self._expected = 1  # the next request's sequence number
        self._asked = False  # for it, again
        self._observed = 0  # sequence number of the last observation
        self.ways = ()  # type: tuple  # see scores.ways()
        self.foreign = 0  # the version of the last frame that was of another one

    @property
    def is_open(self):
        """Whether a host has said hello."""
        return self._sessions[0] != 0

    def allow(self, requests):
        """From the next answer on, let the host have so many under way, 1..window."""
        self.out.allow(whole("requests", requests, 1, self.out.window))

    def feed(self, data, n):
        """Take the first n bytes of a buffer, and do what the frames in them ask for."""
        at = 0
        while at < n:
            at = split(self._split, self._in, data, at, n)
            if self._split[_CAME]:
                self._frame(self._split[_CAME])

    def observe(self, prediction, label):
        """Tell the host of a sample of the device's own, app.values; label is -1 if unknown.

        It is told once, and only if a host has said hello.
        """
        if self.is_open:
            out = self.out
            self._observed = (self._observed + 1) & _BITS_16
            size = self.put_prediction(out.once, prediction)
            put_u16(out.body, out.once + size, label & _BITS_16)
            write_values(out.body, out.once + size + 2, self.app.values, self.app.features)
            size += 2 + 4 * self.app.features
            out.send_once(_OBSERVED, self._sessions[0], self._observed, size)

    def _frame(self, came):
        body = self._in
        n = unstuff(body, came) if came <= len(body) else -1
        if not is_intact(self.out.crc_table, body, n, self._crc):
            self.damaged += int(self.damaged < _MOST)
            return
        if body[1] < _WELCOME:  # else an echo
            self._take(body[1], n - HEADER - TRAILER)

    def _take(self, kind, n):
        session = read_u16(self._in, 2)
        sequence = read_u16(self._in, 4)
        if self._in[0] != VERSION:
            self.foreign = self._in[0]
            self._complain(0, 0, _OTHER_VERSION, _SPEAKS)
        elif kind == _HELLO:
            self._hello(session, sequence)
        elif session != self._sessions[0] or not session:
            self._complain(session, sequence, _NO_SESSION, b"this session is not open: say hello")
        else:
            self._request(kind, sequence, n)

    def _complain(self, session, sequence, code, words):
        out = self.out
        out.send_once(_ERROR, session, sequence, out.put_error(out.once, code, words))

    def _hello(self, session, sequence):
        sessions = self._sessions
        if session != sessions[0]:
            for i in range(_SESSIONS):
                if sessions[i] == session or not session:
                    self._complain(session, sequence, _USED_SESSION, b"this session is over")
                    return
            for i in range(_SESSIONS - 1, 0, -1):
                sessions[i] = sessions[i - 1]
            sessions[0] = session
            self._expected = 1
            self._observed = 0
            if self.ways:
                self.put_prediction = self.ways[0]  # type: ignore[method-assign]
            self.out.forget()
        self._asked = False
        app, out = self.app, self.out
        struct.pack_into("<I", out.body, out.once, app.hash)
        put_u16(out.body, out.once + 4, app.features)
        put_u16(out.body, out.once + 6, app.classes)
        put_u16(out.body, out.once + 8, self._payload)
        put_u16(out.body, out.once + 10, self._expected)
        out.send_once(_WELCOME, session, sequence, 12)

    def _request(self, kind, sequence, n):
        """Apply a request once, answer it as often as it comes, ask for one that is missing."""
        ahead = (sequence - self._expected) & _BITS_16
        if not ahead:
            self._length = n
            self._place = self.out.slot(sequence)
            self._apply(kind, self._sessions[0], sequence)
            self._expected = (sequence + 1) & _BITS_16
            self._asked = False
        if not ahead or ahead > _BITS_16 - self.out.window:
            self.out.repeat(sequence)
        elif ahead <= self.out.window and not self._asked:
            self._asked = True
            self.out.send_once(_AGAIN, self._sessions[0], self._expected, 0)
