"""Publishes a board's state and events at its MQTT broker, message by message.

Events, such as a new state or an anomaly, wait in a ring until the broker has them.
"""

from array import array

from micropython import const

from ..learner import whole
from .config import unload
from .mqtt_client import PUBLISH, RETAIN

STATE = const(0)  # types of events: another class is predicted,
DRIFT = const(1)  # a drift began,
DRIFT_OVER = const(2)  # a drift is over,
ANOMALY = const(3)  # samples became anomalies,
ANOMALY_OVER = const(4)  # samples are usual again,
QUERY = const(5)  # the label of a sample is queried,
NEW = const(6)  # novel samples wait for a name

KIND = const(0)  # words of an event, 16 bits each: its type and class,
EPOCH = const(1)  # the epoch and the number of its sample,
NUMBER = const(2)
SECOND = const(3)  # its second, in two words
_REST = const(4)
_WORDS = const(5)

_MINUTE = const(60000)  # milliseconds between two messages of the state, at most,
_LEAST = const(1000)  # milliseconds between two messages of the state, at least
_VALUES = const(14)
_TICKS = const(1073741823)
_COUNTING = const(12000)  # microseconds without a reading that it takes to count the heap

# In a form, a byte stands for the next of the values: 1 for a number, see fill();
_NAME = const(2)  # a class, by its name in quotes; null for -1;
_STAMP = const(3)  # two values: the stamp of a sample, eight hexadecimal digits; nothing for -1;
_KIND = const(4)  # the type of an event
_STATE = (
    b'{"state":\2,"confidence":\1,"accuracy":\1,"drift":\1,"anomaly":\1,"new":\1,"samples":\1,'
    b'"free":\1,"lost":\1,"label":\2,"asked":"\3","guess":\2,"unsaved":\1}'
)
_EVENT = b'{"event_type":"\4","class":\2,"id":"\3","ago":\1}'
_KINDS = b"state,drift,drift_over,anomaly,anomaly_over,query,novel_class,"


class MqttEvents:
    """The last `room` events, 1..1024, oldest first: 10 bytes each. Allocates nothing."""

    def __init__(self, room):
        self._ring = array("H", [0] * (_WORDS * whole("events", room, 1, 1024)))
        self._first = 0  # word of the oldest one
        self.held = 0
        self.lost = 0  # events for which there was no room, at most 2**29

    def add(self, kind, label, epoch, number, second):
        """Add an event; returns whether it replaced the oldest one."""
        ring = self._ring
        lost = _WORDS * self.held == len(ring)
        if lost:
            self.drop()
            self.lost = min(self.lost + 1, 1 << 29)
        at = (self._first + _WORDS * self.held) % len(ring)
        ring[at] = kind << 9 | (label + 1)
        ring[at + EPOCH] = epoch
        ring[at + NUMBER] = number
        ring[at + SECOND] = second >> 16
        ring[at + _REST] = second & 65535
        self.held += 1
        return lost

    def drop(self):
        """Drop the oldest event."""
        self._first = (self._first + _WORDS) % len(self._ring)
        self.held -= 1

    def word(self, k):
        """Return a word of the oldest event."""
        return self._ring[self._first + k]


class MqttClassNames:
    """The names of classes, as bytes and as JSON strings.

    Class c has the name texts[starts[c] : starts[c] + sizes[c]]. spare: the ClassNames of spare
    classes, whose names may change, or None.
    """

    def __init__(self, spare, texts, starts, sizes):
        self.spare = spare
        self.texts = texts
        self.starts = starts
        self.sizes = sizes

    def has_name(self, c):
        """Return whether a class has a name."""
        return not self.spare or self.spare.state(self.spare.stands_for(c)) == 1

    def put(self, out, c):
        """Put the name of a class as a JSON string; null for -1 and a class without a name."""
        if c < 0 or not self.sizes[c]:
            out.put(b"null")
        else:
            out.put(b'"')
            out.put_text(self.texts, self.starts[c], self.sizes[c])
            out.put(b'"')


