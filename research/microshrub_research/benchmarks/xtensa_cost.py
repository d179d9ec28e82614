"""Instructions of kernels on ESP32, S2 and S3, as native code and as viper's, in an emulated core.

The core runs no MicroPython, so the figures count the kernels that `predict` and `learn` call,
without the Python around them. Calls between viper's kernels through MicroPython are not counted
either: on a board, viper takes longer than here.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microshrub_host.base import native_tools
from microshrub_host.base.terminal import messages, showing
from microshrub_host.boards import counted_models
from microshrub_host.boards.ram_budget import modules_of
from microshrub_host.evaluation.taught_twice import made_stream
from microshrub_host.library import library_files
from microshrub_host.simulation.feature_choice import Place
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.streams.worlds import turned

from . import xtensa_core

SAMPLES = 25  # samples that are counted
GESTURES = "Thicket, 24,576 bytes (gestures)"
_BYTES, _WARMUP = 24_576, 400  # the size fits an ESP32 next to the gestures' program
_FEATURES = ("window=64", "hop=16", "rate=100")
_CALLS = ("predict", "learn")
_HEAD = ("configuration", "call", "native: mean", "most", "viper: mean", "most", "native / viper")
_COUNTED = (
    *("shrubs 16/4/4 (elec)", "shrubs 32/8/5"),
    *("Hoeffding tree, nba", "adaptive boosted SVFDT-II"),
)


@dataclass(frozen=True)
class _Lesson:
    """A learner, and rows with labels: codes, or raw values if ranges grow.
    The last SAMPLES rows are counted.
    """

    name: str
    learner: str
    parameters: dict[str, Any]
    rows: NDArray[np.int32]
    labels: NDArray[np.uint8]
    grows: bool = False


def xtensa_rows() -> list[tuple[str, ...]]:
    """Return the table, its head first. Raises XtensaCoreError if the core's results differ."""
    native_tools.find_or_fetch(xtensa_core.ARCH, messages.say)
    xtensa_core.emulator(messages.say)
    lessons = _lessons()
    table: list[tuple[str, ...]] = [_HEAD]
    with showing("counting instructions", announce=True) as update:
        for i, lesson in enumerate(lessons):
            native, viper = _counted(lesson)
            for k, call in enumerate((*_CALLS, "labelled sample")):
                pair = [each.sum(axis=1) if k == 2 else each[:, k] for each in (native, viper)]
                cells = [cell for each in pair for cell in _figures(each)]
                share = pair[0].mean() / pair[1].mean()
                table.append((lesson.name, call, *cells, f"{share:.2f}"))
            update(i + 1, len(lessons), lesson.name)
    return table


def _figures(counts: NDArray[np.int64]) -> tuple[str, str]:
    return f"{counts.mean():,.0f}", f"{counts.max():,}"


def _lessons() -> list[_Lesson]:
    made, _ = made_stream(1, FeatureOptions.of(list(_FEATURES), Place(channels=turned.COLUMNS)))
    rows = made.scale.apply(np.asarray(made.values))[: _WARMUP + SAMPLES]
    shape = {"features": rows.shape[1], "classes": len(made.class_names)}
    lessons = [
        _Lesson(
            GESTURES, "Thicket", {**shape, "bytes": _BYTES}, rows, np.asarray(made.labels), True
        )
    ]
    for what in counted_models.configurations(counted_models.WARMUP + SAMPLES):
        if what.name in _COUNTED:
            codes = what.codes.astype(np.int32)
            lessons.append(
                _Lesson(what.name, what.learner, dict(what.parameters), codes, what.labels)
            )
    return lessons


def _counted(lesson: _Lesson) -> list[NDArray[np.int64]]:
    """Return the instructions of each predict and each learn, native and viper:
    two arrays of shape (samples, 2).
    """
    with xtensa_core.KernelCalls() as recording:
        model = recording.library.learners.learner_class(lesson.learner)(**lesson.parameters)
        features = lesson.rows.shape[1]
        quantizer = (
            recording.library.GrowingQuantizer(features, (model,)) if lesson.grows else None
        )
        codes, first = array("H", bytes(2 * features)), len(lesson.rows) - SAMPLES
        for i, row in enumerate(lesson.rows):
            if i == first:
                recording.forget()
            if quantizer:
                quantizer.encode(array("i", row.tolist()), codes)
            else:
                codes[:] = array("H", row.tolist())
            recording.mark()
            model.predict(codes)
            recording.mark()
            model.learn(codes, int(lesson.labels[i]))
            recording.mark()
    modules = library_files.closure(modules_of(lesson.learner, lesson.parameters, lesson.grows))
    result = []
    for kind in xtensa_core.MAKERS:
        counts = xtensa_core.run(recording, modules, kind, count=True).instructions
        # each predict follows the coding of its row; the last count is the end
        result.append(np.array(counts[:-1]).reshape(SAMPLES, 3)[:, 1:])
    return result
