"""A board taught, left alone, and taught again after a change, compared with two static models.

The accuracies are of gestures without labels, after the last label, as for a board in use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..library import loader
from ..library.learners import learner_name
from ..simulation.engine_interface import Labels, Predictions
from ..simulation.engines import LocalEngine
from ..simulation.feature_extraction import extracted
from ..simulation.feature_options import FeatureOptions
from ..streams.stream import Stream
from ..streams.worlds import turned
from ..streams.worlds.turned import AFTER, AGAIN, ALONE, BEFORE, CLASSES, LESSON, TURNED
from . import batch_forest

ASKED = (ALONE, TURNED, AFTER, BEFORE)  # the phases without a label


@dataclass(frozen=True)
class TaughtTwice:
    """Marks of the right predictions, for each learner and each phase without labels.

    The learners in `right` are OURS, FROZEN, which was not taught again, and FOREST, a batch
    forest that learned the first lesson on a PC, if scikit-learn is installed.
    """

    right: dict[str, dict[int, NDArray[np.bool_]]] = field(repr=False)
    guessing: dict[int, float]  # percent right if always predicting the most frequent class
    seconds: dict[int, float]  # of each phase, including the lessons
    samples: int

    def percent(self, name: str, phase: int) -> float:
        """Return the percentage of a phase's samples that a learner predicts correctly."""
        return 100 * float(self.right[name][phase].mean())


OURS, FROZEN, FOREST = "microshrub", "frozen model", "batch forest"


def made_stream(seed: int, options: FeatureOptions) -> tuple[Stream, NDArray[np.intp]]:
    """Return the samples that a board computes from a hand's motion, and the phase of each."""
    rows = list(turned.readings(seed))
    stream = Stream(
        f"a hand, seed {seed}",
        np.array([row.values for row in rows], dtype=np.float64),
        np.array([CLASSES.index(row.label) for row in rows], dtype=np.uint8),
        turned.COLUMNS,
        CLASSES,
    )
    phases = np.array([row.phase for row in rows])
    made = extracted(stream, options)
    return made, phases[made.times]


def teach_twice(
    stream: Stream, phases: NDArray[np.intp], model: str, parameters: Mapping[str, Any], hop: float
) -> TaughtTwice:
    """Run the experiment with a learner whose ranges grow, and one sample every `hop` seconds."""
    rows, labels = stream.scale.apply(np.asarray(stream.values)), np.asarray(stream.labels)
    run = LocalEngine(loader.fastest(), learner_name(model), parameters, (), True)

    def asked() -> dict[int, Predictions]:
        return {phase: run.ask(rows[phases == phase]) for phase in ASKED}

    _teach(run, rows[phases == LESSON], labels[phases == LESSON])
    frozen = asked()
    _teach(run, rows[phases == AGAIN], labels[phases == AGAIN])
    predictions = {
        OURS: asked() | {phase: frozen[phase] for phase in (ALONE, TURNED)},
        FROZEN: frozen,
    }
    learned = rows[phases == LESSON], labels[phases == LESSON]
    forest = {phase: batch_forest.answers(*learned, rows[phases == phase]) for phase in ASKED}
    if all(each is not None for each in forest.values()):
        predictions[FOREST] = {phase: each for phase, each in forest.items() if each is not None}
    truth = {phase: labels[phases == phase] for phase in ASKED}
    return TaughtTwice(
        {
            name: {phase: each[phase] == truth[phase] for phase in ASKED}
            for name, each in predictions.items()
        },
        {phase: 100 * float(np.bincount(each).max()) / len(each) for phase, each in truth.items()},
        {phase: hop * int((phases == phase).sum()) for phase in (LESSON, AGAIN, *ASKED)},
        len(labels),
    )


def _teach(run: LocalEngine, rows: NDArray[np.int32], labels: Labels) -> None:
    run.run(rows, labels)
    run.settle()
