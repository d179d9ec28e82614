"""Sharing: thickets teach each other by parcels of samples, see parcel.py.

    sharing = Sharing(model, quantizer, ("x", "y", "z"), ((0, 2),) * 3, ("rest", "walk"))
    data = sharing.collect("kitchen", ("walk",))     # some of what this thicket holds

    sharing.take(Parcel(data))                       # on another board: judge it, and keep it
    while sharing.step():                            # learn a sample of it, once in a while
        ...
    sharing.forget(Parcel(data))

A parcel is judged before anything of it is learned. A sample is contradicted if

- its class is known here, and none of its three nearest neighbours is of that class;
- its class is not known here, and the nearest sample that is held is nearer than the parcel's own
  next one of that class, of as many.

A class of which more than half is contradicted is refused, and so is one whose samples are all the
same, as those of a sensor that is stuck. Of the others, what is contradicted is left out. A class
is not learned, either, if as many of its samples are held as the parcel has.
"""

from array import array

from micropython import const

from ..parcel import in_unit, packed
from .guests import Store, apart

_MOST = const(20)  # samples of a class in a parcel
_MOVED = const(8)  # how far a feature's code may have come with ranges that grew since
_KNOWN = const(5)  # samples of a class from which on it is known
_NEAR = const(3)  # neighbours that speak for or against a sample
_NOWHERE = const(16777215)

# What becomes of a class
LEARNED = "learned"
WELL_KNOWN = "well known"
REFUSED = "contradicted"
STUCK = "all the same"
STRANGE = "no such class"


