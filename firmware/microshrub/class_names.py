"""ClassNames: names of a learner's classes, some of which get a name only while it learns.

The learner is made for all classes at once, named and spare ones. A class of the learner is

    free       it never had a name: no sample was learned as this class
    named      it is predicted and learned by this name
    merged     it stands for another class, when it is predicted and when it is learned
    forgotten  it no longer has a name, and is never predicted

Buffers:

    names.words   'i'  the integers below
    names.state   'B'  [classes] one of the above
    names.stands  'B'  [classes] the class that it stands for, itself if it is not merged
    names.sizes   'B'  [classes] bytes of its name
    names.texts   'B'  [classes * room] the names, UTF-8
"""

import micropython
from micropython import const

from .buffers import Buffers
from .learner import ParameterError, whole

_CHANGES = const(0)  # so far; wraps around at 2**16
_NEWEST = const(1)  # the class that got its name last, -1: none did
_WORDS = const(2)
_TICKS = const(65535)

_FREE = const(0)
_NAMED = const(1)
_MERGED = const(2)
_FORGOTTEN = const(3)


@micropython.viper
def named_class(state: ptr8, stands: ptr8, votes: ptr32, predicted: int, classes: int) -> int:
    """The named class that a prediction stands for.

    If the predicted class has no name, it is the named class with the most votes.
    """
    best = stands[predicted]
    if state[best] == _NAMED:
        return best
    best = -1
    most = 0
    for c in range(classes):
        k = stands[c]
        if state[k] == _NAMED and (best < 0 or votes[c] > most):
            best = k
            most = votes[c]
    return best


