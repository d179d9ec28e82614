"""What an MQTT broker, and Home Assistant behind it, hears of the program, and says to it.

config.json's `mqtt` has the broker's "host" and "port", the board's "name", perhaps "ca", the file
of a certificate; "settle", [in a row, confidence 0..255], one of which makes another class the
state; and "events", how many are kept while there is no broker. What is told is in house_voice.py,
what is heard in house_ears.py, and house_start.py makes it all.
"""

import os

from micropython import const

from ..learner import whole
from .config import unload
from .house_events import ANOMALY, ANOMALY_OVER, DRIFT, DRIFT_OVER, NEW, QUESTION, STATE, Events
from .house_voice import HouseVoice
from .mqtt import OPEN

_CHANGE = const(1000)  # between two changes of the state, at least
_LATELY = const(50)  # labels that the accuracy is of, about
_CALM = const(100)  # labels without another alarm, after which a drift is over
_TICKS = const(1073741823)
_EPOCHS = const(65535)


class House:
    """Between an application that serves and a broker; the program's button as well.

    button    what told labels before, or None
    wifi      the network, see wifi.py
    names     see HouseNames
    client    an MqttClient
    base      with which topics begin
    path      of house.bin
    settle, events   as in config.json
    say(words) is for whoever looks. Raises ValueError for options that cannot be.
    """

    def __init__(self, app, button, clock, say, wifi, names, client, base, path, settle, events):
        self.app = app
        self.names = names
        self.questions = app.questions if app.configuration.asking is not None else None
        self._say = say
        self._button = button
        self._clock = clock
        self._wifi = wifi
        self._client = client
        self._base = base
        self._in_a_row = whole("settle", settle[0], 1, 255)
        self._sure = whole("settle", settle[1], 0, 256)
        self.events = Events(events)
        self.voice = HouseVoice(self, base, client, path)
        client.take, client.talk = self.take, self.voice.talk
        self._failed = ""  # what was said last of the broker
        self._last = self._changed = clock()
        self.label_now = -1  # what the broker says that samples are of
        self.hold = 0  # milliseconds for which it holds
        self.shown = self._next = -1  # the class that is told, and the one that may follow
        self._run = 0  # so often it was the answer
        self.labels = 0  # at most _LATELY
        self.right = 0  # of these, in 1/65536
        self._drifts = app.alarm.drifts if app.alarm else 0
        self._calm = _CALM
        self.unlike = False
        self._usual = 0  # samples in a row that were not
        self._asked = 0
        self.new = False
        self.epoch = int.from_bytes(os.urandom(2), "big")
        self._newest = 0  # the id of a sample
        self._sample, self._count, self._tick = app.sample, app._count, app.tick
        app.sample, app._count, app.tick = self.sample, self.count, self.tick

    # In place of the application's own, and of a button

    def label(self):
        """The class now, -1 if it is not known."""
        if self.label_now >= 0 and self.names.is_said(self.label_now):
            return self.label_now
        return self._button.label() if self._button else -1

    def sample(self, label):
        """Predict the application's sample, learn it if label >= 0, and watch what was said."""
        predicted = self._sample(label)
        app = self.app
        if app.sample_id:
            if app.sample_id < self._newest:
                self.epoch = (self.epoch + 1) & _EPOCHS
            self._newest = app.sample_id
        if app.quantizer.frozen:
            self._settle(predicted)
            if app.anomaly:
                self._watch(app.anomaly.is_unlike)
        return predicted

    def count(self, label, predicted):
        """Count a label, as the application does."""
        self._count(label, predicted)
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

    def tick(self, milliseconds):
        """Tell the time, as the application takes it; serve the broker meanwhile."""
        said = self._tick(milliseconds)
        self.hold -= (milliseconds - self._last) & _TICKS
        self._last = milliseconds
        if self.hold <= 0:
            self.hold = 0
            if self.label_now >= 0:
                self.label_now = -1
                self.voice.due = True
        self._look()
        wrong = self._client.turn(self._wifi.joined())
        if self._client.state == OPEN:
            wrong = "connected"
        if wrong and wrong != self._failed:
            self._failed = wrong
            self._say("broker: " + wrong)
        return said

    # What is watched

    @property
    def drifting(self):
        """Whether a drift is not over yet."""
        return self._calm < _CALM

    @property
    def asked(self):
        """The id of the sample that is asked for; 0: none is."""
        questions = self.questions
        if questions and questions.newest in self.app.pending:
            return questions.newest
        return 0

    def epoch_of(self, number):
        """The upper half of what names the sample with that id: ids begin anew behind 65535."""
        return self.epoch if number <= self._newest else (self.epoch - 1) & _EPOCHS

    def _settle(self, predicted):
        """Another class is the state once it was the answer often enough, or is sure.

        None is while all have the same votes, as before the first label.
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
        """Note what is asked."""
        asked = self.asked
        if asked != self._asked:
            self._asked = asked
            if asked:
                self._note(QUESTION)
            self.voice.due = True
        new = bool(self.names.spare and self.app.spare.newcomers.is_asking)
        if new != self.new:
            self.new = new
            if new:
                self._note(NEW)
            self.voice.due = True

    def _note(self, kind):
        label, number = self.shown, self._newest
        if kind == QUESTION and self.questions:
            label, number = self.questions._said, self._asked
        if self.events.add(kind, label, self.epoch_of(number), number, self.app.seconds):
            self.voice.flying = False  # the one that was under way
        self.voice.due = True

    def take(self, body, start, end, size, retained):
        """Do what a message asks for, and have the voice say what became of it."""
        topic = bytes(memoryview(body)[2:start])
        text = bytes(memoryview(body)[start:end])
        if topic == b"homeassistant/status":
            if text == b"online":
                self.voice.introduce()
        elif topic.startswith(self._base) and not retained:  # else it is of long ago, or of others
            from .house_ears import hear

            unload("house_ears")
            self.voice.words = hear(self, topic[len(self._base) :], text, size <= end)