class Sharing:
    """What one thicket gives and takes.

    model          a Thicket
    quantizer      that of its samples, a GrowingQuantizer or a Quantizer
    feature_names, class_names   texts, in the order of their numbers
    units          of each feature (offset, digits), whole numbers: (value - offset) * 10**digits
                   is a raw value
    """

    def __init__(self, model, quantizer, feature_names, units, class_names):
        if not hasattr(model, "grove"):
            raise ValueError("only a thicket keeps samples that it can share")
        self._store = Store(model)
        self._quantizer = quantizer
        self._features = tuple(feature_names)
        self._units = tuple([tuple(unit) for unit in units])
        self._classes = tuple(class_names)
        self._raw = array("i", bytes(4 * len(self._features)))
        self._x = array("H", bytes(2 * len(self._features)))
        self._waiting = []  # (parcel, sample, class), from the last one on

    @property
    def waiting(self):
        """How many samples wait to be learned."""
        return len(self._waiting)

    def collect(self, origin, wanted, most=_MOST):
        """A parcel of up to `most` samples of each of the wanted classes, a tuple of names.

        Raises ValueError for a class that is not there, or of which nothing is held.
        """
        samples = []
        for k, name in enumerate(wanted):
            if name not in self._classes:
                raise ValueError(
                    "there is no class %s. The classes are: %s" % (name, ", ".join(self._classes))
                )
            places = self._store.places(self._classes.index(name))
            if not places:
                raise ValueError("nothing is held of the class %s" % name)
            count = min(most, len(places))
            chosen = [places[i * len(places) // count] for i in range(count)]
            samples += [(self._store.codes(at), k, self._store.age(at)) for at in chosen]
        ranges = [self._quantizer.range_of(f) for f in range(len(self._features))]
        features = list(zip(self._features, self._units, ranges))
        return packed(origin, features, self._quantizer.grows, wanted, samples)

    def judge(self, parcel):
        """What would become of a parcel: of each class (name, what, samples to be learned).

        The last are the numbers of the samples, and `what` one of the texts above. Nothing is
        changed. Raises ValueError for a parcel of other features.
        """
        if parcel.feature_names != self._features:
            raise ValueError(
                "the parcel is of the features %s, and here they are %s"
                % (", ".join(parcel.feature_names), ", ".join(self._features))
            )
        members = [[] for _ in parcel.class_names]  # type: list
        for i in range(parcel.samples):
            members[parcel.label(i)].append(i)
        return [
            (name,) + self._judge_class(parcel, name, which)
            for name, which in zip(parcel.class_names, members)
        ]

    def _judge_class(self, parcel, name, which):
        if name not in self._classes:
            return STRANGE, []
        label = self._classes.index(name)
        held = self._store.count(label)
        if held >= len(which):
            return WELL_KNOWN, []
        rows = []
        for i in which:
            self._code(parcel, i)
            rows.append(array("H", self._x))
        if len(rows) > 2 and len({bytes(row) for row in rows}) == 1:
            return STUCK, []
        right = [which[i] for i in range(len(which)) if not self._is_contradicted(rows, i, label)]
        if 2 * len(right) < len(which):
            return REFUSED, []
        return LEARNED, right

    def _is_contradicted(self, rows, i, label):
        near = self._store.nearest(rows[i])
        if self._store.count(label) >= _KNOWN:
            return label not in [c for _, c, _ in near[:_NEAR]]
        others = [(away, c) for away, c, _ in near if c != label]
        if not others:
            return False
        away, rival = others[0]
        own = [away for away, c, _ in near if c == label]
        count = min(self._store.count(rival), len(rows) - 1)  # as many on either side
        for k in range(1, count + 1):
            own.append(apart(rows[i], rows[(i + k) % len(rows)], len(self._features)))
        return away < min(own + [_NOWHERE])

    def take(self, parcel):
        """Judge a parcel, and keep what is to be learned of it; returns what judge() does.

        Ranges grow for all of its samples before the first one is learned.
        """
        found = self.judge(parcel)
        for _, _, which in found:
            for i in which:
                label = self._classes.index(parcel.class_names[parcel.label(i)])
                self._waiting.append((parcel, i, label))
                self._read(parcel, i)
                self._quantizer.encode(self._raw, self._x)
        # one of each class in turn, so that no run of one class comes
        turns = [0] * len(self._classes)
        order = []
        for k, (_, _, label) in enumerate(self._waiting):
            turns[label] += 1
            order.append((turns[label], k))
        self._waiting = [self._waiting[k] for _, k in sorted(order, reverse=True)]
        return found

    def step(self):
        """Learn one of the samples that wait; returns how many are left.

        Once for each sample that the board labels itself is often enough, and never too often.
        """
        if self._waiting:
            parcel, i, label = self._waiting.pop()
            self._read(parcel, i)
            self._quantizer.encode(self._raw, self._x)
            self._store.welcome(self._x, label)
        return len(self._waiting)

    def forget(self, parcel, which=None):
        """Take what is held of a parcel out again; returns how many samples that were.

        which has the numbers of those that were learned; without it, all of the parcel's are
        looked for.

        They are found by their codes: for each, the nearest one of its class that is very near.
        Raises ValueError if nothing else is held.
        """
        self._waiting = [row for row in self._waiting if row[0].origin != parcel.origin]
        places = set()  # type: set
        for i in range(parcel.samples) if which is None else which:
            name = parcel.class_names[parcel.label(i)]
            if name in self._classes:
                label = self._classes.index(name)
                self._code(parcel, i)
                away, place = self._store.nearest_of(label, self._x, places)
                if away <= _MOVED * len(self._features):
                    places.add(place)
        self._store.remove(places)
        return len(places)

    def value_changes(self, parcel):
        """How far each feature's values are moved, at most, by other units and ranges: raw."""
        from ..parcel import value_of

        worst = [0] * len(self._features)
        for i in range(parcel.samples):
            self._code(parcel, i)
            for f in range(len(worst)):
                low, size = self._quantizer.range_of(f)
                now = value_of(self._x[f] >> 8, low, size, self._quantizer.grows)
                worst[f] = max(worst[f], abs(now - self._raw[f]))
        return worst

    def _read(self, parcel, i):
        """The raw values of a sample in the units of this thicket."""
        for f in range(len(self._features)):
            self._raw[f] = in_unit(parcel.raw(i, f), parcel.units[f], self._units[f])

    def _code(self, parcel, i):
        """The codes of a sample by the ranges as they are; the quantizer stays as it is."""
        self._read(parcel, i)
        self._quantizer.code_aside(self._raw, self._x)
