"""Label queries of active learning in the program and on the link."""

from micropython import const

from ..active_learning import QueryStrategy

_QUERIES = const(14)
_PAUSE = const(5000)  # milliseconds in which people see that a query is over
_HOUR = const(3605000)  # an hour, and the pause


class LabelQueries:
    """Queries the labels of some samples that an application predicts.

    Only the queried samples get an id and wait for their label. `light`, if there is one, is on
    while the newest of them waits.
    """

    _wait = -1  # milliseconds to the next query; above _PAUSE: the last one waits; -1: see pace()

    def __init__(self, app):
        self._app = app
        options = app.configuration.queries
        self.strategy = QueryStrategy(app.classes, options["labels"], options["samples"])
        self._rehearsal = None
        if app.configuration.learner == "Thicket" and app.configuration.spare_classes is None:
            from ..thicket.rehearsal import Rehearsal

            self._rehearsal = Rehearsal(app.learner, self.strategy)
        self.light = None
        self.newest = 0  # the id of the sample that was queried last; 0: it is answered
        self._predicted = 0  # what was predicted for it
        app.queries = self
        app.more[_QUERIES] = self._answer_host
        app.parts += (self.strategy,)

    def attach(self, board, button, _):
        """Make the light; returns the button."""
        led = self._app.configuration.queries.get("led")
        if led is not None:
            self.light = board.light(led)
        return button

    def plot(self, plotter, _):
        """Add the sample's query, if there is one, to its line."""
        if self._app.sample_id:
            plotter.put(b"asks", self._app.sample_id)

    def predict(self):
        """Predict the application's sample, which has no label, and query it if that is useful."""
        app = self._app
        codes, learner = app._codes, app.learner
        app.quantizer.encode(app.values, codes)
        predicted = learner.predict_next(codes)
        app.confidence = min(max(learner.votes) >> 16, 255)
        if app.look:
            app.look(predicted, -1)
        if self.strategy.ask(learner.votes):
            if self._wait > 0:
                self.strategy.decline()
            else:
                self._keep(codes, predicted)
        elif self._rehearsal:
            self._rehearsal.rehearse(codes, predicted)
        if app.note:
            app.note(codes, -1)
        return predicted

    def _keep(self, codes, predicted):
        """Let a sample wait for its label."""
        sample_id = self._app.pending.add(codes, predicted)
        self._app.sample_id = sample_id
        self._predicted = predicted
        if self._wait >= 0:
            self._wait = _HOUR
        self._show(sample_id)

    def pace(self, passed):
        """Count down the time, in milliseconds: a pause follows each query.

        A query is over when it was answered, or after an hour. If pace() is never called, queries
        come whenever the label budget allows.
        """
        wait = max(self._wait - passed, 0) if self._wait >= 0 else _HOUR
        if not self.newest:
            wait = min(wait, _PAUSE)
        elif wait <= _PAUSE:
            self._show(0)
        self._wait = wait

    def late(self, predicted, label):
        """Note the label of a queried sample."""
        changed = self.strategy.note(self._app.learner.votes, predicted != label)
        if changed and self._rehearsal:
            self._rehearsal.let_go()
        if self.newest not in self._app.pending:
            self._show(0)

    def _show(self, newest):
        self.newest = newest
        if self.light:
            self.light.value(newest > 0)

    def _answer_host(self, link, to, body, n):
        return link.put_words(to, self._tell(link.words))

    def _tell(self, words):
        """Fill the words of the link's answer about queries; returns how many."""
        strategy = self.strategy
        waits = self.newest in self._app.pending
        words[0] = self.newest if waits else 0
        words[1] = self._predicted if waits else -1
        words[2] = strategy.queries
        words[3] = strategy.seen
        words[4] = strategy.saved
        return 5
