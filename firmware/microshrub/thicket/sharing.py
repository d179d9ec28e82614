"""Sharing: thickets teach each other by packets of samples, see sample_packet.py.

    sharing = Sharing(model, quantizer, ("x", "y", "z"), ((0, 2),) * 3, ("rest", "walk"))
    data = sharing.collect("kitchen", ("walk",))     # some of what this thicket holds

    sharing.take(SamplePacket(data))                  # on another board: judge it, and keep it
    while sharing.step():                            # learn a sample of it, once in a while
        ...
    sharing.forget(SamplePacket(data))

A packet is judged before any of its samples is learned: it is compared with the samples held.

- A class of which few samples are held is compared with the held samples near its own, as many of
  each class as its share of their nearest neighbours (a two-sample test by neighbours, as in
  Schilling: Multivariate Two-Sample Tests Based on Nearest Neighbors, Journal of the American
  Statistical Association 1986). Samples of a known class under another name would have half of
  their three nearest neighbours in the packet. The class is refused if less than three in five
  are in the packet, so classes may overlap. If at least four in five are, a sample is left out
  whose three nearest held samples are nearer than its nearest one in the packet, unless this holds
  for more than a fifth of them. A single sample is refused: it could be of any class.
- A sample of a known class is contradicted, and left out, if none of its three nearest neighbours
  is of that class. The class is refused if more than half of its samples are contradicted.

A class whose samples are all the same is refused, as its sensor was stuck. So is a class so far
away that ranges which hold it would be too coarse for the samples held: it has another unit, or
its sensor is broken. A class is not learned, either, if the board holds as many of its samples as
the packet has.
"""

from array import array

from micropython import const

from ..quantizer import MISSING
from ..sample_packet import in_unit, packed
from .shared_samples import Store, apart, mark_of

# From elsewhere, written by `make constants`:
# range_growth.py
_NO_VALUE = const(255)
# thicket/neighbours.py
_FAR = const(65536)
# (end)

MOST = const(20)  # samples of a class in a packet
_MOVED = const(8)  # how far a feature's code may have come with ranges that grew since
_KNOWN = const(5)  # samples of a class from which on it is known
_NEAR = const(3)  # neighbours that speak for or against a sample
_REACH = const(3)  # held samples that one sample of a packet is compared with
_UNIT = const(240)  # the weight of a sample of the packet
_APART = const(3)  # in fives: the neighbours that a new class has to have in its own packet,
_CLEAR = const(4)  # from this many on, the class stands apart
_WITNESSES = const(32)  # held samples that are looked at before ranges grow
_LOST = const(8)  # one in so many of them may come nearer to another class than to its own
_DOUBLINGS = const(9)  # the most doublings of a range: its old extent is 1/512 of it then
_MANY = const(8)  # samples from which on a feature's least and greatest value do not count

# What becomes of a class
LEARNED = "learned"
WELL_KNOWN = "well known"
REFUSED = "contradicted"
STUCK = "all the same"
SINGLE = "a single sample"
TOO_FAR = "too far away"
STRANGE = "no such class"


