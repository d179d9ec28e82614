"""What a board tells others of what it was taught, and learns of others, see thicket/sharing.py.

config.json's `share` has the "group" and the board's "name" in it, and the "classes", by their
numbers, of which samples may leave the board: perhaps none. parcel_post.py brings parcels, and
takes them away; all else is here, and runs on a PC as well.

A parcel is judged in steps, one a turn of the program's loop. Its samples are learned one a
second, never more of others than the board was taught itself, and not while a checkpoint is
written. Until the last one it is kept, and the next one has to wait.

Which parcels there were is a part of the checkpoint: those are not judged again, and what was not
learned of a parcel is learned once it has come again. One whose samples are too far away is judged
again once ranges have grown.
"""

import gc

from micropython import const

from ..buffers import Buffers
from ..parcel import Parcel
from ..thicket.judging import LEARNED, TOO_FAR, WELL_KNOWN
from ..thicket.sharing import MOST, Sharing

_BOARDS = const(8)  # places for parcels of each class: as many as a group has of others
_KEY = const(1073741823)  # of a checksum: a number that takes no heap
_TOLD = const(20)  # samples of its own from which on a class is told: a parcel of them
_COUNT = const(536870911)  # counts stay there
_FAR = const(22020096)  # MOST + 1 << MOST in `left`, above all else: the parcel was too far away
_NAME = const(32)  # bytes of a board's name, see program_house.py of the PC
_PLAIN = const(18)  # bytes of a parcel beside names, features and samples
_FEATURE = const(18)  # of a feature beside its name
_SAMPLE = const(2)  # of a sample beside its codes

_KEYS = const(0)  # places of buffers
_LEFT = const(1)
_OWN = const(2)
_SENT = const(3)
_WORDS = const(4)
_BEGUN = const(0)  # words: whether the samples that were held were counted,
_AT = const(1)  # where the next parcel is noted,
_TAUGHT = const(2)  # samples of its own,
_LEARNED = const(3)  # and of others
_SIZE = const(4)


def share(app):
    """Give an application that has its learner what it shares. Raises ValueError if it cannot."""
    configuration = app.configuration
    if configuration.units is None:
        raise ValueError("share needs the units of the features")
    app.parcels = Parcels(app, configuration)
    app.parts += (app.parcels,)


