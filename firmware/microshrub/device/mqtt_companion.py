"""Connects the program to an MQTT broker, and to Home Assistant behind it.

config.json's `mqtt` has the broker's "host" and "port", the board's "name", optionally "ca", the
file of a certificate; "settle", [predictions in a row, confidence 0..255]: either makes a
predicted class the state; and "events", how many are kept while there is no broker.
mqtt_publisher.py publishes, mqtt_subscriber.py carries out messages, and network_start.py makes
the companion.
"""

import os

from micropython import const

from ..learner import whole
from .companion import Companion
from .config import unload
from .mqtt_client import OPEN
from .mqtt_publisher import (
    ANOMALY,
    ANOMALY_OVER,
    DRIFT,
    DRIFT_OVER,
    NEW,
    QUERY,
    STATE,
    MqttEvents,
    MqttPublisher,
)

_CHANGE = const(1000)  # milliseconds between two changes of the state, at least
_LATELY = const(50)  # the accuracy is that of the last 50 labels or so
_CALM = const(100)  # labels without another alarm, after which a drift is over
_TICKS = const(1073741823)
_EPOCHS = const(65535)


class MqttCompanion(Companion):
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
        self.unlike = False
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
            self._watch(app.anomaly.is_unlike)

    def count(self, label, predicted):
        """Note whether the prediction of a sample with a label was right."""
        self.labels = min(self.labels + 1, _LATELY)
        self.right += ((int(label == predicted) << 16) - self.right) // self.labels
        alarm = self.app.alarm
        if not alarm:
            return
        drifting = self.drifting
        if alarm.drifts > self._drifts:
            self._calm = 0
        elif drifting:
            self._calm += 1
        self._drifts = alarm.drifts
        if drifting != self.drifting:
            self._note(DRIFT_OVER if drifting else DRIFT)

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

    @property
    def drifting(self):
        """Whether a drift is not over yet."""
        return self._calm < _CALM

    @property
    def asked(self):
        """The id of the sample whose label is queried; 0: none."""
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
        self._note(STATE)

    def _watch(self, unlike):
        self._usual = 0 if unlike else min(self._usual + 1, 255)
        if unlike != self.unlike and (unlike or self._usual >= self._in_a_row):
            self.unlike = unlike
            self._note(ANOMALY if unlike else ANOMALY_OVER)

    def _look(self):
        """Note the current label query, and whether all labels are saved."""
        unsaved = self.app.unsaved > 0
        if unsaved != self._unsaved:
            self._unsaved = unsaved
            self.publisher.due = True
        asked = self.asked
        if asked != self._asked:
            self._asked = asked
            if asked:
                self._note(QUERY)
            self.publisher.due = True
        new = bool(self.names.spare and self.app.spare.novelty.is_ready)
        if new != self.new:
            self.new = new
            if new:
                self._note(NEW)
            self.publisher.due = True

    def _note(self, kind):
        label, number = self.shown, self._newest
        if kind == QUERY and self.queries:
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
