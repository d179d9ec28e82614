"""A saved model meets another recording: as it is, and going on to learn.

Three figures, of the same samples: the model as it was saved, the model once it has learned the
rest of the new recording, and a fresh one that has learned that rest alone. The samples are whole
stretches that none of them has learned, see holdout.py.
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
    """Percent right of the stretches that were held out of what was learned."""

    samples: int  # that were asked about, in all draws
    learned_on: float  # of the saved model that went on to learn
    as_it_is: float  # of the saved model, of the same samples
    fresh: float  # of a model that learned nothing else

    def record(self) -> dict[str, Any]:
        """For --json."""
        return {
            "samples": self.samples,
            "learned_on": self.learned_on,
            "as_it_is": self.as_it_is,
            "fresh_model": self.fresh,
        }


@dataclass(frozen=True)
class Meeting:
    """What came of a saved model on another recording; accuracies in percent."""

    as_it_is: ByClass = field(repr=False)  # of all samples, none of which it has learned
    guessing: float  # of naming the most frequent class of the recording
    learned: Learned | None  # None if the recording is too short to hold stretches out
    accuracy: float  # prequential, of the model that goes on to learn
    accuracy_nochange: float
    model: ModelFile = field(repr=False)  # after the recording

    @property
    def samples(self) -> int:
        """Of the recording."""
        return int(self.as_it_is.counts.sum())

    @property
    def right(self) -> float:
        """How many of them the model predicts correctly as it is."""
        return 100 * float(np.trace(self.as_it_is.counts)) / self.samples

    def record(self) -> dict[str, Any]:
        """For --json."""
        return {
            "samples": self.samples,
            "as_it_is": {"accuracy": self.right} | self.as_it_is.record(),
            "guessing": self.guessing,
            "on_unseen_data": self.learned and self.learned.record(),
            "accuracy": self.accuracy,
            "accuracy_nochange": self.accuracy_nochange,
        }


def as_the_model(model: ModelFile, stream: Stream) -> Stream:
    """The recording with the model's features, units and classes, all found by their names.

    stream has the rows as they were recorded; of a model that makes its samples of windows, the
    readings. Columns that the model does not have are left out. Raises UserError for a column or
    a class that is missing.
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
    """Ask a model of classes about the recording, then let it learn; see as_the_model()."""
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
    """The learner with the state that the file has, on the fastest engine."""
    growing = grew(model.states.quantizer)
    run = LocalEngine(loader.fastest(), model.learner, model.parameters, (), growing)
    run.load(model.states)
    return run


def _learned(model: ModelFile, stream: Stream, predictions: Predictions) -> Learned | None:
    """The figures for stretches that are held out; predictions: what the model says as it is."""
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
