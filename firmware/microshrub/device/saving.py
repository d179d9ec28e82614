"""Saves checkpoints in steps; only programs with checkpoints import it.

Flash takes 45 ms to erase a sector, and nothing else runs meanwhile. So a checkpoint is written in
steps: one after each reading of a sensor, and more if there is time before the next reading or
request. Until the last step the learner must not change. Before anything changes it, the rest of
the checkpoint is written at once; only the labels of a sensor's samples are held until the end.
"""

import gc
from array import array

from micropython import const

_STEP = const(60000)  # microseconds that a step may take

_LAST = const(0)  # the word of Pending's state with the id of the last sample,
_IDS = const(65535)  # modulo this


class Saving:
    """Saves the checkpoints of an application; pace: the sensor's Pace, or None."""

    held = 0  # labels that wait for the end of a checkpoint

    def __init__(self, app, pace):
        self._app = app
        self._pace = pace
        self._steps = None  # the steps of the checkpoint that is being saved
        app.store.moving = app.parts[2:]

    def begin(self):
        """Begin a checkpoint: its first step comes in the next turn."""
        self.settle()
        self._steps = self._app.store.steps()
        self._app.still = True

    def turn(self, is_read):
        """Do a step if there is time or a reading was just taken; returns an error, or None."""
        return self._step() if is_read or self.has_time() else None

    def has_time(self):
        """Return whether there is time for a step before the next reading."""
        return not self._pace or self._pace.wait() > _STEP

    def settle(self):
        """Finish the checkpoint, if one is being saved."""
        while self._steps:
            self._step()

    def _step(self):
        for _ in self._steps or ():
            return None
        self._steps = None
        self._app.still = False
        gc.collect()
        return None if self._app.store.saved else self._app.store.message

    def predict(self, label):
        """Finish the checkpoint, predict the application's sample, and learn it if label >= 0."""
        self.settle()
        return self._app.predict(label)


class LabelsHeld(Saving):
    """Saves the checkpoints of an application whose samples come from a sensor.

    Labels that come meanwhile are held, with their samples. They are learned afterwards, in their
    order, as late labels are. If one more sample would push out a sample whose label is held, the
    rest of the checkpoint is saved at once.
    """

    def __init__(self, app, pace):
        Saving.__init__(self, app, pace)
        samples = app.pending.samples
        self._ids = array("H", [0] * samples)  # ring of the samples whose labels are held
        self._labels = bytearray(samples)
        self._first = self.held = 0

    def turn(self, is_read):
        """Do as much as there is time for before the next reading; returns an error, or None."""
        if self._steps or not self.held:
            return Saving.turn(self, is_read)
        if not is_read and not self.has_time():
            return None
        before = self._pace.wait()
        while self.held:
            self._learn()
            left = self._pace.wait()
            if left < before - left:  # there is no time for another label
                return None
            before = left
        return None

    def settle(self):
        """Finish the checkpoint, and learn the labels that wait."""
        Saving.settle(self)
        while self.held:
            self._learn()

    def _learn(self):
        first = self._first
        self._first = (first + 1) % len(self._ids)
        self.held -= 1
        self._app.learn(self._ids[first], self._labels[first])

    def predict(self, label):
        """Predict the application's sample; learn it, at once or later, if label >= 0."""
        app, ids, newest = self._app, self._ids, self._app.pending._flat[0][_LAST]
        if self.held and (newest - ids[self._first]) % _IDS >= len(ids) - 1:
            self.settle()
        busy = self._steps or self.held
        if not busy or (label < 0 and not app.queries):
            return app.predict(label)
        return self._defer(app, label)

    def _defer(self, app, label):
        """Predict, without learning the sample or querying its label now."""
        predicted = self._class_of(app, app._codes)
        if label >= 0:
            self._queue(app.pending.add(app._codes, predicted), label)
        return predicted

    def _class_of(self, app, codes):
        if self._steps:
            app.quantizer.code(app.values, codes)
        else:
            app.quantizer.encode(app.values, codes)
        predicted = app.learner.predict(codes)
        app.confidence = min(max(app.learner.votes) >> 16, 255)
        return predicted

    def _queue(self, sample_id, label):
        at = (self._first + self.held) % len(self._ids)
        self._ids[at] = sample_id
        self._labels[at] = label
        self.held += 1
