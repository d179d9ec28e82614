"""SpareClasses: a learner with classes that get their names only while it learns.

It takes the place of the learner, which is made for all classes, spare ones included. It predicts
only named classes. Samples that are far from all of these are kept as novel, see
novelty_detection.py, until a person names them. From then on their class is a class like others.

    spare = SpareClasses(model, ("walk", "rest"), spare=4)
    label = spare.predict(x)           # a class that has a name: spare.names.name(label)
    spare.note(x)                      # x has no label; spare.novelty.is_ready: name it!
    spare.name("stairs")               # the novel samples are of a class of that name
    spare.learn(x, label)
    spare.note(x, label)
"""

from .class_names import ClassNames
from .learner import Learner, ParameterError
from .novelty_detection import NoveltyDetector


class SpareClasses:
    """A learner, the names of its classes, and the novel samples.

    model     a learner with the classes in `names` and the spare classes
    names     texts, the classes that are known from the start
    spare     1..255: classes that may get a name later
    room      1..255, the most bytes of a name
    settings  the settings of NoveltyDetector: period, window, reach, collect

    Raises ValueError. `parts`, for a Checkpoint, are the parts with a state: model, names,
    novelty.
    """

    def __init__(self, model, names, spare=4, room=16, **settings):
        if not isinstance(model, Learner):
            raise ParameterError("model", "a learner of classes", model)
        self.names = ClassNames(names, spare, room)
        if model.classes != self.names.classes:
            raise ParameterError("the learner's classes", self.names.classes, model.classes)
        self.novelty = NoveltyDetector(model.features, model.classes, **settings)
        self.model = model
        self.features = model.features
        self.classes = model.classes
        self.votes_change = model.votes_change
        self.parts = (model, self.names, self.novelty)

    # As a learner

    def predict(self, x):
        """A class that has a name, for the codes x, array('H'). Allocates nothing."""
        return self._named(self.model.predict(x))

    def predict_next(self, x):
        """Like predict(), for a sample that comes right after the sample learned last."""
        return self._named(self.model.predict_next(x))

    def learn(self, x, label):
        """Learn one sample; returns what was predicted before. Allocates nothing.

        The label is one as names.learned_as() gives it. Raises ValueError for wrong ones.
        """
        if self.votes_change:
            predicted = self.predict_next(x)
            self.model.learn(x, label)
            return predicted
        return self._named(self.model.learn(x, label))

    def label_of(self, label):
        """The class as which a label is learned, see learned_as() of names. Raises ValueError."""
        return self.names.learned_as(label)

    def _named(self, predicted):
        return self.names.resolve(predicted, self.model.votes)

    def is_empty(self):
        """See learner.py."""
        return self.model.is_empty()

    def idle(self):
        """Do some of the work that the learner has left; returns whether there is more."""
        return self.model.idle()

    @property
    def votes(self):
        """Votes of the last prediction, array('i'), of all classes."""
        return self.model.votes

    def state_crc32(self):
        """CRC32 of the learner's buffers."""
        return self.model.state_crc32()

    def saved_bytes(self):
        """Bytes of the learner's saved state."""
        return self.model.saved_bytes()

    def buffers(self):
        """The buffers of the names and the novel samples, a list of (name, typecode, buffer)."""
        return self.names.buffers() + self.novelty.buffers()

    # Novel samples

    def note(self, x, label=-1, collecting=True):
        """Compare the sample that was predicted or learned last; returns whether it is novel.

        Call it once a sample. label is that of names.learned_as(), -1 if it is not known;
        collecting: keep the sample if it is a candidate. One sample that was named is learned,
        too, one a call, so that no call takes long. Allocates nothing.
        """
        new = self._meet(x, label, collecting)
        given = self.novelty.take()
        if given >= 0:
            self.model.learn(self.novelty.x, given)
        return new

    def _meet(self, x, label, collecting):
        return self.novelty.meet(x, label, collecting, max(self.model.votes))

    def name(self, text):
        """Give the novel samples to the class of this name, new or known.

        The samples are learned one by one, with each note(). Returns the class. Raises ValueError
        if no spare class is left.
        """
        c = self.names.find(text)
        if c < 0:
            c = self.names.add(text)
        self.novelty.give(c)
        return c

    def merge(self, c, into):
        """Have a class be another one from now on, when it is predicted or learned.

        Raises ValueError unless both have names and differ.
        """
        self.names.merge(c, into)
        self.novelty.move(c, into)

    def forget(self, c):
        """Never predict a class again; its samples are novel once more. Raises ValueError.

        Its samples in the learner stay, unused, until newer samples replace them.
        """
        self.names.forget(c)
        self.novelty.move(c, -1)