class ClassNames(Buffers):
    """The names of classes 0, 1, ..., and which class stands for which other class.

    names  the classes that are known from the start, texts; the classes after them are spare
    spare  1..255 classes that have no name yet, 256 classes in all
    room   1..255, the most bytes of a name

    A name is UTF-8 without control characters and without spaces around it, and no two classes
    have the same. Raises ParameterError.
    """

    def __init__(self, names, spare=4, room=16):
        self.known = tuple(names)
        self.spare = whole("spare", spare, 1, 256 - min(max(len(self.known), 1), 255))
        self.room = whole("room", room, 1, 255)
        self.classes = len(self.known) + spare
        if not self.known or len(set(self.known)) < len(self.known):
            raise ParameterError("names", "one name or more, all different", self.known)
        for name in self.known:
            self._bytes(name)
        self._allocate()

    def configuration(self):
        """The number of classes, and the room for a name, as one line of text."""
        return "ClassNames classes=%d spare=%d room=%d" % (self.classes, self.spare, self.room)

    def _table(self):
        return [
            ("names.words", "i", _WORDS),
            ("names.state", "B", self.classes),
            ("names.stands", "B", self.classes),
            ("names.sizes", "B", self.classes),
            ("names.texts", "B", self.classes * self.room),
        ]

    def _start(self):
        words, state, stands, _, _ = self._flat
        for c in range(self.classes):
            stands[c] = c
        for c in range(len(self.known)):
            self._write(c, self._bytes(self.known[c]))
            state[c] = _NAMED
        words[_CHANGES] = 0
        words[_NEWEST] = -1

    def _is_sound(self):
        words, state, stands, sizes, texts = self._flat
        if not 0 <= words[_CHANGES] <= _TICKS or not -1 <= words[_NEWEST] < self.classes:
            return False
        for c in range(self.classes):
            k = stands[c]
            if state[c] > _FORGOTTEN or k >= self.classes or sizes[c] > self.room:
                return False
            if (k != c) != (state[c] == _MERGED) or (k != c and state[k] != _NAMED):
                return False
            named = state[c] == _NAMED
            start = c * self.room
            if named != (sizes[c] > 0) or (named and not is_name(texts, start, start + sizes[c])):
                return False
            if named and self.find(self.name(c)) != c:
                return False
        return self._count() > 0

    # The names

    def name(self, c):
        """The name of a class; empty if it has no name."""
        _, _, _, sizes, texts = self._flat
        start = whole("a class", c, 0, self.classes - 1) * self.room
        return str(bytes(texts[start : start + sizes[c]]), "utf-8")

    def copy(self, c, body, at):
        """Write the name of a class to body[at:]; returns how many bytes. Allocates nothing."""
        whole("a class", c, 0, self.classes - 1)
        _copy(self._flat[4], c * self.room, body, at, self._flat[3][c])
        return self._flat[3][c]

    def find(self, name):
        """The class that has this name, -1 if no class has it."""
        wanted = name.encode()
        _, _, _, sizes, texts = self._flat
        for c in range(self.classes):
            start = c * self.room
            if sizes[c] and bytes(texts[start : start + sizes[c]]) == wanted:
                return c
        return -1

    def state(self, c):
        """0: free, 1: named, 2: merged, 3: forgotten."""
        return self._flat[1][whole("a class", c, 0, self.classes - 1)]

    def stands_for(self, c):
        """The class that this class was merged into, or else this class."""
        return self._flat[2][whole("a class", c, 0, self.classes - 1)]

    @property
    def changes(self):
        """How many times a name was given, changed or removed; wraps around at 65536."""
        return self._flat[0][_CHANGES]

    @property
    def newest(self):
        """The class that got its name last, -1 if none did, or if that class lost its name."""
        return self._flat[0][_NEWEST]

    def learned_as(self, label):
        """The class as which a label is learned. Allocates nothing.

        Raises ValueError for a class without a name.
        """
        c = self._flat[2][whole("label", label, 0, self.classes - 1)]
        if self._flat[1][c] != _NAMED:
            raise ValueError("class %d has no name: give it one before it is learned" % label)
        return c

    def resolve(self, predicted, votes):
        """The named class that a prediction with these votes, array('i'), stands for.

        Allocates nothing.
        """
        return named_class(self._flat[1], self._flat[2], votes, predicted, self.classes)

    # Changes that a person makes

    def add(self, name):
        """Give this name to a class without a name; returns the class.

        A class that never had a name comes first. Raises ValueError if no class is left, or for a
        name that another class has.
        """
        data = self._checked(name)
        _, state, _, _, _ = self._flat
        for wanted in (_FREE, _FORGOTTEN):
            for c in range(self.classes):
                if state[c] == wanted:
                    self._write(c, data)
                    state[c] = _NAMED
                    self._note(c)
                    return c
        raise ValueError("no class is left for %s: forget one first" % name)

    def rename(self, c, name):
        """Change the name of a class. Raises ValueError if it has none."""
        self._named(c)
        if self.find(name) != c:
            self._write(c, self._checked(name))
        self._note(self.newest)

    def merge(self, c, into):
        """Have a class stand for another one from now on, when it is predicted or learned.

        So do the classes that stood for it. Raises ValueError unless both have names and differ.
        """
        self._named(c)
        self._named(into)
        if c == into:
            raise ValueError("a class cannot be merged with itself: %s" % self.name(c))
        _, state, stands, _, _ = self._flat
        for k in range(self.classes):
            if stands[k] == c:
                stands[k] = into
        self._write(c, b"")
        state[c] = _MERGED
        self._note(into if self.newest == c else self.newest)

    def forget(self, c):
        """Remove the names of a class, and of the classes that stand for it. Raises ValueError."""
        self._named(c)
        _, state, stands, _, _ = self._flat
        if self._count() == 1:
            raise ValueError("the last class cannot be forgotten: %s" % self.name(c))
        for k in range(self.classes):
            if stands[k] == c:
                stands[k] = k
                state[k] = _FORGOTTEN
        self._write(c, b"")
        self._note(-1 if self.newest == c else self.newest)

    def _count(self):
        """How many classes have a name."""
        return sum([kind == _NAMED for kind in self._flat[1]])

    def _named(self, c):
        if self.state(c) != _NAMED:
            raise ValueError("class %d has no name" % c)

    def _checked(self, name):
        """The bytes of a name. Raises ValueError if a class has it already."""
        data = self._bytes(name)
        if self.find(name) >= 0:
            raise ValueError("there is a class %s already" % name)
        return data

    def _bytes(self, name):
        """The name in UTF-8. Raises ParameterError if it cannot be a name."""
        data = name.encode() if isinstance(name, str) else b""
        if len(data) > self.room or not is_name(data, 0, len(data)):
            allowed = "1..%d bytes of text, without control characters or spaces around it"
            raise ParameterError("the name of a class", allowed % self.room, name)
        return data

    def _write(self, c, data):
        _, _, _, sizes, texts = self._flat
        sizes[c] = len(data)
        start = c * self.room
        for i in range(self.room):
            texts[start + i] = data[i] if i < len(data) else 0

    def _note(self, newest):
        words = self._flat[0]
        words[_CHANGES] = (words[_CHANGES] + 1) & _TICKS
        words[_NEWEST] = newest


def _copy(texts, start, body, at, size):
    while size:
        size -= 1
        body[at + size] = texts[start + size]


def is_name(data, start, end):
    """Whether these bytes are UTF-8, without control characters, and without spaces around it."""
    if start == end or data[start] == 32 or data[end - 1] == 32:
        return False
    more = least = point = 0
    for i in range(start, end):
        byte = data[i]
        if more:
            more -= 1
            point = point << 6 | (byte & 63)
            if byte >> 6 != 2 or (not more and point < least) or point >> 11 == 27:
                return False  # too short, longer than needed, or half of a UTF-16 pair
        elif byte < 128:
            if byte < 32 or byte == 127:
                return False
        else:
            more = (byte >= 192) + (byte >= 224) + (byte >= 240)
            if not more or byte >= 245:
                return False
            least = (128, 2048, 65536)[more - 1]
            point = byte & (63 >> more)
    return not more
