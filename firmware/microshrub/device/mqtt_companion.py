"""Connects the program to an MQTT broker, and to Home Assistant behind it.

config.json's `mqtt` has the broker's "host" and "port", the board's "name", optionally "ca", the
file of a certificate; "settle", [predictions in a row, confidence 0..255]: either makes a
predicted class the state; and "events", how many are kept while there is no broker.

The board's state and events are published message by message. Events, such as a new state or an
anomaly, wait in a ring until the broker has them. mqtt_subscriber.py carries out messages, and
network_start.py makes the companion.
"""

import os
from array import array

from micropython import const

from ..learner import whole
from .config import unload
from .mqtt_client import OPEN, PUBLISH, RETAIN

_STATE = const(0)  # types of events: another class is predicted,
_DRIFT = const(1)  # a drift began,
_DRIFT_OVER = const(2)  # a drift is over,
_ANOMALY = const(3)  # samples became anomalies,
_ANOMALY_OVER = const(4)  # samples are usual again,
_QUERY = const(5)  # the label of a sample is queried,
_NEW = const(6)  # novel samples wait for a name

_KIND = const(0)  # words of an event, 16 bits each: its type and class,
_EPOCH = const(1)  # the epoch and the number of its sample,
_NUMBER = const(2)
_SECOND = const(3)  # its second, in two words
_REST = const(4)
_WORDS = const(5)

_MINUTE = const(60000)  # milliseconds between two messages of the state, at most,
_LEAST = const(1000)  # milliseconds between two messages of the state, at least
_VALUES = const(14)
_COUNTING = const(12000)  # microseconds without a reading that it takes to count the heap

# In a form, a byte stands for the next of the values: 1 for a number, see fill();
_NAME = const(2)  # a class, by its name in quotes; null for -1;
_STAMP = const(3)  # two values: the stamp of a sample, eight hexadecimal digits; nothing for -1;
_TYPE = const(4)  # the type of an event
_STATE_FORM = (
    b'{"state":\2,"confidence":\1,"accuracy":\1,"drift":\1,"anomaly":\1,"new":\1,"samples":\1,'
    b'"free":\1,"lost":\1,"label":\2,"query":"\3","prediction":\2,"unsaved":\1}'
)
_EVENT_FORM = b'{"event_type":"\4","class":\2,"id":"\3","ago":\1}'
_KINDS = b"state,drift,drift_over,anomaly,anomaly_over,query,novel_class,"

_CHANGE = const(1000)  # milliseconds between two changes of the state, at least
_LATELY = const(50)  # the accuracy is that of the last 50 labels or so
_CALM = const(100)  # labels without another alarm, after which a drift is over
_TICKS = const(1073741823)
_EPOCHS = const(65535)


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
        ring[at + _EPOCH] = epoch
        ring[at + _NUMBER] = number
        ring[at + _SECOND] = second >> 16
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
        if not client.is_free():
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
        values[3] = mqtt.is_drifting()
        values[4] = mqtt.anomalous
        values[5] = mqtt.new
        values[6] = app.metrics.samples
        if not app.pace or app.pace.wait() > _COUNTING:
            app.mem_free()
        values[7] = app.rest
        values[8] = mqtt.events.lost
        values[9] = mqtt.label_now
        values[11] = asked = mqtt.asked()
        values[10] = mqtt.epoch_of(asked) if asked else -1
        values[12] = mqtt.queries._predicted if asked else -1
        values[13] = app.unsaved()
        self._begin(b"state")
        self._fill(_STATE_FORM)
        self._client.out.send(PUBLISH | RETAIN)

    def _publish_event(self):
        values, events = self._values, self._mqtt.events
        kind = events.word(_KIND)
        values[0] = kind >> 9
        values[1] = (kind & 511) - 1
        values[2] = events.word(_EPOCH)
        values[3] = events.word(_NUMBER)
        second = events.word(_SECOND) << 16 | events.word(_SECOND + 1)
        values[4] = max(self._mqtt.app.seconds - second, 0)
        self._begin(b"event")
        first = self._client.put_number(self._again)
        self._again = False
        self.flying = True
        self._fill(_EVENT_FORM)
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
        elif what == _TYPE:
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