class Judge:
    """Judges packets by the samples of a thicket; the arguments are the same as for Sharing."""

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
        self.found = []  # the result of the last judge()

    def judge(self, packet):
        """Judge a packet; returns a tuple for each class, (name, what, samples to be learned).

        `what` is one of the texts above; the samples are given by their numbers. Nothing is
        changed. Raises ValueError for a packet of other features.
        """
        for _ in self.judging(packet):
            pass
        return self.found

    def judging(self, packet):
        """Judge a packet in steps, an iterator; at the end, `found` is the result.

        A step looks at one sample, or at its neighbours.
        """
        if packet.feature_names != self._features:
            raise ValueError(
                "the packet is of the features %s, and here they are %s"
                % (", ".join(packet.feature_names), ", ".join(self._features))
            )
        members = [[] for _ in packet.class_names]  # type: list
        for i in range(packet.samples):
            members[packet.label(i)].append(i)
        self.found = []
        for name, which in zip(packet.class_names, members):
            judged = yield from self._judge_class(packet, name, which)
            if judged[1]:
                doublings = yield from self._doublings(packet, judged[1])
                if not (yield from self._stay_apart(doublings)):
                    judged = TOO_FAR, []
            self.found.append((name,) + judged)

    def _judge_class(self, packet, name, which):
        if name not in self._classes:
            return STRANGE, []
        label = self._classes.index(name)
        held = self._store.count(label)
        if held >= len(which):
            return WELL_KNOWN, []
        rows = []
        first, stuck = b"", len(which) > 2
        for i in which:
            self._code(packet, i)
            rows.append(array("H", self._x))
            raw = bytes(self._raw)
            first = first or raw
            stuck = stuck and raw == first
            yield
        if stuck:
            return STUCK, []
        near = []
        for row in rows:
            near.append(self._store.nearest(row))
            yield
        if held >= _KNOWN:
            right = [which[i] for i in range(len(rows)) if _agrees(near[i], label)]
            return (LEARNED, right) if 2 * len(right) >= len(which) else (REFUSED, [])
        judged = yield from self._judge_new(rows, which, near, label)
        return judged

    def _judge_new(self, rows, which, near, label):
        """Judge a class of which few samples are held; returns `what`, and samples to learn."""
        rivals = [[row for row in neighbours if row[1] != label] for neighbours in near]
        held = self._rivals(rivals)
        if not held:
            return LEARNED, which
        if len(rows) == 1:  # nothing speaks for it
            return SINGLE, []
        most = min(_NEAR, len(rows) - 1)
        total = 0
        for i in range(len(rows)):
            total += self._own_neighbours(rows, i, held, most)
            yield
        share = 5 * total // (most * _UNIT * len(rows))
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
        """Return held samples of the nearest classes, (codes, weight), by the classes' shares."""
        hits = [0] * len(self._classes)
        for neighbours in near:
            if neighbours:
                hits[neighbours[0][1]] += 1
        rivals = []
        for c in range(len(hits)):
            places = self._store.places(c) if hits[c] else ()
            count = min(_REACH * hits[c], len(places))
            for i in range(count):
                row = self._store.row(places[i * len(places) // count])
                rivals.append((array("H", row), _UNIT * hits[c] // count))
        return rivals

    def _own_neighbours(self, rows, i, rivals, most):
        """Return how many of the `most` nearest neighbours of row i are rows, times _UNIT."""
        features = len(self._features)
        others = [
            (apart(rows[i], rows[k], features), _UNIT, 1) for k in range(len(rows)) if k != i
        ]
        others += [(apart(rows[i], row, features), weight, 0) for row, weight in rivals]
        return _own_among(sorted(others), most * _UNIT)

    def _nearest_own(self, rows, i):
        """Return the distance of row i and the nearest other row."""
        features = len(self._features)
        return min([apart(rows[i], rows[k], features) for k in range(len(rows)) if k != i])

    def _doublings(self, packet, which):
        """Return how often each feature's range would double for these samples of a packet."""
        doublings = []
        for f in range(len(self._features)):
            low, size = self._quantizer.range_of(f)
            values = []
            for i in which:
                value = self._value(packet, i, f)
                if value != MISSING:
                    values.append(value)
                yield
            values.sort()
            if len(values) >= _MANY:  # a single one widens nothing, see range_growth.py
                values = values[1:-1]
            bits = size
            if values and self._quantizer.grows and size != _NO_VALUE:
                span = max(values[-1] + 1, low + (1 << size)) - min(values[0], low)
                while span > 1 << bits:
                    bits += 1
            doublings.append(bits - size)
        return doublings

    def _stay_apart(self, doublings):
        """Return whether the held classes can be distinguished after these doublings."""
        if max(doublings) > _DOUBLINGS:
            return False
        rows = self._witnesses() if max(doublings) else []
        coarse = [
            (array("H", [code >> k for code, k in zip(row, doublings)]), label)
            for row, label in rows
        ]
        lost = 0
        for i in range(len(rows)):
            lost += int(_is_with_its_own(rows, i)) - int(_is_with_its_own(coarse, i))
            yield
        return _LOST * lost <= len(rows)

    def _witnesses(self):
        """Return held samples, (codes, class), equally many of each known class."""
        known = [c for c in range(len(self._classes)) if self._store.count(c) >= _KNOWN]
        rows = []
        for c in known:
            places = self._store.places(c)
            count = min(max(_WITNESSES // len(known), 2), len(places))
            for i in range(count):
                rows.append((array("H", self._store.row(places[i * len(places) // count])), c))
        return rows

    def value_changes(self, packet):
        """Return how far other units and ranges move each feature's values, at most: raw."""
        from ..sample_packet import value_of

        worst = [0] * len(self._features)
        for i in range(packet.samples):
            self._code(packet, i)
            for f in range(len(worst)):
                low, size = self._quantizer.range_of(f)
                now = value_of(self._x[f] >> 8, low, size, self._quantizer.grows)
                worst[f] = max(worst[f], abs(now - self._raw[f]))
        return worst

    def _read(self, packet, i):
        """Return the raw values of a sample in the units of this thicket."""
        for f in range(len(self._features)):
            self._raw[f] = self._value(packet, i, f)

    def _value(self, packet, i, f):
        return in_unit(packet.raw(i, f), packet.units[f], self._units[f])

    def _code(self, packet, i):
        """Return the codes of a sample by the present ranges; does not change the quantizer."""
        self._read(packet, i)
        self._quantizer.code_aside(self._raw, self._x)


class Sharing(Judge):
    """Shares samples of a thicket, and lets it learn samples of others.

    model          a Thicket
    quantizer      the quantizer of its samples, a GrowingQuantizer or a Quantizer
    feature_names, class_names   texts, in the order of their numbers
    units          of each feature (offset, digits), whole numbers: (value - offset) * 10**digits
                   is a raw value
    """

    def __init__(self, model, quantizer, feature_names, units, class_names):
        super().__init__(model, quantizer, feature_names, units, class_names)
        self._waiting = []  # (packet, sample, class), learned from the end on

    @property
    def waiting(self):
        """How many samples wait to be learned."""
        return len(self._waiting)

    def collect(self, origin, wanted, most=MOST):
        """Make a packet of up to `most` samples of each wanted class; `wanted` has their names.

        It has only samples that the thicket was taught itself, not those of others' packets.
        Raises ValueError for an unknown class, or a class without such samples.
        """
        samples = []
        for k, name in enumerate(wanted):
            if name not in self._classes:
                raise ValueError(
                    "there is no class %s. The classes are: %s" % (name, ", ".join(self._classes))
                )
            places = self._store.places(self._classes.index(name), True)
            if not places:
                raise ValueError("nothing is held of the class %s that was taught here" % name)
            count = min(most, len(places))
            chosen = [places[i * len(places) // count] for i in range(count)]
            samples += [(self._store.codes(at), k, self._store.age(at)) for at in chosen]
        ranges = [self._quantizer.range_of(f) for f in range(len(self._features))]
        features = list(zip(self._features, self._units, ranges))
        return packed(origin, features, self._quantizer.grows, wanted, samples)

    def take(self, packet):
        """Judge a packet, and keep the samples to be learned from it; returns the judgement.

        Ranges grow for all of its samples before the first one is learned.
        """
        judged = self.judge(packet)
        for _, _, which in judged:
            for i in which:
                label = self._classes.index(packet.class_names[packet.label(i)])
                self._waiting.append((packet, i, label))
                self.widen(packet, i)
        # one of each class in turn, so that no class comes in a run
        turns = [0] * len(self._classes)
        order = []
        for k, (_, _, label) in enumerate(self._waiting):
            turns[label] += 1
            order.append((turns[label], k))
        self._waiting = [self._waiting[k] for _, k in sorted(order, reverse=True)]
        return judged

    def step(self):
        """Learn one of the waiting samples; returns how many are left.

        Call it once for each sample that is labelled on this board.
        """
        if self._waiting:
            self.learn(*self._waiting.pop())
        return len(self._waiting)

    def widen(self, packet, i):
        """Let ranges grow for a sample, and compute its codes."""
        self._read(packet, i)
        self._quantizer.encode(self._raw, self._x)

    def learn(self, packet, i, label):
        """Learn a sample of a packet as a sample of this class."""
        self.widen(packet, i)
        self._store.welcome(self._x, label, mark_of(packet.origin))

    def held(self, label):
        """Return how many samples of a class are held, whoever taught them."""
        return self._store.count(label)

    def count_own(self, label):
        """Return how many of the held samples of a class were taught here."""
        return len(self._store.places(label, True))

    def forget(self, packet, which=None):
        """Remove the held samples of a packet; returns how many there were.

        which has the numbers of the samples that were learned; without it, all are looked for.

        They are found by their codes: for each sample, the nearest held one of its class, if it is
        very near and has the mark of the packet's origin. Raises ValueError if nothing else is
        held.
        """
        return self.forget_all(((packet, which),))

    def forget_all(self, packets):
        """Remove the held samples of pairs (packet, which), all at once.

        Packet by packet, samples of the next packet might be taken for samples of the first.
        """
        places = set()  # type: set
        for packet, which in packets:
            self._drop(packet.origin)
            self._find(packet, range(packet.samples) if which is None else which, places)
        return self._remove(places)

    def forget_origin(self, origin):
        """Remove all held samples of an origin, whatever packets they came in.

        They are found by their mark, so this removes the samples of all origins with that mark.
        """
        self._drop(origin)
        return self._remove(self._store.places_of(mark_of(origin)))

    def _drop(self, origin):
        """Drop the waiting samples of an origin."""
        self._waiting = [row for row in self._waiting if row[0].origin != origin]

    def _remove(self, places):
        self._store.remove(places)
        return len(places)

    def _find(self, packet, which, places):
        """Add the places of held samples that match those of a packet."""
        store = self._store
        # before there were marks, a thicket learned samples of others as its own
        of_it = mark_of(packet.origin) if store.has_foreign else 0
        among = set(store.places_of(of_it)) - places
        for i in which:
            name = packet.class_names[packet.label(i)]
            if name in self._classes:
                self._code(packet, i)
                away, place = store.nearest_of(self._classes.index(name), self._x, among)
                if away <= _MOVED * len(self._features):
                    places.add(place)
                    among.discard(place)


def _agrees(near, label):
    """Return whether one of the nearest neighbours is of this class."""
    return label in [c for _, c, _ in near[:_NEAR]]


def _is_with_its_own(rows, i):
    """Return whether the row nearest to row i of (codes, class) is of the same class."""
    codes, label = rows[i]
    least = [_FAR, _FAR]  # distances to its own class and to the others
    for k in range(len(rows)):
        if k != i:
            other = int(rows[k][1] != label)
            least[other] = min(least[other], apart(codes, rows[k][0], len(codes)))
    return least[0] < least[1]


def _own_among(others, left):
    """Return the weight of the packet's samples among the nearest ones with weight `left`.

    Each is (distance, weight, 1: of the packet); samples at the same distance share the rest.
    """
    weight = at = 0
    while left and at < len(others):
        first = others[at][0]
        here = mine = 0
        while at < len(others) and others[at][0] == first:
            here += others[at][1]
            mine += others[at][1] * others[at][2]
            at += 1
        used = min(left, here)
        weight += used * mine // here
        left -= used
    return weight
