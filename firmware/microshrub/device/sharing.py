"""Shares samples with other boards: decides which packets to send and to learn.

thicket/sharing.py judges packets. config.json's `share` has the "group", the board's "name" in it,
and the "classes", by their numbers, whose samples may leave the board: possibly none.
sharing_mqtt.py carries packets by MQTT, and sharing_datagrams.py by datagrams, which reach every
board nearby; everything else is here, and runs on a PC as well.

A packet is judged in steps, one in each turn of the program's loop. One sample is learned each
second, but not while a checkpoint is written, and never more samples of other boards than the
board was taught itself. The packet is kept until its last sample is learned, and the next packet
has to wait.

The checkpoint has the keys of past packets, which are not judged again. After a restart, the rest
of a packet is learned once the packet comes again. A packet whose samples were too far away is
judged again once ranges have grown.
"""

import gc
from array import array

from micropython import const

from ..buffers import Buffers
from ..sample_packet import SamplePacket
from ..thicket.sharing import LEARNED, MOST, TOO_FAR, WELL_KNOWN, Sharing

_BOARDS = const(8)  # places for packets of each class: as many as a group has of others
_KEY = const(1073741823)  # the bits of a checksum that are kept: the number takes no heap
_SENT_FROM = const(20)  # a class is sent once the board has so many samples: a full packet
_COUNT = const(536870911)  # the most that is counted
_FAR = const(22020096)  # MOST + 1 << MOST in `left`, above all else: the packet was too far away
_NAME = const(32)  # bytes of a board's name, see program_mqtt.py of the PC
_PLAIN = const(18)  # bytes of a packet besides names, features and samples,
_FEATURE = const(18)  # bytes of a feature besides its name
_SAMPLE = const(2)  # bytes of a sample besides its codes

_KEYS = const(0)  # places of buffers
_LEFT = const(1)
_OWN = const(2)
_SENT = const(3)
_WORDS = const(4)
_BEGUN = const(0)  # words: whether the samples that were held were counted,
_AT = const(1)  # where the next packet is noted,
_TAUGHT = const(2)  # samples of its own,
_LEARNED = const(3)  # samples learned of other boards
_SIZE = const(4)

_AGAIN = const(600)  # seconds between two packets of a class: people label many samples at once


