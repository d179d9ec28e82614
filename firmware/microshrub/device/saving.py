"""Checkpoints of a board with a sensor, saved between its readings; imported where there are both.

Flash takes 45 ms to erase a sector, and nothing else runs meanwhile. So a checkpoint is written in
steps, one after each reading. Until the last one the learner must not change: labels wait, with
the samples that they belong to, and are learned afterwards, in their order, as labels that come
late. Where one more sample would push out one that has such a label, the rest is done at once.
"""

import gc
from array import array

from ..learner import whole

_IDS = 65535


class Saving:
    """Saves the checkpoints of an application; pace: when the next reading is due."""

    def __init__(self, app, pace):
        self._app = app
        self._pace = pace
        self._steps = None  # of the checkpoint that is being saved
        samples = app.pending.samples
        self._ids = array("H", [0] * samples)  # of samples whose label waits, a ring
        self._labels = bytearray(samples)
        self._first = self._held = 0
        self._newest = 0  # the id of the last sample
        app.store.moving = app.parts[2:]
        self._sample, self._label = app.sample, app.label
        app.sample, app.label = self.sample, self.label
        self._reset, self._checkpoint, self._configure = app.reset, app.checkpoint, app.configure
        app.reset, app.checkpoint, app.configure = self.reset, self.checkpoint, self.configure

    @property
    def is_saving(self):
        """Whether a checkpoint is being written."""
        return self._steps is not None

    def begin(self):
        """A checkpoint is due: its first step comes behind the next reading."""
        self.settle()
        self._steps = self._app.store.steps()

    def go_on(self):
        """Do what there is time for before the next reading; returns what went wrong, or None."""
        if self._steps:
            return self._step()
        before = self._pace.wait()
        while self._held:
            self._learn()
            left = self._pace.wait()
            if left < before - left:  # there is no time for another one
                return None
            before = left
        return None

    def settle(self):
        """Do all that is left of the checkpoint, and learn the labels that wait."""
        while self._steps:
            self._step()
        while self._held:
            self._learn()

    def _step(self):
        for _ in self._steps or ():
            return None
        self._steps = None
        gc.collect()
        return None if self._app.store.saved else self._app.store.message

    def _learn(self):
        first = self._first
        self._first = (first + 1) % len(self._ids)
        self._held -= 1
        self._label(self._ids[first], self._labels[first])

    # In place of the application's own

    def sample(self, label):
        """Predict the application's sample; learn it, at once or later, if label >= 0."""
        app = self._app
        if self._held and (self._newest - self._ids[self._first]) % _IDS >= len(self._ids) - 1:
            self.settle()
        if not self._steps and not self._held:
            return self._sample(label)
        if label < 0 and app.configuration.asking is None:
            predicted = self._sample(label)
            self._newest = app.sample_id
            return predicted
        return self._predict(label)

    def _predict(self, label):
        """Predict without learning anything, or asking for a label."""
        app = self._app
        if label >= 0:
            whole("label", label, 0, app.classes - 1)
        predicted = self._class_of(app, app._codes)
        if label >= 0:
            self._newest = app.pending.add(app._codes, predicted)
            self._queue(self._newest, label)
        if app.plotter:
            app.plotter.show(app.values, label, predicted, app.metrics, app.anomaly)
        return predicted

    def _class_of(self, app, codes):
        app.quantizer.encode(app.values, codes)
        predicted = app.learner.predict(codes)
        app.confidence = min(max(app.learner.votes) >> 16, 255)
        app.sample_id = 0
        if app.anomaly:
            app.anomaly.update(codes)
        return predicted

    def _queue(self, sample_id, label):
        at = (self._first + self._held) % len(self._ids)
        self._ids[at] = sample_id
        self._labels[at] = label
        self._held += 1

    def label(self, sample_id, label):
        """Learn an earlier sample, once the checkpoint is saved."""
        self.settle()
        self._label(sample_id, label)

    def reset(self):
        """Forget what was learned."""
        self.settle()
        self._reset()

    def checkpoint(self):
        """Save everything now."""
        self.settle()
        self._checkpoint()

    def configure(self, piece, last):
        """Take a piece of another configuration."""
        self.settle()
        self._configure(piece, last)
