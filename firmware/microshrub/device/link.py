"""The board's end of the serial link: requests come in frames and are applied once, in order.

docs/reference/link.md has the protocol. The application serves the requests:

    features, classes, hash   ints: 1 class of numbers; the CRC32 of the configuration, u32
    values              array('i') of features: the sample, written here before sample()
    sample(label)       predict, and learn if label >= 0; returns the class that was predicted
    confidence          of that prediction, 0..255
    sample_id           of that sample, 1..65535, for a label that comes later; 0 if it has one
    label(id, label)    learn an earlier sample
    status(words)       fill array('i') of STATUS_WORDS, each of 30 bits, as in link.md
    more                handlers of the companions' requests, by their types: called with
                        (link, to, body, n), as _call() is
    confusion(label, prediction)   how many samples with this label were predicted as that class
    configure(piece, last)         take the next piece of a configuration's text, bytes
    read_text(at, buffer)          copy the present text from byte `at` on; returns how many bytes
    state_crc32(), checkpoint(), reset()   the CRC32 of the state; save everything; forget it all

All of these may raise an Exception whose message the host shows.
"""

import struct
from array import array

from micropython import const

from ..learner import whole
from .frames import (
    HEADER,
    SPLIT_WORDS,
    TRAILER,
    VERSION,
    Outbox,
    is_intact,
    put_u16,
    read_u16,
    read_values,
    split,
    stuffed,
    unstuff,
    write_values,
)

# Requests
_HELLO = const(1)
_CONFIGURE = const(2)
_SAMPLE = const(3)
_LABELLED = const(4)
_LABEL = const(5)
_STATUS = const(6)
_CONFUSION = const(7)
_FINGERPRINT = const(8)
_CHECKPOINT = const(9)
_RESET = const(10)
_CONFIGURATION = const(11)
_ANOMALY = const(12)
_REGRESSION = const(13)
_QUERIES = const(14)
_CLASSES = const(15)
_WATCHERS = const(16)
_REQUESTS = const(17)

# Answers
_WELCOME = const(129)
_DONE = const(130)
_PREDICTION = const(131)
_COUNTS = const(132)
_STATE = const(133)
_CRC = const(134)
_TEXT = const(135)
_ANOMALY_STATUS = const(136)
_ERRORS = const(137)
_QUERY = const(138)
_CLASS = const(139)
_FIGURES = const(140)
_AGAIN = const(142)
_ERROR = const(143)
_OBSERVED = const(144)  # without a request

_ANSWERS = bytes((  # the type of the answer to each request
    _ERROR, _WELCOME, _DONE, _PREDICTION, _PREDICTION, _DONE, _STATE, _COUNTS, _CRC, _DONE, _DONE,
    _TEXT, _ANOMALY_STATUS, _ERRORS, _QUERY, _CLASS, _FIGURES))  # fmt: skip

# Errors
_OTHER_VERSION = const(1)
_NO_SESSION = const(2)
_USED_SESSION = const(3)
_UNKNOWN_TYPE = const(4)
_WRONG_LENGTH = const(5)
_REFUSED = const(6)

STATUS_WORDS = 18
_ROW = const(14)  # counts of the confusion matrix in an answer, at most
_DAMAGED = const(13)  # the word of the status that the link itself fills

_SPEAKS = b"this device speaks version 1 of the link: flash it with this PC's microshrub"

_SESSIONS = const(8)  # sessions that are remembered, to refuse a hello that comes late
_LEAST_PAYLOAD = const(64)
_BITS_16 = const(65535)
_MOST = const(1073741823)  # 2**30 - 1
_ROOM = const(0)  # a word of the splitter's state, see frames.py
_CAME = const(2)