class Parcels(Buffers):
    """What an application shares; in the checkpoint are

    keys   'i' [8 classes] of the parcels that were judged and their topics; the oldest makes room
    left   'i' [8 classes] bits of those of its samples that are still to be learned, and from
           bit MOST on, of how many of them the ranges have still to grow before that; or _FAR
    own    'i' [classes] samples that were learned here, not of others
    sent   'i' [classes] the same, when a parcel of the class was sent last
    words  'i' [4] see above
    """

    def __init__(self, app, configuration):
        self._app = app
        self.classes = configuration.classes
        self.class_names = configuration.class_names
        self.name = configuration.share["name"]
        self.allowed = bytes(configuration.share["classes"])
        names = configuration.feature_names
        self._sharing = Sharing(
            app.learner, app.quantizer, names, configuration.units, self.class_names
        )
        data = bytearray(longest(names, self.class_names))
        self._data = data
        self._parcel = self._work = None
        self._place = self._label = self._second = 0
        self._bits = 0  # of all ranges, when parcels were too far away
        self._whose = ""  # that is, as a sentence on it begins
        self.said = b""  # words on what became of a parcel, until they are taken
        self._allocate()
        self._count, app._count = app._count, self.count

    def _table(self):
        places, classes = _BOARDS * self.classes, self.classes
        return [("share.keys", "i", places), ("share.left", "i", places),
            ("share.own", "i", classes), ("share.sent", "i", classes),
            ("share.words", "i", _SIZE)]  # fmt: skip

    def configuration(self):
        """What the state depends on."""
        return "Parcels classes=%d" % self.classes

    def _is_sound(self):
        words = self._flat[_WORDS]
        return (
            0 <= words[_AT] < len(self._flat[_KEYS])
            and min(self._flat[_LEFT]) >= 0
            and max(self._flat[_LEFT]) <= _FAR
            and all([min(b) >= 0 and max(b) <= _COUNT for b in self._flat[_OWN:]])
        )

    def _start(self):
        self._parcel = self._work = None

    @property
    def room(self):
        """Bytes of the longest parcel that is taken."""
        return len(self._data)

    @property
    def is_busy(self):
        """Whether none can be taken: one is judged or still to be learned, or ranges are those of
        the very first samples, beside which all that others know is too far away.
        """
        quantizer = self._app.quantizer
        young = quantizer.is_young if quantizer.grows else not quantizer.frozen
        return young or self._work is not None or self._parcel is not None

    def count(self, label, predicted):
        """Count a label, as the application does."""
        self._count(label, predicted)
        words, own = self._flat[_WORDS], self._flat[_OWN]
        if words[_BEGUN]:
            own[label] = min(own[label] + 1, _COUNT)
            words[_TAUGHT] = min(words[_TAUGHT] + 1, _COUNT)

    def held(self, label):
        """How many samples of a class the model holds, whoever taught it."""
        return self._sharing.held(label)

    # What others get

    def is_due(self, label):
        """Whether there is something new to tell of a class.

        The samples of its own are twice those of last time: so of a hundred million there are
        23 parcels.
        """
        own = self._flat[_OWN][label]
        return label in self.allowed and own >= max(_TOLD, 2 * self._flat[_SENT][label])

    def is_sent(self, label):
        """Whether a parcel of that class was sent."""
        return self._flat[_SENT][label] > 0

    def sent(self, label):
        """A parcel of the class was sent."""
        self._flat[_SENT][label] = self._flat[_OWN][label]

    def collect(self, label):
        """The bytes of a parcel of that class. Raises ValueError if nothing is held."""
        return self._sharing.collect(self.name, (self.class_names[label],))

    # What comes of others

    def is_new(self, key):
        """Whether something of a parcel is to be done."""
        self._forget_far()
        k = self._find(key & _KEY)
        return k < 0 or 0 < self._flat[_LEFT][k] < _FAR

    def _forget_far(self):
        """Have parcels judged again that were too far away, if ranges have grown since."""
        quantizer = self._app.quantizer
        bits = quantizer.bits if quantizer.grows else 0
        keys, left = self._flat[_KEYS], self._flat[_LEFT]
        for k in range(len(keys) if bits != self._bits else 0):
            if left[k] == _FAR:
                keys[k] = left[k] = 0
        self._bits = bits

    def _find(self, key):
        keys = self._flat[_KEYS]
        for k in range(len(keys)):
            if keys[k] == key:
                return k
        return -1

    def refuse(self, key, words="", left=0):
        """Note that nothing (more) of a parcel is to be learned; words: what is said of it."""
        k = self._find(key & _KEY)
        if k < 0:
            k = self._note(key & _KEY)
        self._flat[_LEFT][k] = left
        self._done(words)

    def _note(self, key):
        words, keys = self._flat[_WORDS], self._flat[_KEYS]
        k = words[_AT]
        words[_AT] = (k + 1) % len(keys)
        keys[k] = key
        self._flat[_LEFT][k] = 0
        return k

    def take(self, key, body, start, size, label, origin):
        """Take what came as a parcel of that class and board, size bytes from body[start] on.

        Its size is at most `room`. Nothing may be under way. What can be judged is judged later.
        """
        self._data[:size] = memoryview(body)[start : start + size]
        self._label = label
        name = self.class_names[label]
        self._whose = "%s of %s: " % (name, origin)
        try:
            parcel = Parcel(memoryview(self._data)[:size])
            _check(parcel, name, origin)
            self._work = self._judge(key & _KEY, parcel)
        except (ValueError, MemoryError) as error:
            self._cannot(key, error)

    def _cannot(self, key, error):
        self.refuse(key, self._whose + (str(error) or "there is no memory for it"))

    def turn(self):
        """Do a piece of what is to be done, if it is time; allocates nothing if it is not."""
        words = self._flat[_WORDS]
        if not words[_BEGUN]:
            self._begin()
        elif self._app.saving and self._app.saving.is_saving:  # the learner must not change
            pass
        elif self._work:
            self._go_on()
        elif self._parcel and self._app.seconds != self._second:
            self._second = self._app.seconds
            if words[_LEARNED] < words[_TAUGHT]:
                self._learn()

    def _begin(self):
        """Count what is held in the beginning, of a model that was taught on a PC."""
        words, own = self._flat[_WORDS], self._flat[_OWN]
        for c in range(self.classes):
            own[c] = self._sharing.count_own(c)
            words[_TAUGHT] += own[c]
        words[_BEGUN] = 1

    def _go_on(self):
        for _ in self._work or ():
            return
        self._work = None
        gc.collect()

    def _judge(self, key, parcel):
        """Judge what was taken, in steps."""
        left = self._flat[_LEFT]
        try:
            k = self._find(key)
            if k < 0:
                yield from self._sharing.judging(parcel)
                _, what, which = self._sharing.found[0]
                if what == WELL_KNOWN:  # perhaps not for ever
                    return
                if what == TOO_FAR:  # likewise
                    self.refuse(key, self._whose + what, _FAR)
                    return
                if what != LEARNED:
                    raise ValueError(what)
                k = self._note(key)
                left[k] = sum([1 << i for i in which]) + (len(which) << MOST)
            which = [i for i in range(parcel.samples) if left[k] >> i & 1]
            for i in which[len(which) - (left[k] >> MOST) :]:
                self._sharing.widen(parcel, i)
                left[k] -= 1 << MOST
                yield
            left[k] &= (1 << MOST) - 1
        except (ValueError, MemoryError) as error:
            self._cannot(key, error)
            return
        self._parcel = parcel
        self._place = k
        self.said = ("%s%d samples are to be learned" % (self._whose, len(which))).encode()

    def _learn(self):
        left, k = self._flat[_LEFT], self._place
        i = 0
        while not left[k] >> i & 1:
            i += 1
        self._sharing.learn(self._parcel, i, self._label)
        self._flat[_WORDS][_LEARNED] = min(self._flat[_WORDS][_LEARNED] + 1, _COUNT)
        left[k] ^= 1 << i
        if not left[k]:
            self._parcel = None
            self._done(self._whose + "learned")

    def _done(self, words):
        if words:
            self.said = words.encode()
        gc.collect()


def longest(feature_names, class_names):
    """Bytes of the longest parcel of such features: of one class, as share writes it."""
    names = sum([len(name.encode()) for name in feature_names])
    most = max([len(name.encode()) for name in class_names])
    features = len(feature_names)
    samples = MOST * (features + _SAMPLE)
    return _PLAIN + _NAME + most + names + _FEATURE * features + samples


def _check(parcel, name, origin):
    """Raise ValueError for a parcel that may not stand where it was."""
    if parcel.class_names != (name,) or parcel.origin != origin:
        raise ValueError("the parcel says that it is of another class or board")
    if not 0 < parcel.samples <= MOST:
        raise ValueError(
            "the parcel has %d samples, and a board takes 1 to %d" % (parcel.samples, MOST)
        )
