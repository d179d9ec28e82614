"""The application behind the serial link: what a board does with samples and labels, see link.py.

An `Application` is made from a configuration, see config.py. It also runs on a PC, as the board's
twin in the simulator. Features that only some programs have are companions, see companion.py.
"""

import gc
from array import array

from micropython import const

from ..learner import whole
from ..learners import learner_class
from .config import forget, keep_piece, read_configuration, read_text

_TICKS = const(1073741823)
_MOST = const(536870911)  # the largest value of a word of the status
_COUNTING = const(12000)  # microseconds: the heap is counted only if no reading is due sooner


class Application:
    """A quantizer, a learner, metrics, and samples that wait for a label; optionally a drift alarm
    and a checkpoint.

    configuration   a Configuration
    folder          what the names of its files begin with: "", or a path that ends in "/"

    Raises ValueError for invalid parameters and states, and OSError for a missing state. A
    quantizer that freezes only observes the first `warmup` samples: labelled or not, they are
    answered with class 0, confidence 0 and no id, and are neither learned nor counted.
    """

    # With a property, MicroPython looks for one whenever an attribute is set: there is none here.
    # Attributes that few instances set: with more attributes, an instance is slower, see py/map.c
    anomaly = sharing = None  # see watchers.py and sharing.py
    plot = late = None  # points at which companions are called, see below
    light = None  # a light that is on while something is not saved
    _pieces = 0  # pieces of a new configuration that have arrived

    def __init__(self, configuration, folder=""):
        self.configuration = configuration
        self.hash = configuration.hash
        self.features = configuration.features
        self.classes = configuration.classes
        self.values = array("i", [0] * self.features)
        self.confidence = 0
        self.sample_id = 0
        self.plotter = None  # prints a line for each sample, see service.py
        self.restart = False  # True: a new configuration has arrived
        self.changes = 0  # labels and other changes by a person, 0..2**30 - 1, wrapping around
        self.saving = None  # saves checkpoints in steps, see saving.py
        self.still = False  # a checkpoint is being written: the learner must not change
        self.pace = None  # the Pace of the board's own sensor
        self.sleep = None  # sleeps between the readings of that sensor, see sleep.py
        self.trial = False  # True: this configuration is on trial, and nothing is saved
        self.seconds = 0  # since the start,
        self._milliseconds = 0  # milliseconds since the last full second
        self._time = -1  # the time of the last tick()
        self._folder = folder
        self._seen = 0  # samples that the warm-up has observed
        self.room = self.rest = 0  # bytes of the heap, and its free bytes at the last count
        gc.collect()  # so that there is a free block large enough for the learner
        try:
            self.learner = learner_class(configuration.learner)(**configuration.parameters)
        except TypeError as error:  # the learner does not have a parameter
            raise ValueError("parameters: %s" % error) from None
        self.alarm = None
        self.companions = ()  # type: tuple  # in the order in which they are called
        # The points: the functions to be called there, see companion.py
        self.look = self.note = self.show = self.count = self.turn = None
        self.queries = None  # decides which samples wait for a label, see label_queries.py
        self.spare = None  # the learner, if it has spare classes, see novel_classes.py
        self.more = {}  # type: dict  # answers requests to companions, see link.py
        self._states = ()  # type: tuple  # parts that begin with a saved state, and its file
        self._set_up(configuration)
        self._states += ((self.quantizer, configuration.quantizer),
            (self.parts[1], configuration.model))  # fmt: skip
        self.store = None
        if configuration.checkpoint is not None:
            self.store = self._prepare(configuration.checkpoint)

    def _set_up(self, configuration):
        """Make the quantizer and everything else that a classifier needs."""
        from ..delayed_labels import Pending
        from ..metrics import Metrics

        self._codes = array("H", [0] * self.features)
        self.metrics = Metrics(self.classes)
        self.pending = Pending(self.features, self.classes, configuration.pending)
        self.quantizer = self._ranges(configuration)
        # everything that a checkpoint saves
        parts = (self.quantizer, self.learner, self.metrics, self.pending)
        self.parts = parts  # type: tuple
        if configuration.alarm is not None:
            from ..drift_alarm import LEVELS, DriftAlarm

            self._levels = LEVELS
            self.alarm = DriftAlarm(learner=self.learner, **configuration.alarm)
            self.parts += (self.alarm,)
        if configuration.companions:
            from .companions import make

            make(self)
            forget("companions")

    def _ranges(self, configuration):
        """Return the quantizer: one that freezes, or one whose ranges grow."""
        if configuration.warmup is not None:
            from ..quantizer import Quantizer

            return Quantizer(self.features)
        from ..growing_ranges import GrowingQuantizer

        if configuration.anomaly or configuration.spare_classes or not self.learner.moves:
            raise ValueError("the ranges cannot grow here: config.json needs a warmup")
        return GrowingQuantizer(self.features, (self.learner, self.pending))

    def _prepare(self, options):
        """Make the checkpoint."""
        from ..checkpoint import Checkpoint

        path = self._folder + options.get("path", "checkpoint")
        store = Checkpoint(self.parts, path, options.get("seconds", 60))
        store.note(self.changes)
        return store

    def begin(self):
        """Load the newest checkpoint, else the configuration's states; returns a message."""
        if self.store and self.store.restore():
            return self.store.message
        from .states import load

        wrong = load(self)
        forget("states")
        message = self.store.message if self.store else "starting fresh"
        if wrong:
            message += "; " + wrong
        elif self.configuration.model:
            message += "; the model is %s" % self.configuration.model
        if not self.quantizer.frozen:
            message += "; the first %d samples are only observed" % self.configuration.warmup
        return message

    # Requests of the link

    def sample(self, label):
        """Predict the sample in `values`, and learn it if label >= 0; returns the prediction.

        Allocates nothing.
        """
        if label >= 0:
            label = self._checked(label)
        self.sample_id = 0
        self.confidence = 0
        if self.quantizer.frozen:
            predicted = (self.saving or self).predict(label)
            if self.show:
                self.show(predicted, label)
        else:
            predicted = 0
            self._observe()
        if self.plotter:
            self.plotter.show(self.values, label, predicted, self.metrics, self.plot)
        return predicted

    def _checked(self, label):
        """Return the class to learn for a label. Raises ValueError for an invalid label."""
        if self.spare:
            label = self.spare.label_of(label)
        if not 0 <= label < self.classes:
            whole("label", label, 0, self.classes - 1)
        return label

    def predict(self, label):
        """Like sample(), for a label that was checked, while no checkpoint is being saved."""
        if label < 0 and self.queries:
            return self.queries.predict()
        codes = self._codes
        learner = self.learner
        # once the learner has settled and no more labels come, equal rows get equal predictions
        if label >= 0 or (not self.still and (learner.idle() or learner.is_empty())):
            self.quantizer.encode(self.values, codes)
        else:
            self.quantizer.code(self.values, codes)
        at_once = label >= 0 and not learner.votes_change
        predicted = learner.learn(codes, label) if at_once else learner.predict(codes)
        self.confidence = min(max(learner.votes) >> 16, 255)
        if self.look:
            self.look(predicted, label)
        if label >= 0:
            if not at_once:
                learner.learn(codes, label)
            self._count(label, predicted)
        else:
            self.sample_id = self.pending.add(codes, predicted)
        if self.note:
            self.note(codes, label)
        return predicted

    def _observe(self):
        self.quantizer.observe(self.values)
        self._seen += 1
        if self._seen >= self.configuration.warmup:
            self.quantizer.freeze()

    def _count(self, label, predicted):
        self.changes = (self.changes + 1) & _TICKS
        self.metrics.update(label, predicted)
        if self.alarm:
            self.alarm.update(predicted != label)
        if self.count:
            self.count(label, predicted)

    def label(self, sample_id, label):
        """Learn an earlier sample. Raises ValueError if it does not wait or its label is wrong."""
        if self.saving:
            self.saving.settle()
        self.learn(sample_id, label)

    def learn(self, sample_id, label):
        """Like label(), while no checkpoint is being saved."""
        label = self._checked(label)
        predicted = self.pending.take(sample_id)
        x = self.pending.x
        if self.late:
            self.learner.predict_next(x)  # which fills its votes
            self.late(predicted, label)
        self.learner.learn(x, label)
        self._count(label, predicted)
        if self.note:
            self.note(x, label)

    def mem_free(self):
        """Count the free bytes of the heap. This takes 8 ms on a Pico."""
        self.rest = gc.mem_free()
        self.room = self.room or self.rest + gc.mem_alloc()

    def status(self, words):
        """Fill the words of the link's status, see docs/reference/link.md.

        If the next reading is due too soon, the free bytes are not counted again.
        """
        if not self.room or not self.pace or self.pace.wait() > _COUNTING:
            self.mem_free()
        words[6] = self.room - self.rest
        words[7] = min(self.rest, _MOST)
        self._note(words)
        words[10] = min(self.seconds, _MOST)
        words[12] = min(self.store.number(), _MOST) if self.store else 0
        words[14] = self.pace.missed if self.pace else 0
        words[15] = self.sleep.seconds if self.sleep else 0
        words[16] = self.unsaved()
        words[17] = self.store.ago // 1000 if self.store else -1

    def _note(self, words):
        """Fill the words about accuracy."""
        metrics = self.metrics
        words[0] = min(metrics.samples, _MOST)
        words[1] = min(metrics.right, _MOST)
        words[2] = metrics.accuracy
        words[3] = metrics.accuracy_nochange
        words[4] = max(metrics.kappa, -_MOST)
        words[5] = max(metrics.kappa_temporal, -_MOST)
        words[8] = words[9] = 0
        if self.alarm:
            words[8] = self._levels.index(self.alarm.level)
            words[9] = min(self.alarm.drifts, _MOST)
        words[11] = self.pending.waiting

    def confusion(self, label, prediction):
        """Return how many samples with this label were predicted as that class."""
        return self.metrics.confusion(label, prediction)

    def state_crc32(self):
        """Return the CRC32 of the learner's state."""
        return self.learner.state_crc32()

    def checkpoint(self):
        """Save everything. Raises ValueError if that fails."""
        self.settle()
        if not self.store:
            raise ValueError("config.json names no checkpoint")
        if not self.quantizer.frozen:
            raise ValueError("nothing is saved before the first samples were observed")
        self.store.note(self.changes)
        saved = self.store.save()
        gc.collect()
        if not saved:
            raise ValueError(self.store.message)

    def settle(self):
        """Finish a checkpoint and the labels that wait for it, before something changes."""
        if self.saving:
            self.saving.settle()

    def changed(self):
        """Note that something was learned: it is saved soon."""
        self.changes = (self.changes + 1) & _TICKS

    def taught(self):
        """Note a change by a person, such as a new name: it is saved sooner."""
        self.changed()
        if self.store:
            self.store.urgent = True

    def unsaved(self):
        """Return how many labels and other changes are not in flash yet; -1: nothing is saved."""
        store = self.store
        if not store or self.trial:
            return -1
        store.note(self.changes)
        return store.unsaved() + (self.saving.held if self.saving else 0)

    def reset(self):
        """Forget what was learned: begin again, with the configuration's states.

        Raises ValueError, with nothing forgotten, if one of these states is damaged.
        """
        from .states import check, load

        self.settle()
        try:
            check(self)
            self._seen = 0
            for part in self.parts:
                part.reset()
            load(self)
            self.taught()
            if self.store and not self.quantizer.frozen:  # nothing is saved until it is frozen
                self.store.note(self.changes)
                self.store.forget()
        finally:
            forget("states")

    def configure(self, piece, last):
        """Take a piece of a new config.json; it is tried once the last piece was answered.

        What was learned is saved first, as the board returns to it if the new one fails.
        """
        self.settle()
        keep_piece(piece, self._folder, not self._pieces)
        self._pieces += 1
        if last:
            self._pieces = 0
            read_configuration(self._folder, True)
            if self.store and self.quantizer.frozen:
                self.checkpoint()
            self.restart = True

    def read_text(self, at, buffer):
        """Copy the configuration's text from byte `at` on to a buffer; returns how many bytes."""
        return read_text(at, buffer, self._folder, self.trial)

    # Calls of the program

    def tick(self, milliseconds):
        """Take the time, 0..2**30 - 1, wrapping around, and save if a checkpoint is due.

        Returns an error of saving, or another message for people, or None.
        """
        passed = (milliseconds - self._time) & _TICKS if self._time >= 0 else 0
        self._time = milliseconds
        self._milliseconds += passed
        while self._milliseconds >= 1000:
            self._milliseconds -= 1000
            self.seconds += 1
        message = None
        store = self.store
        if store and not self.trial and self.quantizer.frozen:
            if self.light:
                self.light.value(self.unsaved() > 0)
            if store.due(self.changes, milliseconds):
                if self.saving:
                    self.saving.begin()
                else:
                    if not store.save():
                        message = store.message
                    gc.collect()
        turned = self.turn(milliseconds, passed) if self.turn else None
        return message or turned