class BoardSharing(Buffers):
    """The shared samples of an application. Raises ValueError if it cannot share.

    The checkpoint has

    keys   'i' [8 classes] the packets that were judged; a new one replaces the oldest
    left   'i' [8 classes] a bit for each sample of the packet that is still to be learned, and
           from bit MOST on, how many of these may still widen the ranges first; or _FAR
    own    'i' [classes] samples that were taught on this board
    sent   'i' [classes] `own` when a packet of the class was sent last
    words  'i' [4] see above
    """

    def __init__(self, app):
        configuration = app.configuration
        if configuration.units is None:
            raise ValueError("share needs the units of the features")
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
        self._packet = self._work = None
        self._place = self._label = self._second = 0
        self._bits = 0  # log2 of all ranges, summed, when packets were too far away
        self._whose = ""  # the class and the board, with which messages on the packet begin
        self.message = b""  # the outcome of a packet, until it is reported
        self._allocate()
        app.sharing = self
        app.parts += (self,)

    def _table(self):
        places, classes = _BOARDS * self.classes, self.classes
        return [("share.keys", "i", places), ("share.left", "i", places),
            ("share.own", "i", classes), ("share.sent", "i", classes),
            ("share.words", "i", _SIZE)]  # fmt: skip

    def configuration(self):
        """Describe what the state depends on."""
        return "Packets classes=%d" % self.classes

    def _is_sound(self):
        words = self._flat[_WORDS]
        return (
            0 <= words[_AT] < len(self._flat[_KEYS])
            and min(self._flat[_LEFT]) >= 0
            and max(self._flat[_LEFT]) <= _FAR
            and all([min(b) >= 0 and max(b) <= _COUNT for b in self._flat[_OWN:]])
        )

    def _start(self):
        self._packet = self._work = None

    @property
    def room(self):
        """The size of the longest packet that the board accepts."""
        return len(self._data)

    @property
    def is_busy(self):
        """Whether no packet can be accepted now: one is being judged or learned, or the ranges
        still hold only the very first samples, so that all packets would be too far away.
        """
        quantizer = self._app.quantizer
        young = quantizer.is_young if quantizer.grows else not quantizer.frozen
        return young or self._work is not None or self._packet is not None

    def count(self, label, predicted):
        """Count a sample that was taught on this board."""
        words, taught = self._flat[_WORDS], self._flat[_OWN]
        if words[_BEGUN]:
            taught[label] = min(taught[label] + 1, _COUNT)
            words[_TAUGHT] = min(words[_TAUGHT] + 1, _COUNT)

    def held(self, label):
        """Return how many samples of a class the model holds, whoever taught them."""
        return self._sharing.held(label)

    # Packets for others

    def is_due(self, label):
        """Return whether a packet of a class is due: the board has twice the samples of last time.

        So a hundred million samples make 23 packets.
        """
        taught = self._flat[_OWN][label]
        return label in self.allowed and taught >= max(_SENT_FROM, 2 * self._flat[_SENT][label])

    def is_sent(self, label):
        """Return whether a packet of a class was sent."""
        return self._flat[_SENT][label] > 0

    def sent(self, label):
        """Note that a packet of a class was sent."""
        self._flat[_SENT][label] = self._flat[_OWN][label]

    def collect(self, label):
        """Return the bytes of a packet of a class. Raises ValueError if it has no samples."""
        return self._sharing.collect(self.name, (self.class_names[label],))

    # Packets of others

    def is_new(self, key):
        """Return whether a packet is new, or not learned completely."""
        self._forget_far()
        k = self._find(key & _KEY)
        return k < 0 or 0 < self._flat[_LEFT][k] < _FAR

    def _forget_far(self):
        """Forget the packets that were too far away, if ranges have grown since."""
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
        """Note that no more samples of a packet are to be learned, with a message for people."""
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
        """Keep a packet of a class and board, size bytes from body[start] on, for later.

        Its size is at most `room`, and no other packet may be under way.
        """
        self._data[:size] = memoryview(body)[start : start + size]
        self._label = label
        name = self.class_names[label]
        self._whose = "%s of %s: " % (name, origin)
        try:
            packet = SamplePacket(memoryview(self._data)[:size])
            _check(packet, name, origin)
            self._work = self._judge(key & _KEY, packet)
        except (ValueError, MemoryError) as error:
            self._cannot(key, error)

    def _cannot(self, key, error):
        self.refuse(key, self._whose + (str(error) or "there is no memory for it"))

    def step(self):
        """Do the next step with a packet, if one is due; otherwise allocates nothing."""
        words = self._flat[_WORDS]
        if not words[_BEGUN]:
            self._begin()
        elif self._app.still:  # the learner must not change
            pass
        elif self._work:
            self._go_on()
        elif self._packet and self._app.seconds != self._second:
            self._second = self._app.seconds
            if words[_LEARNED] < words[_TAUGHT]:
                self._learn()

    def _begin(self):
        """Count the samples of a model that was taught on a PC."""
        words, taught = self._flat[_WORDS], self._flat[_OWN]
        for c in range(self.classes):
            taught[c] = self._sharing.count_own(c)
            words[_TAUGHT] += taught[c]
        words[_BEGUN] = 1

    def _go_on(self):
        for _ in self._work or ():
            return
        self._work = None
        gc.collect()

    def _judge(self, key, packet):
        """Judge the packet that was kept, in steps."""
        left = self._flat[_LEFT]
        try:
            k = self._find(key)
            if k < 0:
                yield from self._sharing.judging(packet)
                _, what, which = self._sharing.found[0]
                if what == WELL_KNOWN:  # it may be judged again later: its key is not kept
                    return
                if what == TOO_FAR:
                    self.refuse(key, self._whose + what, _FAR)
                    return
                if what != LEARNED:
                    raise ValueError(what)
                k = self._note(key)
                left[k] = sum([1 << i for i in which]) + (len(which) << MOST)
            which = [i for i in range(packet.samples) if left[k] >> i & 1]
            for i in which[len(which) - (left[k] >> MOST) :]:
                self._sharing.widen(packet, i)
                left[k] -= 1 << MOST
                yield
            left[k] &= (1 << MOST) - 1
        except (ValueError, MemoryError) as error:
            self._cannot(key, error)
            return
        self._packet = packet
        self._place = k
        self.message = ("%s%d samples are to be learned" % (self._whose, len(which))).encode()

    def _learn(self):
        left, k = self._flat[_LEFT], self._place
        i = 0
        while not left[k] >> i & 1:
            i += 1
        self._sharing.learn(self._packet, i, self._label)
        self._app.changed()
        self._flat[_WORDS][_LEARNED] = min(self._flat[_WORDS][_LEARNED] + 1, _COUNT)
        left[k] ^= 1 << i
        if not left[k]:
            self._packet = None
            self._done(self._whose + "learned")

    def _done(self, words):
        if words:
            self.message = words.encode()
        gc.collect()


