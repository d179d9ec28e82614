"""Sharing: thickets teach each other by parcels of samples, see parcel.py.

    sharing = Sharing(model, quantizer, ("x", "y", "z"), ((0, 2),) * 3, ("rest", "walk"))
    data = sharing.collect("kitchen", ("walk",))     # some of what this thicket holds

    sharing.take(Parcel(data))                       # on another board: judge it, and keep it
    while sharing.step():                            # learn a sample of it, once in a while
        ...
    sharing.forget(Parcel(data))

A parcel is judged before anything of it is learned.

- A class of which few samples are held is compared with those that are held where its samples are,
  of each class as much as it has of their nearest neighbours (a two-sample test by neighbours, as
  in Schilling: Multivariate Two-Sample Tests Based on Nearest Neighbors, Journal of the American
  Statistical Association 1986). Samples of a known class under another name would have half of
  their three nearest neighbours in the parcel. It is refused if less than three in five are there,
  so classes may overlap. Where four in five are, a sample is left out if the three that are held
  nearest to it are nearer than its own next one, unless more than a fifth are like that.
- Of a class that is known, a sample is contradicted, and left out, if none of its three nearest
  neighbours is of that class. The class is refused if more than half of its samples are.

A class whose samples are all the same is refused, as a sensor was stuck. A class is not learned,
either, if as many of its samples are held as the parcel has.
"""

from array import array

from micropython import const

from ..parcel import in_unit, packed
from .guests import Store, apart

_MOST = const(20)  # samples of a class in a parcel
_MOVED = const(8)  # how far a feature's code may have come with ranges that grew since
_KNOWN = const(5)  # samples of a class from which on it is known
_NEAR = const(3)  # neighbours that speak for or against a sample
_REACH = const(3)  # held samples that one sample of a parcel is compared with
_UNIT = const(240)  # the weight of a sample of the parcel
_APART = const(3)  # in fives: the neighbours that a new class has to have in its own parcel,
_CLEAR = const(4)  # and from which on it stands apart

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
        near = [self._store.nearest(row) for row in rows]
        if held >= _KNOWN:
            right = [which[i] for i in range(len(rows)) if _agrees(near[i], label)]
            return (LEARNED, right) if 2 * len(right) >= len(which) else (REFUSED, [])
        return self._judge_new(rows, which, near, label)

    def _judge_new(self, rows, which, near, label):
        """The same of a class that is not known: what becomes of it, and samples to be learned."""
        rivals = [[row for row in found if row[1] != label] for found in near]
        held = self._rivals(rivals)
        if not held:
            return LEARNED, which
        if len(rows) == 1:  # nothing speaks for it
            return REFUSED, []
        most = min(_NEAR, len(rows) - 1)
        share = 5 * self._own_neighbours(rows, held, most) // (most * _UNIT * len(rows))
        if share < _APART:
            return REFUSED, []
        odd = set()  # type: set
        for i in range(len(rows) if share >= _CLEAR else 0):
            if len(rivals[i]) >= _NEAR and rivals[i][_NEAR - 1][0] < self._nearest_own(rows, i):
                odd.add(i)
        if 5 * len(odd) > len(rows):
            odd = set()
        return LEARNED, [which[i] for i in range(len(rows)) if i not in odd]

    def _rivals(self, near):
        """Held samples of the classes that are nearest, (codes, weight); they weigh as many."""
        hits = [0] * len(self._classes)
        for found in near:
            if found:
                hits[found[0][1]] += 1
        rivals = []
        for c in range(len(hits)):
            places = self._store.places(c) if hits[c] else ()
            count = min(_REACH * hits[c], len(places))
            for i in range(count):
                row = self._store.row(places[i * len(places) // count])
                rivals.append((array("H", row), _UNIT * hits[c] // count))
        return rivals

    def _own_neighbours(self, rows, rivals, most):
        """How much of so many nearest neighbours of all rows are rows, too: times _UNIT."""
        features = len(self._features)
        own = 0
        for i in range(len(rows)):
            others = [
                (apart(rows[i], rows[k], features), _UNIT, 1) for k in range(len(rows)) if k != i
            ]
            others += [(apart(rows[i], row, features), weight, 0) for row, weight in rivals]
            own += _own_among(sorted(others), most * _UNIT)
        return own

    def _nearest_own(self, rows, i):
        """How far the nearest other row is from row i."""
        features = len(self._features)
        return min([apart(rows[i], rows[k], features) for k in range(len(rows)) if k != i])

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
        return self.forget_all(((parcel, which),))

    def forget_all(self, parcels):
        """The same of pairs (parcel, which), all at once.

        One after the other, some of the next one's samples would take the places of the first's.
        """
        places = set()  # type: set
        for parcel, which in parcels:
            self._waiting = [row for row in self._waiting if row[0].origin != parcel.origin]
            self._find(parcel, range(parcel.samples) if which is None else which, places)
        self._store.remove(places)
        return len(places)

    def _find(self, parcel, which, places):
        """Add the places of samples like those of a parcel."""
        for i in which:
            name = parcel.class_names[parcel.label(i)]
            if name in self._classes:
                label = self._classes.index(name)
                self._code(parcel, i)
                away, place = self._store.nearest_of(label, self._x, places)
                if away <= _MOVED * len(self._features):
                    places.add(place)

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


def _agrees(near, label):
    """Whether one of the nearest neighbours is of that class."""
    return label in [c for _, c, _ in near[:_NEAR]]


def _own_among(others, left):
    """Of the nearest others, which weigh `left` together, how much those of the parcel weigh.

    Each is (distance, weight, 1: of the parcel); those at the same distance share what is left.
    """
    own = at = 0
    while left and at < len(others):
        first = others[at][0]
        here = mine = 0
        while at < len(others) and others[at][0] == first:
            here += others[at][1]
            mine += others[at][1] * others[at][2]
            at += 1
        used = min(left, here)
        own += used * mine // here
        left -= used
    return own