class MqttCompanion:
    """Connects an application to a broker, and replaces the program's button.

    button    the program's button, or None
    wifi      the network, see networking.py
    names     see MqttClassNames
    client    an MqttClient
    base      the beginning of all topics
    path      of discovery.bin
    settle, events   as in config.json
    say(text) prints a line for people. Raises ValueError for wrong options.
    """

    def __init__(self, app, button, clock, say, wifi, names, client, base, path, settle, events):
        self.app = app
        self.names = names
        self.queries = app.queries
        self._say = say
        self._button = button
        self._clock = clock
        self._wifi = wifi
        self._client = client
        self._base = base
        self._in_a_row = whole("settle", settle[0], 1, 255)
        self._sure = whole("settle", settle[1], 0, 256)
        self.events = MqttEvents(events)
        self.publisher = MqttPublisher(self, base, client, path)
        client.take, client.talk = self.take, self.publisher.talk
        self._failed = ""  # the last message about the broker
        self._changed = clock()
        self.label_now = -1  # the label that the broker gives to samples,
        self.hold = 0  # milliseconds for which that label still holds
        self.shown = self._next = -1  # the class that is the state, and the class predicted last,
        self._run = 0  # how many times in a row that class was predicted
        self.labels = 0  # so far, at most _LATELY
        self.right = 0  # the share of right predictions, in 1/65536
        self._drifts = app.alarm.drifts if app.alarm else 0
        self._calm = _CALM
        self.anomalous = False
        self._usual = 0  # samples in a row that were no anomalies
        self._asked = 0
        self.new = False
        self._unsaved = False  # something that was taught is not in flash yet
        self.epoch = int.from_bytes(os.urandom(2), "big")
        self._newest = 0  # the id of the newest sample that has one

    # In place of a button

    def label(self):
        """Return the class of a sample taken now, -1 if it is not known."""
        if self.label_now >= 0 and self.names.has_name(self.label_now):
            return self.label_now
        return self._button.label() if self._button else -1

    # At the points of an application

    def show(self, predicted, _):
        """Note the prediction of a sample."""
        app = self.app
        if app.sample_id:
            if app.sample_id < self._newest:
                self.epoch = (self.epoch + 1) & _EPOCHS
            self._newest = app.sample_id
        self._settle(predicted)
        if app.anomaly:
            self._watch(app.anomaly.is_anomaly)

    def count(self, label, predicted):
        """Note whether the prediction of a sample with a label was right."""
        self.labels = min(self.labels + 1, _LATELY)
        self.right += ((int(label == predicted) << 16) - self.right) // self.labels
        alarm = self.app.alarm
        if not alarm:
            return
        drifting = self.is_drifting()
        if alarm.drifts > self._drifts:
            self._calm = 0
        elif drifting:
            self._calm += 1
        self._drifts = alarm.drifts
        if drifting != self.is_drifting():
            self._note(_DRIFT_OVER if drifting else _DRIFT)

    def turn(self, _, passed):
        """Serve the broker."""
        self.hold -= passed
        if self.hold <= 0:
            self.hold = 0
            if self.label_now >= 0:
                self.label_now = -1
                self.publisher.due = True
        if self.queries:
            self.queries.pace(passed)
        self._look()
        wrong = self._client.turn(self._wifi.joined())
        if self._client.state == OPEN:
            wrong = "connected"
        if wrong and wrong != self._failed:
            self._failed = wrong
            self._say("broker: " + wrong)

    # The state

    def is_drifting(self):
        """Return whether a drift is not over yet."""
        return self._calm < _CALM

    def asked(self):
        """Return the id of the sample whose label is queried; 0: none."""
        queries = self.queries
        if queries and queries.newest in self.app.pending:
            return queries.newest
        return 0

    def epoch_of(self, number):
        """The upper half of the stamp of the sample with an id: ids start again after 65535."""
        return self.epoch if number <= self._newest else (self.epoch - 1) & _EPOCHS

    def _settle(self, predicted):
        """Make the predicted class the state if it came often enough or with enough confidence.

        While all classes have the same votes, as before the first label, nothing changes.
        """
        if predicted != self._next:
            self._next = predicted
            self._run = 0
        self._run = min(self._run + 1, 255)
        votes = self.app.learner.votes
        if predicted == self.shown or min(votes) == max(votes):
            return
        if self._run < self._in_a_row and self.app.confidence < self._sure:
            return
        now = self._clock()
        if self.shown >= 0 and (now - self._changed) & _TICKS < _CHANGE:
            return
        self._changed = now
        self.shown = predicted
        self._note(_STATE)

    def _watch(self, anomalous):
        self._usual = 0 if anomalous else min(self._usual + 1, 255)
        if anomalous != self.anomalous and (anomalous or self._usual >= self._in_a_row):
            self.anomalous = anomalous
            self._note(_ANOMALY if anomalous else _ANOMALY_OVER)

    def _look(self):
        """Note the current label query, and whether all labels are saved."""
        unsaved = self.app.unsaved() > 0
        if unsaved != self._unsaved:
            self._unsaved = unsaved
            self.publisher.due = True
        asked = self.asked()
        if asked != self._asked:
            self._asked = asked
            if asked:
                self._note(_QUERY)
            self.publisher.due = True
        new = bool(self.names.spare and self.app.spare.novelty.is_ready)
        if new != self.new:
            self.new = new
            if new:
                self._note(_NEW)
            self.publisher.due = True

    def _note(self, kind):
        label, number = self.shown, self._newest
        if kind == _QUERY and self.queries:
            label, number = self.queries._predicted, self._asked
        if self.events.add(kind, label, self.epoch_of(number), number, self.app.seconds):
            self.publisher.flying = False  # the one that was under way
        self.publisher.due = True

    def take(self, body, start, end, size, retained):
        """Carry out a message, and publish the result."""
        topic = bytes(memoryview(body)[2:start])
        text = bytes(memoryview(body)[start:end])
        if topic == b"homeassistant/status":
            if text == b"online":
                self.publisher.announce()
        elif topic.startswith(self._base) and not retained:  # else it is old, or for others
            from .mqtt_subscriber import hear

            unload("mqtt_subscriber")
            self.publisher.text = hear(self, topic[len(self._base) :], text, size <= end)
