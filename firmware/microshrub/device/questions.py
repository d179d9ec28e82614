"""Questions for labels, in the program and on the link; imported where the model asks."""

from micropython import const

from ..asking import Asking
from ..learner import whole

_ASKING = const(14)


class Questions:
    """Asks for the labels of some of the samples that an application predicts.

    Only these get an id, and wait for their label. `light`, if there is one, is on while the
    newest of them does.
    """

    def __init__(self, app, options):
        self.asking = Asking(app.classes, options["labels"], options["samples"])
        self._rehearsal = None
        if app.configuration.learner == "Thicket" and app.configuration.spare is None:
            from ..thicket.rehearsal import Rehearsal

            self._rehearsal = Rehearsal(app.learner, self.asking)
        self.light = None
        self._led = options.get("led")
        self.newest = 0  # the id of the sample that was asked for last; 0: it is answered
        self._said = 0  # what was predicted for it
        self._app = app
        self._learn = app._predict
        app._predict = self._predict
        app.label = self._answer
        app.questions = self
        app.more[_ASKING] = self._answer_host
        app.parts += (self.asking,)
        app.attach = self._attach

    def _attach(self, board, button, _):
        """Take its light, and its place in the plotter's lines; returns the button."""
        if self._led is not None:
            self.light = board.light(self._led)
        if self._app.plotter:
            self._app.plotter.extra = self._add
        return button

    def _add(self, plotter):
        """Add the question of a sample, if there is one, to its line."""
        if self._app.sample_id:
            plotter.put(b"asks", self._app.sample_id)

    def _predict(self, label):
        """Predict the application's sample; learn it if its label is known, else perhaps ask."""
        if label >= 0:
            return self._learn(label)
        app = self._app
        codes, learner = app._codes, app.learner
        app.quantizer.encode(app.values, codes)
        predicted = learner.predict_next(codes)
        app.confidence = min(max(learner.votes) >> 16, 255)
        if app.look:
            app.look(codes, predicted, -1)
        if self.asking.ask(learner.votes):
            self._keep(codes, predicted)
        elif self._rehearsal:
            self._rehearsal.rehearse(codes, predicted)
        return predicted

    def _keep(self, codes, predicted):
        """Have a sample wait for its label."""
        pending = self._app.pending
        sample_id = pending.add(codes, predicted)
        self._app.sample_id = sample_id
        self._said = predicted
        self._show(sample_id)

    def _answer(self, sample_id, label):
        """Learn an earlier sample, as Application.label()."""
        app = self._app
        whole("label", label, 0, app.classes - 1)
        predicted = app.pending.take(sample_id)
        self._note(predicted, label)
        app.learner.learn(app.pending.x, label)
        app._count(label, predicted)
        if sample_id == self.newest:
            self._show(0)

    def _note(self, predicted, label):
        """Note the label of the sample in pending.x, which is predicted anew for its votes."""
        app = self._app
        app.learner.predict_next(app.pending.x)
        if app.told:
            app.told(predicted, label)
        changed = self.asking.note(app.learner.votes, predicted != label)
        if changed and self._rehearsal:
            self._rehearsal.let_go()

    def _show(self, newest):
        self.newest = newest
        if self.light:
            self.light.value(newest > 0)

    def _answer_host(self, link, to, body, n):
        return link.put_words(to, self._tell(link.words))

    def _tell(self, words):
        """Fill the words of the link's answer on questions; returns how many those are."""
        asking = self.asking
        waits = self.newest in self._app.pending
        words[0] = self.newest if waits else 0
        words[1] = self._said if waits else -1
        words[2] = asking.questions
        words[3] = asking.seen
        words[4] = asking.saved
        return 5
