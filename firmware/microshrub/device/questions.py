"""Questions for labels, in the program and on the link; imported where the model asks."""

from ..asking import Asking
from ..learner import whole


class Questions:
    """Asks for the labels of some of the samples that an application predicts.

    Only these get an id, and wait for their label. `light`, if there is one, is on while the
    newest of them does.
    """

    def __init__(self, app, options):
        self.asking = Asking(app.classes, options["labels"], options["samples"])
        self.light = None
        self.newest = 0  # the id of the sample that was asked for last; 0: it is answered
        self._said = 0  # what was predicted for it
        self._app = app
        self._keep = app._keep
        app._keep = self._ask
        app.label = self._answer

    def _ask(self, codes, predicted):
        """Keep the sample that was predicted if it is asked for."""
        if self.asking.ask(self._app.learner.votes):
            self._keep(codes, predicted)
            self._said = predicted
            self._show(self._app.sample_id)

    def _answer(self, sample_id, label):
        """Learn an earlier sample, as Application.label()."""
        app = self._app
        whole("label", label, 0, app.classes - 1)
        predicted = app.pending.take(sample_id)
        learner, x = app.learner, app.pending.x
        learner.predict(x)
        self.asking.note(learner.votes, predicted != label)
        learner.learn(x, label)
        app._count(label, predicted)
        if sample_id == self.newest:
            self._show(0)

    def _show(self, newest):
        self.newest = newest
        if self.light:
            self.light.value(newest > 0)

    def tell(self, words):
        """Fill the words of the link's answer on questions; returns how many those are."""
        asking = self.asking
        waits = self.newest in self._app.pending
        words[0] = self.newest if waits else 0
        words[1] = self._said if waits else -1
        words[2] = asking.questions
        words[3] = asking.seen
        words[4] = asking.saved
        return 5
