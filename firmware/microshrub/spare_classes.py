"""SpareClasses: a learner with classes that get their names only while it learns.

It stands in for the learner, which is made for all classes, spare ones included. What it predicts
always has a name; what is unlike all that has one is set aside, see newcomers.py, until a person
names it. From then on it is a class as the others are.

    spare = SpareClasses(model, ("walk", "rest"), spare=4)
    label = spare.predict(x)           # a class that has a name: spare.names.name(label)
    spare.note(x)                      # x has no label; spare.newcomers.is_asking: who knows it?
    spare.name("stairs")               # what was set aside is of a class of that name
    spare.learn(x, label)
    spare.note(x, label)
"""

from .class_names import ClassNames
from .learner import Learner, ParameterError
from .newcomers import Newcomers


class SpareClasses:
    """A learner, the names of its classes, and the samples that are new.

    model     a learner with the classes in `names` and the spare classes
    names     texts, the classes that are known from the start
    spare     1..255: classes that may get a name later
    room      1..255, the most bytes of a name
    settings  the settings of Newcomers: period, window, reach, collect

    Raises ValueError. Its parts have a state: `parts`, for a Checkpoint, are model, names,
    newcomers.
    """

    def __init__(self, model, names, spare=4, room=16, **settings):
        if not isinstance(model, Learner):
            raise ParameterError("model", "a learner of classes", model)
        self.names = ClassNames(names, spare, room)
        if model.classes != self.names.classes:
            raise ParameterError("the learner's classes", self.names.classes, model.classes)
        self.newcomers = Newcomers(model.features, model.classes, **settings)
        self.model = model
        self.features = model.features
        self.classes = model.classes
        self.votes_change = model.votes_change
        self.parts = (model, self.names, self.newcomers)

    # As a learner

    def predict(self, x):
        """A class that has a name, for the codes x, array('H'). Allocates nothing."""
        return self._said(self.model.predict(x))

    def predict_next(self, x):
        """The same for a sample that comes right after the one learned last."""
        return self._said(self.model.predict_next(x))

    def learn(self, x, label):
        """Learn one sample; returns what was predicted before. Allocates nothing.

        The label is one as names.learned_as() gives it. Raises ValueError for wrong ones.
        """
        if self.votes_change:
            said = self.predict_next(x)
            self.model.learn(x, label)
            return said
        return self._said(self.model.learn(x, label))

    def _said(self, predicted):
        return self.names.said(predicted, self.model.votes)

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
        """The buffers of the names and of new samples, as a list of (name, typecode, buffer)."""
        return self.names.buffers() + self.newcomers.buffers()

    # What is new

    def note(self, x, label=-1, collecting=True):
        """Compare the sample that was predicted or learned last; whether it is new.

        Call it once a sample. label is that of names.learned_as(), -1 if it is not known;
        collecting: set it aside if it is odd. One sample that was named is learned, too, so that
        no call takes long. Allocates nothing.
        """
        new = self._meet(x, label, collecting)
        given = self.newcomers.take()
        if given >= 0:
            self.model.learn(self.newcomers.x, given)
        return new

    def _meet(self, x, label, collecting):
        return self.newcomers.meet(x, label, collecting, max(self.model.votes))

    def name(self, text):
        """Give the samples that were set aside to the class of this name, new or known.

        The samples are learned one by one, with each note(). Returns the class. Raises ValueError
        if no spare class is left.
        """
        c = self.names.find(text)
        if c < 0:
            c = self.names.add(text)
        self.newcomers.give(c)
        return c

    def merge(self, c, into):
        """Have a class be another one from now on, in all that is said and learned.

        Raises ValueError unless both have names and differ.
        """
        self.names.merge(c, into)
        self.newcomers.move(c, into)

    def forget(self, c):
        """Never predict a class again; its samples are new once more. Raises ValueError.

        What the learner knows of the class stays, unused, until newer samples replace it.
        """
        self.names.forget(c)
        self.newcomers.move(c, -1)
