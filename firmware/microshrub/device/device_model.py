"""What a device does with samples and labels: the application of the serial link, see link.py.

`Application` is made of a configuration, see config.py. It runs on a PC as well, where it is the
device's twin in the simulator.
"""

import gc
from array import array

from micropython import const

from ..learner import whole
from ..learners import learner_class
from .config import forget, keep_piece, read_configuration, read_text
from .status import status, told

_TICKS = const(1073741823)


class Application:
    """A quantizer, a learner, metrics, samples that wait; perhaps alarms and a checkpoint.

    configuration   a Configuration
    folder          what the names of its files begin with: "", or a path that ends in "/"

    Raises ValueError for parameters and states that cannot be, and OSError for a state that is
    not there. The first `warmup` samples are only observed if the quantizer is one that is not
    frozen yet: they are answered with class 0, confidence 0 and no id, labelled or not, and are
    neither learned nor counted.
    """

    def __init__(self, configuration, folder=""):
        self.configuration = configuration
        self.hash = configuration.hash
        self.features = configuration.features
        self.classes = configuration.classes
        self.values = array("i", [0] * self.features)
        self.confidence = 0
        self.sample_id = 0
        self.plotter = None  # shows each sample, see plotter.py
        self.restart = False  # another configuration was taken in
        self.saving = None  # saves between the readings of a sensor, see saving.py
        self.pace = None  # of that sensor
        self.parcels = None  # samples for others, and of others, see parcels.py
        self.sleep = None  # between the readings of that sensor, see sleep.py
        self.trial = False  # nothing is saved while this one is only tried
        self._pieces = 0  # of it so far
        self.seconds = 0  # since the start
        self._milliseconds = 0  # and what is above
        self._time = -1  # what tick() was told last
        self._folder = folder
        self._seen = 0  # samples of the warm-up
        self.room = self.rest = 0  # bytes of the heap, and those free when they were counted
        gc.collect()  # so that the learner finds its room in one piece
        try:
            self.learner = learner_class(configuration.learner)(**configuration.parameters)
        except TypeError as error:  # a parameter that it does not have
            raise ValueError("parameters: %s" % error) from None
        self.alarm = self.anomaly = None
        self.look = self.told = None  # what watches samples and late labels, see beside.py
        self.more = {}  # type: dict  # requests on what stands beside the model, see link.py
        self.attach = None  # gives what few programs have its pins: (board, button, sensor)
        self._states = ()  # type: tuple  # to begin with: parts, and the names of their files
        if configuration.numbers is None:
            self._set_up(configuration)
        else:
            from .numbers import configure

            configure(self)
        self._states += ((self.quantizer, configuration.quantizer),
            (self.parts[1], configuration.model))  # fmt: skip
        self.store = None
        if configuration.checkpoint is not None:
            self.store = self._prepare(configuration.checkpoint)

    def _set_up(self, configuration):
        """Make what surrounds a learner of classes."""
        from ..metrics import Metrics
        from ..pending import Pending

        self._codes = array("H", [0] * self.features)
        self.metrics = Metrics(self.classes)
        self.pending = Pending(self.features, self.classes, configuration.pending)
        self.quantizer = self._ranges(configuration)
        # all that a checkpoint keeps
        parts = (self.quantizer, self.learner, self.metrics, self.pending)
        self.parts = parts  # type: tuple
        if configuration.alarm is not None:
            from ..drift_alarm import LEVELS, DriftAlarm

            self._levels = LEVELS
            self.alarm = DriftAlarm(learner=self.learner, **configuration.alarm)
            self.parts += (self.alarm,)
        if configuration.asking is not None:
            from .questions import Questions

            Questions(self, configuration.asking)
        if configuration.anomaly is not None:
            from .scores import score_too

            score_too(self)
        if configuration.spare is not None:
            from .naming import configure

            configure(self)
        if configuration.beside is not None:
            from .beside import configure

            configure(self)
        if configuration.share is not None:
            from .parcels import share

            share(self)

    def _ranges(self, configuration):
        """The quantizer: one that freezes, or one whose ranges grow."""
        if configuration.warmup is not None:
            from ..quantizer import Quantizer

            return Quantizer(self.features)
        from ..growing import GrowingQuantizer

        if configuration.anomaly or configuration.spare or not self.learner.moves:
            raise ValueError("the ranges cannot grow here: config.json needs a warmup")
        return GrowingQuantizer(self.features, (self.learner, self.pending))

    def _prepare(self, options):
        """The checkpoint."""
        from ..checkpoint import Checkpoint

        options = dict(options)
        options["path"] = self._folder + options.get("path", "checkpoint")
        return Checkpoint(self.parts, **options)

    def begin(self):
        """Take over the newest checkpoint, else the states of the configuration; says which."""
        if self.store and self.store.restore():
            return self.store.message
        from .states import load

        wrong = load(self)
        forget("states")
        said = self.store.message if self.store else "starting fresh"
        if wrong:
            said += "; " + wrong
        elif self.configuration.model:
            said += "; the model is %s" % self.configuration.model
        if not self.quantizer.frozen:
            said += "; the first %d samples are only observed" % self.configuration.warmup
        return said

    # What the link asks for

    def sample(self, label):
        """Predict the sample in `values`, and learn it if label >= 0; returns the prediction.

        Allocates nothing.
        """
        if label >= 0:
            whole("label", label, 0, self.classes - 1)
        self.sample_id = 0
        self.confidence = 0
        if self.quantizer.frozen:
            predicted = self._predict(label)
        else:
            predicted = 0
            self._observe()
        if self.plotter:
            self.plotter.show(self.values, label, predicted, self.metrics, self.anomaly)
        return predicted

    def _predict(self, label):
        codes = self._codes
        learner = self.learner
        # once it has settled, and nobody tells labels any more, the same row has the same answer
        if label >= 0 or learner.idle() or not self.metrics.samples:
            self.quantizer.encode(self.values, codes)
        else:
            self.quantizer.code(self.values, codes)
        at_once = label >= 0 and not learner.votes_change
        predicted = learner.learn(codes, label) if at_once else learner.predict(codes)
        self.confidence = min(max(learner.votes) >> 16, 255)
        if self.look:
            self.look(codes, predicted, label)
        if label >= 0:
            if not at_once:
                learner.learn(codes, label)
            self._count(label, predicted)
            return predicted
        self.sample_id = self.pending.add(codes, predicted)
        return predicted

    def _observe(self):
        self.quantizer.observe(self.values)
        self._seen += 1
        if self._seen >= self.configuration.warmup:
            self.quantizer.freeze()

    def _count(self, label, predicted):
        self.metrics.update(label, predicted)
        if self.alarm:
            self.alarm.update(predicted != label)

    def label(self, sample_id, label):
        """Learn an earlier sample. Raises ValueError if it waits no more, or for a wrong label."""
        whole("label", label, 0, self.classes - 1)
        predicted = self.pending.take(sample_id)
        if self.told:
            self.told(predicted, label)
        self.learner.learn(self.pending.x, label)
        self._count(label, predicted)

    def status(self, words):
        """Fill the words of the link's state."""
        status(self, words)

    def _note(self, words):
        told(self, words)

    def confusion(self, label, prediction):
        """How many samples of the label were predicted so."""
        return self.metrics.confusion(label, prediction)

    def state_crc32(self):
        """The CRC32 of the learner's state."""
        return self.learner.state_crc32()

    def checkpoint(self):
        """Save everything. Raises ValueError if that did not work."""
        if not self.store:
            raise ValueError("config.json names no checkpoint")
        if not self.quantizer.frozen:
            raise ValueError("nothing is saved before the first samples were observed")
        saved = self.store.save()
        gc.collect()
        if not saved:
            raise ValueError(self.store.message)

    def reset(self):
        """Forget what was learned: all is as it was without a checkpoint.

        Raises ValueError, with nothing forgotten, if a state to begin with is damaged.
        """
        from .states import check, load

        try:
            check(self)
            self._seen = 0
            for part in self.parts:
                part.reset()
            load(self)
        finally:
            forget("states")

    def configure(self, piece, last):
        """Take a piece of another config.json; it is tried when the last one was answered.

        What was learned is saved first, as the board comes back to it if the new one cannot be.
        """
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

    # What the program tells it

    def tick(self, milliseconds):
        """Tell the time, 0..2**30 - 1, wrapping around; save when it is time.

        Returns what went wrong with that in words, or None.
        """
        passed = (milliseconds - self._time) & _TICKS if self._time >= 0 else 0
        self._time = milliseconds
        self._milliseconds += passed
        while self._milliseconds >= 1000:
            self._milliseconds -= 1000
            self.seconds += 1
        store = self.store
        if not store or self.trial or not self.quantizer.frozen:
            return None
        if not store.due(self.metrics.samples & _TICKS, milliseconds):
            return None
        if self.saving:
            self.saving.begin()
            return None
        saved = store.save()
        gc.collect()
        return None if saved else store.message