class MqttPublisher:
    """Publishes for an MqttCompanion; topics begin with `base`, path is that of discovery.bin.

    due      the state is to be published soon, before its minute is over
    flying   an event was sent, and is not acknowledged yet
    text     a message for people that is to be published, bytes
    """

    def __init__(self, mqtt, base, client, path):
        self._mqtt = mqtt
        self._path = path
        self._base = base
        self._client = client
        self.due = self.flying = False
        self.text = b""
        self._changes = 0
        self._values = array("i", [0] * _VALUES)
        self._discovery = None
        self._announces = False  # the discovery messages are to be published from the beginning
        self._again = False  # the last event is to be sent again
        self._published = 0  # when the state was published last

    def announce(self):
        """Publish the discovery messages again, from the beginning."""
        self._announces = True

    def talk(self, fresh, now):
        """Put the next message to be sent, if there is one; fresh: the connection is new."""
        mqtt, client = self._mqtt, self._client
        if fresh:
            self._again = self.flying
            self._announces = True
        if not client.is_free:
            return
        spare = mqtt.names.spare
        if spare and spare.changes != self._changes:
            self._changes = spare.changes
            self._announces = True
        if self._announces and not client.out.more:
            from .mqtt_discovery import MqttDiscovery

            unload("mqtt_discovery")
            if self._discovery:
                self._discovery.close()
            self._discovery = MqttDiscovery(self._path, mqtt.names, client.out)
            self._announces = False
        if self._discovery:
            if not self._discovery.go_on():
                self._discovery = None
                self.due = True
                self._published = (now - _LEAST) & _TICKS
        elif self.flying and not client.waits:
            self.flying = False
            mqtt.events.drop()
        elif mqtt.events.held and (self._again or not self.flying):
            self._publish_event()
        elif self.text:
            self._begin(b"message")
            client.out.put(self.text)
            client.out.send(PUBLISH)
            self.text = b""
        elif (now - self._published) & _TICKS >= (_LEAST if self.due else _MINUTE):
            self._published = now
            self.due = False
            self._publish_state()

    # Messages

    def _begin(self, topic):
        """Begin a message at this topic, which follows the base."""
        out = self._client.out
        out.begin()
        out.put_16(len(self._base) + len(topic))
        out.put(self._base)
        out.put(topic)

    def _publish_state(self):
        mqtt, values = self._mqtt, self._values
        app = mqtt.app
        values[0] = mqtt.shown
        values[1] = app.confidence * 100 // 255 if mqtt.shown >= 0 else -1
        values[2] = mqtt.right * 100 >> 16 if mqtt.labels else -1
        values[3] = mqtt.drifting
        values[4] = mqtt.unlike
        values[5] = mqtt.new
        values[6] = app.metrics.samples
        if not app.pace or app.pace.wait() > _COUNTING:
            app.mem_free()
        values[7] = app.rest
        values[8] = mqtt.events.lost
        values[9] = mqtt.label_now
        values[11] = asked = mqtt.asked
        values[10] = mqtt.epoch_of(asked) if asked else -1
        values[12] = mqtt.queries._predicted if asked else -1
        values[13] = app.unsaved
        self._begin(b"state")
        self._fill(_STATE)
        self._client.out.send(PUBLISH | RETAIN)

    def _publish_event(self):
        values, events = self._values, self._mqtt.events
        kind = events.word(KIND)
        values[0] = kind >> 9
        values[1] = (kind & 511) - 1
        values[2] = events.word(EPOCH)
        values[3] = events.word(NUMBER)
        second = events.word(SECOND) << 16 | events.word(SECOND + 1)
        values[4] = max(self._mqtt.app.seconds - second, 0)
        self._begin(b"event")
        first = self._client.put_number(self._again)
        self._again = False
        self.flying = True
        self._fill(_EVENT)
        self._client.out.send(first)

    def _fill(self, form):
        """Put a form with the values."""
        out, values = self._client.out, self._values
        out.begin_form()
        k = out.put_form(form, 0, values)
        while k < len(form):
            self._put(out, form[k], values)
            k = out.put_form(form, k + 1, values)

    def _put(self, out, what, values):
        """Put the next value, which is not a plain number."""
        at = out.next_value(2 if what == _STAMP else 1)
        value = values[at]
        if what == _NAME:
            self._mqtt.names.put(out, value)
        elif what == _KIND:
            self._put_kind(value)
        elif value >= 0:
            out.put_digits(value, 16, 4)
            out.put_digits(values[at + 1], 16, 4)

    def _put_kind(self, value):
        start = 0
        while value:
            start = _KINDS.find(b",", start) + 1
            value -= 1
        self._client.out.put(_KINDS, start, _KINDS.find(b",", start) - start)
