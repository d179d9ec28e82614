"""An exam of a device: a person shows each class once more, without labels."""

from __future__ import annotations

import numpy as np

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console
from microshrub_host.evaluation.by_class import ByClass

from .device_watch import Watch
from .interrupts import Interrupts

USUAL = 6.0  # seconds for which a class is shown
_READY = 3.0  # seconds before, whose predictions do not count
_SLICE = 0.1  # seconds between two checks for Ctrl-C


def take(watch: Watch, seconds: float, ctrl_c: Interrupts) -> ByClass:
    """Have a person show each class for `seconds`; return the predictions by class.

    A sample that had a label is left out. Raises UserError if the device predicts no classes.
    """
    if watch.target is not None:
        raise UserError("an exam asks for classes, and this board predicts a number")
    names = watch.matrix_names
    result = ByClass.none_yet(names)
    for shown, name in enumerate(names):
        console.say(f"{name}: get ready to show it for {seconds:g} s")
        _predictions(watch, _READY, ctrl_c)
        if ctrl_c.came:
            break
        console.bell()
        console.say(f"{name}: now")
        for prediction in _predictions(watch, seconds, ctrl_c):
            if prediction in names:
                result.counts[shown, names.index(prediction)] += 1
        console.say(f"{name}: {_result(result.counts[shown].tolist(), names, shown)}")
    return result


def _predictions(watch: Watch, seconds: float, ctrl_c: Interrupts) -> list[str]:
    """Return the names of the classes predicted in that time, for samples without a label."""
    watch.link.observed.clear()
    left, result = seconds, []
    while left > 0 and not ctrl_c.came:
        watch.link.poll(min(_SLICE, left))
        left -= _SLICE
        while watch.link.observed:
            seen = watch.link.observed.popleft()
            if seen.label is None:
                result.append(watch.class_names[seen.prediction.label])
    return result


def _result(counts: list[int], names: tuple[str, ...], shown: int) -> str:
    """Return how many predictions were right, and the most frequent wrong class."""
    total = sum(counts)
    if not total:
        return "the board sent no prediction"
    words = f"{counts[shown]:,} of {total:,} right"
    others = np.array(counts)
    others[shown] = 0
    return words if not others.any() else f"{words}, most others {names[int(others.argmax())]}"


def grade(by_class: ByClass) -> str:
    """Return the exam's result in one sentence."""
    if not by_class.counts.any():
        return "Exam: the board sent no prediction. It needs a sensor of its own."
    return f"Exam: {by_class.balanced_accuracy:.2f} % right, with equal weight for each class"
