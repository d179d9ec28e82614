"""Sharing: thickets teach each other by packets of samples, see sample_packet.py.

    sharing = Sharing(model, quantizer, ("x", "y", "z"), ((0, 2),) * 3, ("rest", "walk"))
    data = sharing.collect("kitchen", ("walk",))     # some of what this thicket holds

    sharing.take(SamplePacket(data))                  # on another board: judge it, and keep it
    while sharing.step():                            # learn a sample of it, once in a while
        ...
    sharing.forget(SamplePacket(data))

packet_acceptance.py judges a packet before any sample of it is learned.
"""

from micropython import const

from ..sample_packet import packed
from .packet_acceptance import Judge
from .shared_samples import mark_of

MOST = const(20)  # samples of a class in a packet
_MOVED = const(8)  # how far a feature's code may have come with ranges that grew since


class Sharing(Judge):
    """The samples that a thicket shares, and those that it learns from others.

    model          a Thicket
    quantizer      the quantizer of its samples, a GrowingQuantizer or a Quantizer
    feature_names, class_names   texts, in the order of their numbers
    units          of each feature (offset, digits), whole numbers: (value - offset) * 10**digits
                   is a raw value
    """

    def __init__(self, model, quantizer, feature_names, units, class_names):
        super().__init__(model, quantizer, feature_names, units, class_names)
        self._waiting = []  # (packet, sample, class), from the last one on

    @property
    def waiting(self):
        """How many samples wait to be learned."""
        return len(self._waiting)

    def collect(self, origin, wanted, most=MOST):
        """A packet of up to `most` samples of each of the wanted classes, a tuple of names.

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
        """Judge a packet, and keep what is to be learned from it; returns what judge() does.

        Ranges grow for all of its samples before the first one is learned.
        """
        judged = self.judge(packet)
        for _, _, which in judged:
            for i in which:
                label = self._classes.index(packet.class_names[packet.label(i)])
                self._waiting.append((packet, i, label))
                self.widen(packet, i)
        # one of each class in turn, so that no run of one class comes
        turns = [0] * len(self._classes)
        order = []
        for k, (_, _, label) in enumerate(self._waiting):
            turns[label] += 1
            order.append((turns[label], k))
        self._waiting = [self._waiting[k] for _, k in sorted(order, reverse=True)]
        return judged

    def step(self):
        """Learn one of the waiting samples; returns how many are left.

        Once for each sample that the board labels itself is often enough, and never too often.
        """
        if self._waiting:
            self.learn(*self._waiting.pop())
        return len(self._waiting)

    def widen(self, packet, i):
        """Have ranges grow for a sample, whose codes are then at hand."""
        self._read(packet, i)
        self._quantizer.encode(self._raw, self._x)

    def learn(self, packet, i, label):
        """Learn a sample of a packet as one of that class."""
        self.widen(packet, i)
        self._store.welcome(self._x, label, mark_of(packet.origin))

    def held(self, label):
        """How many samples of a class are held, whoever taught them."""
        return self._store.count(label)

    def count_own(self, label):
        """How many of the held samples of a class were taught here."""
        return len(self._store.places(label, True))

    def forget(self, packet, which=None):
        """Remove the samples that are held of a packet; returns how many there were.

        which has the numbers of those that were learned; without it, all of the packet's are
        looked for.

        They are found by their codes: for each, the nearest one of its class that is very near,
        and has the mark of the packet's origin. Raises ValueError if nothing else is held.
        """
        return self.forget_all(((packet, which),))

    def forget_all(self, packets):
        """The same for pairs (packet, which), all at once.

        One after the other, some of the next one's samples would take the places of the first's.
        """
        places = set()  # type: set
        for packet, which in packets:
            self._drop(packet.origin)
            self._find(packet, range(packet.samples) if which is None else which, places)
        return self._remove(places)

    def forget_origin(self, origin):
        """Remove all samples that are held of an origin, whatever packets they came in.

        That is what has its mark; so has what came of another one whose name has the same mark.
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
        """Add the places of samples like those of a packet."""
        store = self._store
        # before there were marks, a thicket learned samples of others as its own
        of_it = mark_of(packet.origin) if store.has_guests else 0
        among = set(store.places_of(of_it)) - places
        for i in which:
            name = packet.class_names[packet.label(i)]
            if name in self._classes:
                self._code(packet, i)
                away, place = store.nearest_of(self._classes.index(name), self._x, among)
                if away <= _MOVED * len(self._features):
                    places.add(place)
                    among.discard(place)
