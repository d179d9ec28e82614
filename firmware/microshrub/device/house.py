"""What an MQTT broker, and Home Assistant behind it, hears of the program, and says to it.

config.json's `mqtt` has the broker's "host" and "port", the board's "name", perhaps "ca", the file
of a certificate; "settle", [in a row, confidence 0..255], one of which makes another class the
state; and "events", how many are kept while there is no broker. What is told is in house_voice.py.
"""

import os

from micropython import const

from ..learner import whole
from .house_events import ANOMALY, ANOMALY_OVER, DRIFT, DRIFT_OVER, NEW, QUESTION, STATE, Events
from .house_names import HouseNames
from .house_voice import HouseVoice
from .mqtt import OPEN, MqttClient, hello_of

_HOLD = const(600000)  # milliseconds for which a label of the broker holds
_CHANGE = const(1000)  # between two changes of the state, at least
_LATELY = const(50)  # labels that the accuracy is of, about
_CALM = const(100)  # labels without another alarm, after which a drift is over
_TICKS = const(1073741823)
_EPOCHS = const(65535)
_UNKNOWN = "don't know"


class House:
    """Between an application that serves and a broker; the program's button as well.

    button    what told labels before, or None
    folder    what names of files begin with
    wifi      the network, see wifi.py
    login     of the broker's user: [name, password]
    say(words) is for whoever looks. Raises ValueError for options and files that cannot be.
    """

    def __init__(self, app, board, button, folder, say, wifi, login):
        options = app.configuration.network["mqtt"]
        self._app = app
        self._say = say
        self._button = button
        self._clock = board.milliseconds
        self._wifi = wifi
        self._in_a_row = whole("settle", options["settle"][0], 1, 255)
        self._sure = whole("settle", options["settle"][1], 0, 256)
        self.events = Events(options["events"])
        self.spare = app.spare if app.configuration.spare is not None else None
        self.names = HouseNames(app)
        self.questions = app.questions if app.configuration.asking is not None else None
        name = options["name"]
        self._base = b"microshrub/" + name.encode() + b"/"
        will = "microshrub/%s/status" % name
        hello = hello_of("microshrub-" + name, will, *login)
        room = 300 + len(self._base) + 6 * self.names.longest
        self._client = MqttClient(options, hello, room, self._take, self._clock)
        self.voice = HouseVoice(self, app, self._client, self._base, folder + "house.bin")
        self._failed = ""  # what was said last of the broker
        self._last = self._changed = self._clock()
        self.label_now = -1  # what the broker says that samples are of
        self._hold = 0  # milliseconds for which it holds
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
        app = self._app
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
        alarm = self._app.alarm
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
        self._hold -= (milliseconds - self._last) & _TICKS
        self._last = milliseconds
        if self._hold <= 0:
            self._hold = 0
            if self.label_now >= 0:
                self.label_now = -1
                self.voice.due = True
        self._look()
        client = self._client
        was = client.state
        wrong = client.turn(self._wifi.joined())
        if client.state == OPEN:
            self.voice.talk(was != OPEN, milliseconds)
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
        if questions and questions.newest in self._app.pending:
            return questions.newest
        return 0

    def epoch_of(self, number):
        """The upper half of what names the sample with that id: ids begin anew behind 65535."""
        return self.epoch if number <= self._newest else (self.epoch - 1) & _EPOCHS

    def _settle(self, predicted):
        """Another class is the state once it was the answer often enough, or is sure."""
        if predicted != self._next:
            self._next = predicted
            self._run = 0
        self._run = min(self._run + 1, 255)
        if predicted == self.shown:
            return
        if self._run < self._in_a_row and self._app.confidence < self._sure:
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
        new = bool(self.spare and self.spare.newcomers.is_asking)
        if new != self.new:
            self.new = new
            if new:
                self._note(NEW)
            self.voice.due = True

    def _note(self, kind):
        label, number = self.shown, self._newest
        if kind == QUESTION and self.questions:
            label, number = self.questions._said, self._asked
        if self.events.add(kind, label, self.epoch_of(number), number, self._app.seconds):
            self.voice.flying = False  # the one that was under way
        self.voice.due = True

    # What is said to it

    def _take(self, body, start, end, size, retained):
        """Do what a message asks for, and say what became of it."""
        topic = bytes(memoryview(body)[2:start])
        if topic == b"homeassistant/status":
            if bytes(memoryview(body)[start:end]) == b"online":
                self.voice.introduce()
            return
        if retained or not topic.startswith(self._base):  # of long ago, or of others
            return
        try:
            if size > end:
                raise ValueError("what was sent is too long")
            text = str(bytes(memoryview(body)[start:end]), "utf-8")
            words = self._do(topic[len(self._base) :], text)
        except ValueError as error:
            words = str(error) or "what was sent is no text"
        self.voice.speak(words)

    def _do(self, what, text):
        if what == b"label/set":
            self.label_now = self._class(text) if text else -1
            self._hold = _HOLD
            self.voice.due = True
            return "samples are labelled %s" % text if text else "samples are not labelled"
        if what == b"answer/set":
            return self._answer(text[:8], text[9:])
        if what == b"name/set":
            return self._name(text)
        if what == b"normal/set" and self._app.anomaly:
            from .scores import this_is_normal

            return this_is_normal(self._app)
        raise ValueError("nothing is known of " + str(what, "utf-8"))

    def _class(self, text):
        """The class of that name, which a sample can have. Raises ValueError."""
        c = self.names.find(text.encode())
        if c < 0 or not self.names.is_said(c):
            raise ValueError("no class is called %s" % text)
        return c

    def _answer(self, stamp, text):
        """Learn the sample that a stamp stands for, unless that is too long ago."""
        try:
            epoch, number = int(stamp[:4], 16), int(stamp[4:], 16)
        except ValueError:
            raise ValueError("an answer begins with the id of its sample") from None
        if epoch != self.epoch_of(number) or number not in self._app.pending:
            raise ValueError("too late: the sample is not kept any more, or was answered")
        if text == _UNKNOWN:
            if self.questions and number == self.questions.newest:
                self.questions._show(0)
            return "nothing was learned"
        self._app.label(number, self._class(text))
        return "learned: " + text

    def _name(self, text):
        if not self.spare or not self.spare.newcomers.waiting:
            raise ValueError("nothing new waits for a name")
        if self._app.saving:
            self._app.saving.settle()
        c = self.spare.name(text)
        self._app.keep(self._app)
        self.voice.introduce()
        return "class %d is called %s" % (c, text)