class RequestHandlers:
    """Passes requests to an application and writes the answers to an Outbox.

    No function that a sample passes through has more than eleven words of state: otherwise
    MicroPython would allocate its frame on the heap with each call.
    """

    def __init__(self, app, out, body):
        v = 4 * app.features  # bytes of a sample
        self.app = app
        self.out = out
        self._in = body  # the frame of the request
        # Bytes of a payload; -1: one or more; -2: there is no such request
        self._wanted = array("i", (-2, 0, -1, v, v + 1, 3, 0, 2, 0, 0, 0, 2, 1, 1, 0, -1, 1))
        self.words = array("i", [0] * STATUS_WORDS)
        self.damaged = 0  # frames, at most 2**30 - 1
        self._length = 0  # size of the request's payload, and then of its answer's
        self._place = 0  # where that answer goes
        # A companion that adds to each prediction, if the host has asked for it: put(body, at)
        # writes the addition, and returns where it ends
        self.extra = None
        self.answer = _ERROR  # the type of the answer

    def _apply(self, kind, session, sequence):
        """Answer a request in its slot; _length is its payload's, then its answer's."""
        self.answer = _ERROR
        wanted = self._wanted[kind] if kind < _REQUESTS else -2
        if wanted == -2:
            self.put_error(_UNKNOWN_TYPE, b"there is no request of this type")
        elif self._length != wanted and (wanted >= 0 or not self._length):
            self.put_error(_WRONG_LENGTH, b"the payload has a wrong length")
        elif not self._read_sample(kind):
            self.put_error(_REFUSED, b"a value is not of -2**29..2**29 - 1")
        else:
            self.attempt()
        self.out.keep(self.answer, session, sequence, self._length)

    def put_error(self, code, words):
        self.answer = _ERROR
        self._length = self.out.put_error(self._place, code, words)

    def attempt(self):
        with self:  # has less state than `try`
            self._length = self._call()

    def __enter__(self):
        """Answer an error in the block with a refusal."""

    def __exit__(self, kind, error, trace):
        if kind and issubclass(kind, Exception):
            self._cannot(error)
            return True
        return False

    def _cannot(self, error):
        self.put_error(_REFUSED, (str(error) or type(error).__name__).encode())

    def _read_sample(self, kind):
        """Read the values of a request's sample, if it has one; False if one is too large."""
        if kind not in (_SAMPLE, _LABELLED):
            return True
        at = HEADER + int(kind == _LABELLED)
        return read_values(self._in, at, self.app.values, self.app.features)

    def _call(self):
        """Carry out the request and write the payload of its answer; returns the size."""
        body = self._in
        kind = body[1]
        to = self._place
        self.answer = _ANSWERS[kind]
        if kind == _SAMPLE:
            return self.put_prediction(to, self.app.sample(-1))
        if kind == _LABELLED:
            return self.put_prediction(to, self.app.sample(body[HEADER]))
        if kind == _STATUS:
            self.app.status(self.words)
            self.words[_DAMAGED] = self.damaged
            return self.put_words(to, STATUS_WORDS)
        if kind == _CONFUSION:
            return self._put_counts(to, body[HEADER], body[HEADER + 1])
        if kind == _LABEL:
            self.app.label(read_u16(body, HEADER), body[HEADER + 2])
            return 0
        if kind >= _ANOMALY:
            return self.more(kind)(self, to, body, self._length)
        return self.rest(kind, to)

    def more(self, kind):
        """The handler of a companion's request."""
        more = self.app.more.get(kind)
        if not more:
            raise ValueError(
                "the request is for a program of another kind, built with --anomaly, "
                "--guarantee, --label-budget, --spare-classes or --target"
            )
        return more

    def rest(self, kind, to):
        """Handle a request that may allocate."""
        app = self.app
        body = self._in
        if kind == _FINGERPRINT:
            struct.pack_into("<I", self.out.body, to, app.state_crc32() & 0xFFFFFFFF)
            return 4
        if kind == _CONFIGURATION:
            room = memoryview(self.out.body)[to : to + self.out.room]
            return app.read_text(read_u16(body, HEADER), room)
        if kind == _CONFIGURE:
            piece = bytes(memoryview(body)[HEADER + 1 : HEADER + self._length])
            app.configure(piece, body[HEADER] != 0)
        elif kind == _CHECKPOINT:
            app.checkpoint()
        elif kind == _RESET:
            app.reset()
        return 0

    def put_prediction(self, to, prediction):
        body = self.out.body
        put_u16(body, to, self.app.sample_id)
        body[to + 2] = prediction
        body[to + 3] = self.app.confidence
        return self.extra.put(body, to + 4) - to if self.extra else 4

    def _put_counts(self, to, label, first):
        """Put a label's row of the confusion matrix from `first` on, as much as fits."""
        last = min(self.app.classes, first + _ROW)
        count = 0
        while first < last:
            self.words[count] = self.app.confusion(label, first)
            first += 1
            count += 1
        return self.put_words(to, count)

    def put_words(self, to, count):
        write_values(self.out.body, to, self.words, count)
        return 4 * count


class Link(RequestHandlers):
    """The board's end of the line. Bytes come by feed() and go by write(buffer, n).

    window is how many requests may be under way, a power of two up to 64. As many answers are
    kept, each with up to `answer` bytes. feed() never raises. It allocates only for a
    configuration, for the CRC of the state and for messages of the application.
    """

    def __init__(self, app, write, window=8, answer=96):
        if window not in (1, 2, 4, 8, 16, 32, 64):
            raise ValueError("window has to be a power of two of 1..64, not %r" % (window,))
        v = 4 * app.features  # bytes of a sample
        room = whole("answer", answer, 4 * STATUS_WORDS, 1024)
        self._payload = max(_LEAST_PAYLOAD, v + 1)
        body = bytearray(stuffed(HEADER + self._payload + TRAILER))
        RequestHandlers.__init__(self, app, Outbox(write, window, room, v + 15), body)
        self._split = array("i", [0] * SPLIT_WORDS)
        self._split[_ROOM] = len(self._in)
        self._crc = bytearray(4)
        self._sessions = array("H", [0] * _SESSIONS)  # the present one and those before
        self._expected = 1  # the next request's sequence number
        self._asked = False  # the host was asked to send that request again
        self._observed = 0  # sequence number of the last observation
        self.foreign = 0  # the version of the last frame that was of another one

    def is_open(self):
        """Return whether a host has sent hello."""
        return self._sessions[0] != 0

    def allow(self, requests):
        """From the next answer on, let the host have 1..window requests under way."""
        self.out.allow(whole("requests", requests, 1, self.out.window))

    def feed(self, data, n):
        """Take the first n bytes of a buffer, and carry out the requests in them."""
        at = 0
        while at < n:
            at = split(self._split, self._in, data, at, n)
            if self._split[_CAME]:
                self._frame(self._split[_CAME])

    def observe(self, prediction, label):
        """Send the host a sample of the board's own sensor, app.values; label -1: unknown.

        It is sent once, and only if a host has sent hello.
        """
        if self.is_open():
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
            self.extra = None
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
        """Apply a request once, answer it each time it comes, and ask for a missing one."""
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
