"""Tests a saved model on another recording: unchanged, and while it goes on learning.

Three models predict the same samples: the saved model, the saved model after learning the rest of
the new recording, and a new model that has learned only this rest. The samples are whole stretches
that none of the three has learned, see holdout.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation import holdout
from ..evaluation.by_class import ByClass
from ..evaluation.prequential import Progress, compile_kernels
from ..evaluation.stretches import Draw
from ..library import loader
from ..library.learners import model_name
from ..simulation.engine_interface import Predictions, States
from ..simulation.engines import LocalEngine
from ..simulation.feature_extraction import extracted_as
from ..streams.names import labels_of, places_of
from ..streams.stream import Stream
from ..streams.units import Raw
from .model_files import ModelFile, grew

_BLOCK = 2048


@dataclass(frozen=True)
class Learned:
    """Percentages of right predictions for the held-out stretches."""

    samples: int  # held-out samples in all draws
    learned_on: float  # the saved model after learning the rest
    as_it_is: float  # the saved model, unchanged
    fresh: float  # a new model that learned only the rest

    def record(self) -> dict[str, Any]:
        """Return the percentages for --json."""
        return {
            "samples": self.samples,
            "learned_on": self.learned_on,
            "as_it_is": self.as_it_is,
            "fresh_model": self.fresh,
        }


@dataclass(frozen=True)
class Meeting:
    """The result of a saved model on another recording; accuracies in percent."""

    as_it_is: ByClass = field(repr=False)  # all samples, none of which the model had learned
    guessing: float  # accuracy of predicting the recording's most frequent class
    learned: Learned | None  # None if no stretch can be held out
    accuracy: float  # prequential, of the model that goes on learning
    accuracy_nochange: float
    model: ModelFile = field(repr=False)  # after the recording

    @property
    def samples(self) -> int:
        """The number of samples in the recording."""
        return int(self.as_it_is.counts.sum())

    @property
    def right(self) -> float:
        """The percentage of samples that the unchanged model predicts correctly."""
        return 100 * float(np.trace(self.as_it_is.counts)) / self.samples

    def record(self) -> dict[str, Any]:
        """Return the result for --json."""
        return {
            "samples": self.samples,
            "as_it_is": {"accuracy": self.right} | self.as_it_is.record(),
            "guessing": self.guessing,
            "on_unseen_data": self.learned and self.learned.record(),
            "accuracy": self.accuracy,
            "accuracy_nochange": self.accuracy_nochange,
        }


def as_the_model(model: ModelFile, stream: Stream) -> Stream:
    """Return the recording with the model's features, units and classes, matched by name.

    stream has the rows as recorded; for a model whose samples are windows, the readings. Columns
    that the model does not have are left out. Raises UserError for a missing column or class.
    """
    labels = labels_of(stream, model.known_names)
    wanted = model.extraction.channels if model.extraction else model.feature_names
    order = places_of(stream.name, stream.feature_names, wanted)
    recording = replace(
        stream,
        values=np.asarray(stream.values)[:, order],
        labels=labels,
        feature_names=tuple(wanted),
        class_names=model.class_names,
        known_scale=None if model.extraction else model.scale,
    )
    if model.extraction:
        recording = extracted_as(recording, model.extraction, model.feature_names)
    return recording


def meet(model: ModelFile, stream: Stream, progress: Progress | None = None) -> Meeting:
    """Test a classifier on the recording, then let it learn; see as_the_model()."""
    rows, labels = model.scale.apply(np.asarray(stream.values)), np.asarray(stream.labels)
    compile_kernels(model_name(model.learner), model.parameters)
    predictions = _asked(started(model), rows)
    as_it_is = ByClass.none_yet(model.class_names)
    as_it_is.add(labels, predictions)
    learned = _learned(model, stream, predictions)
    run = started(model)
    right = 0
    for part in _blocks(len(rows)):
        right += int((run.run(rows[part], labels[part]) == labels[part]).sum())
        if progress:
            done = min(part.stop, len(rows))
            progress(done, len(rows), 100 * right / done)
    status = run.status()
    run.settle()
    after = replace(
        model,
        stream=stream.name,
        samples=model.samples + len(rows),
        accuracy=status.accuracy,
        states=States(run.saved().learner, run.saved().quantizer, model.states.more),
    )
    return Meeting(
        as_it_is,
        100 * float(np.bincount(labels).max()) / len(labels),
        learned,
        status.accuracy,
        status.accuracy_nochange,
        after,
    )


def started(model: ModelFile) -> LocalEngine:
    """Return the learner with the file's state, on the fastest engine."""
    growing = grew(model.states.quantizer)
    run = LocalEngine(loader.fastest(), model.learner, model.parameters, (), growing)
    run.load(model.states)
    return run


def _learned(model: ModelFile, stream: Stream, predictions: Predictions) -> Learned | None:
    """Return the percentages for held-out stretches, or None if there are no such stretches.

    predictions are the unchanged model's, for the whole recording.
    """
    known = holdout.held_out(stream)
    drawn = list(holdout.draws(known.stretches)) if known else []
    if known is None or not any(draw.asked.any() for draw in drawn):
        return None
    frozen = predictions[len(predictions) - len(known.labels) :]
    samples, right = 0, np.zeros(3, np.intp)
    for draw in drawn:
        marks = holdout.predictable(draw, known.labels)
        truth, in_draw = known.labels[marks], marks[draw.held_out]
        answers = (
            _learn_on(model, known, draw),
            frozen[draw.held_out],
            _fresh(model, known, draw),
        )
        right += [int((each[in_draw] == truth).sum()) for each in answers]
        samples += len(truth)
    if not samples:
        return None
    return Learned(samples, *(100 * each / samples for each in right.tolist()))


def _learn_on(model: ModelFile, known: holdout.HeldOut, draw: Draw) -> Predictions:
    run = started(model)
    rows, labels = known.rows[draw.learned], known.labels[draw.learned]
    for part in _blocks(len(labels)):
        run.run(rows[part], labels[part])
    run.settle()
    return _asked(run, known.rows[draw.held_out])


def _fresh(model: ModelFile, known: holdout.HeldOut, draw: Draw) -> Predictions:
    return holdout.ask(known, draw, model_name(model.learner), model.parameters).predictions


def _asked(run: LocalEngine, rows: Raw) -> NDArray[np.uint8]:
    return np.concatenate([run.ask(rows[part]) for part in _blocks(len(rows))])


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(at, at + _BLOCK) for at in range(0, rows, _BLOCK))
