"""What the device's end of the serial link answers to requests.

What is done for a request is up to an application:

    features, classes, hash   ints: 1 class of numbers; the CRC32 of the configuration, u32
    values              array('i') of features: the sample, written here before sample()
    sample(label)       predict, and learn if label >= 0; returns the class that was predicted
    confidence          of that prediction, 0..255
    sample_id           of that sample, 1..65535, for a label that comes later; 0 if it has one
    label(id, label)    learn an earlier sample
    status(words)       fill array('i') of STATUS_WORDS, each of 30 bits, as in link.md
    more                what answers requests on what stands beside the model, by their types:
                        called with (link, to, body, n), as _call() is
    confusion(label, prediction)   how many samples of the label were predicted so
    configure(piece, last)         take the next piece of a configuration's text, bytes
    read_text(at, buffer)          copy the present one's from byte `at` on; returns how many bytes
    state_crc32(), checkpoint(), reset()   the CRC32 of the model's state; save it; forget it

Any of these may raise an Exception with the words that the host is to show.
"""

import struct
from array import array

from micropython import const

from .frames import HEADER, read_values, write_values
from .outbox import put_u16, read_u16

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
_NUMBERS = const(13)
_ASKING = const(14)
_CLASSES = const(15)
_BESIDE = const(16)
_REQUESTS = const(17)

# Answers
_WELCOME = const(129)
_DONE = const(130)
_PREDICTION = const(131)
_COUNTS = const(132)
_STATE = const(133)
_CRC = const(134)
_TEXT = const(135)
_UNLIKE = const(136)
_ERRORS = const(137)
_QUESTION = const(138)
_CLASS = const(139)
_TOLD = const(140)
_AGAIN = const(142)
_ERROR = const(143)
_OBSERVED = const(144)  # without a request

_ANSWERS = bytes((  # to each request
    _ERROR, _WELCOME, _DONE, _PREDICTION, _PREDICTION, _DONE, _STATE, _COUNTS, _CRC, _DONE, _DONE,
    _TEXT, _UNLIKE, _ERRORS, _QUESTION, _CLASS, _TOLD))  # fmt: skip

# Errors
_OTHER_VERSION = const(1)
_NO_SESSION = const(2)
_USED_SESSION = const(3)
_UNKNOWN_TYPE = const(4)
_WRONG_LENGTH = const(5)
_REFUSED = const(6)

STATUS_WORDS = 16
_DAMAGED = const(13)  # word of the status that is the link's own


class Answers:
    """Has an application do what requests ask for, and writes the answers to an Outbox.

    No function here or in link.py that a sample passes through has more than eleven words of
    state: MicroPython would put its frame on the heap, and look for room there with each call.
    """

    def __init__(self, app, out, body):
        v = 4 * app.features  # bytes of a sample
        self.app = app
        self.out = out
        self._in = body  # of the request's frame
        # Bytes of a payload; -1: one or more; -2: there is no such request
        self._wanted = array("i", (-2, 0, -1, v, v + 1, 3, 0, 2, 0, 0, 0, 2, 1, 1, 0, -1, 1))
        self.words = array("i", [0] * STATUS_WORDS)
        self.damaged = 0  # frames, at most 2**30 - 1
        self._length = 0  # of the payload of the request at hand, and then of its answer
        self._place = 0  # where that answer goes
        self.answer = _ERROR  # and its type

    def _apply(self, kind, session, sequence):
        """Have a request answered in its slot; _length: of its payload, then of the answer's."""
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
        """Have refused what fails in the block."""

    def __exit__(self, kind, error, trace):
        if kind and issubclass(kind, Exception):
            self._cannot(error)
            return True
        return False

    def _cannot(self, error):
        self.put_error(_REFUSED, (str(error) or type(error).__name__).encode())

    def _read_sample(self, kind):
        """Have the values of a sample read; False if one is too large."""
        if kind not in (_SAMPLE, _LABELLED):
            return True
        at = HEADER + int(kind == _LABELLED)
        return read_values(self._in, at, self.app.values, self.app.features)

    def _call(self):
        """Have the application do it and write the answer's payload; returns its size."""
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
        """What answers a request on what stands beside the model."""
        more = self.app.more.get(kind)
        if not more:
            raise ValueError(
                "the request is for a program of another kind, built with --anomaly, "
                "--guarantee, --label-budget, --spare-classes or --target"
            )
        return more

    def rest(self, kind, to):
        """The same for requests that may allocate."""
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
        return 4

    def _put_counts(self, to, label, first):
        """The confusion matrix's row of the label from prediction `first` on, what fits of it."""
        last = min(self.app.classes, first + STATUS_WORDS - 2)
        count = 0
        while first < last:
            self.words[count] = self.app.confusion(label, first)
            first += 1
            count += 1
        return self.put_words(to, count)

    def put_words(self, to, count):
        write_values(self.out.body, to, self.words, count)
        return 4 * count