def longest(feature_names, class_names):
    """Return the size of the longest packet of one class with these features."""
    names = sum([len(name.encode()) for name in feature_names])
    most = max([len(name.encode()) for name in class_names])
    features = len(feature_names)
    samples = MOST * (features + _SAMPLE)
    return _PLAIN + _NAME + most + names + _FEATURE * features + samples


def _check(packet, name, origin):
    """Raise ValueError for a packet with another class or board than its topic."""
    if packet.class_names != (name,) or packet.origin != origin:
        raise ValueError("the packet says that it is of another class or board")
    if not 0 < packet.samples <= MOST:
        raise ValueError(
            "the packet has %d samples, and a board takes 1 to %d" % (packet.samples, MOST)
        )


class SharingTransport:
    """Passes packets between the BoardSharing of an application and a carrier.

    sends   'i' [classes] the second from which on a class may be sent again
    say(text) prints a line for people.
    """

    def __init__(self, app, say):
        self._app = app
        self._sharing = app.sharing
        self._say = say
        self.sends = array("i", [0] * app.sharing.classes)

    def turn(self, _, passed):
        """Judge or learn, if a step is due, and report the outcome."""
        sharing = self._sharing
        sharing.step()
        if sharing.message:
            self.tell(sharing.message)
            sharing.message = b""

    def tell(self, words):
        """Print the result for a packet, bytes."""
        self._say("packet: " + str(words, "utf-8"))

    def offer(self, key, label, origin, body, start, end, size):
        """Have body[start : end] judged as a packet of a class and board.

        key names it; size is what end would be if no byte had been dropped. Returns whether it has
        to come again, as another packet is being judged or learned.
        """
        sharing = self._sharing
        if not sharing.is_new(key):
            return False
        if sharing.is_busy:
            return True
        if size > end or end - start > sharing.room:
            whose = "%s of %s: " % (sharing.class_names[label], origin)
            sharing.refuse(key, whose + "the packet is too long for this board")
        else:
            sharing.take(key, body, start, end - start, label, origin)
        return False

    def due(self, now):
        """Return a class whose packet is due, or -1."""
        for c in self._sharing.allowed:
            if now >= self.sends[c] and self._sharing.is_due(c):
                return c
        return -1

    def collect(self, label, now):
        """Return the packet of a class, bytes, to be sent now; None: try later."""
        sharing = self._sharing
        self.sends[label] = now + _AGAIN
        data = None
        try:
            data = sharing.collect(label)
        except (ValueError, MemoryError) as error:
            words = str(error) or "there is no memory for it"
        else:
            sharing.sent(label)
            words = "it is sent to the others"
        name = sharing.class_names[label]
        sharing.message = ("%s of %s: %s" % (name, sharing.name, words)).encode()
        return data
