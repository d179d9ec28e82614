"""The rules for every learner, one check each: `microshrub check-learner` runs them all.

A check takes the learner and raises LearnerError if the learner breaks the rule; a check that
needs a C compiler or a MicroPython raises LeftOut without one.
"""

from __future__ import annotations

import copy
import sys
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from microshrub_host.api.runs import parity
from microshrub_host.base.micropython_binary import NoMicroPython
from microshrub_host.library import learners, loader, user_learner_check
from microshrub_host.library.user_learner_check import LearnerError, Samples
from microshrub_host.simulation import engines
from microshrub_host.streams.regression_streams import NumberStream
from microshrub_host.streams.stream import Stream

from ..state_fuzz.altered_states import Chance, alter
from . import board_heap

_SHAPES = ({"features": 1, "classes": 2}, user_learner_check.SHAPE, {"features": 6, "classes": 5})
_SAMPLES = 300
_ON_A_HEAP = 1000  # samples; the first are learned before the heap is locked
_STATES = 300  # altered states
_USED = 20  # samples for each altered state that is not refused
_MOST = 65536  # bytes of the largest learner that is checked
_PLAIN = (int, float, str, bytes, bytearray, array, tuple, list, dict, set, type(None))
_OF_THE_BASE = ("_row",)  # the row checked last, kept only to recognize that row


class LeftOut(Exception):  # noqa: N818  (no error, but a reason)
    """The check needs something that this machine does not have."""


@dataclass(frozen=True)
class CheckedLearner:
    """A learner's class, registered with the library, and its file."""

    name: str
    path: Path

    @property
    def model(self) -> str:
        """The learner's name in commands."""
        return learners.short_name(self.name)

    @property
    def is_regressor(self) -> bool:
        return self.model in learners.REGRESSORS

    def made(self, library: ModuleType, shape: dict[str, int], **parameters: Any) -> Any:
        return user_learner_check.make(library, self.name, shape, **parameters)

    def samples(self, learner: Any, seed: int = 1) -> Samples:
        return Samples(learner.features, getattr(learner, "classes", 65536), seed)

    def makers(self, library: ModuleType) -> Iterator[Callable[[], Any]]:
        """Yield makers of the learner, in several shapes and with each parameter's extremes."""
        for shape in _SHAPES:
            yield partial(self.made, library, shape)
        for name, parameter in learners.options_of(self.model).items():
            for value in {parameter.low, parameter.high, *parameter.choices} - {None}:
                kept = int(value) if parameter.kind is int else value
                try:
                    learner_class = library.learners.learner_class(self.name)
                    shape = {
                        k: v
                        for k, v in user_learner_check.SHAPE.items()
                        if k in learner_class._SHAPE
                    }
                    size = learner_class.nbytes(**shape, **{name: kept})
                except ValueError:  # invalid with the other parameters' defaults
                    continue
                if size <= _MOST:
                    yield partial(self.made, library, user_learner_check.SHAPE, **{name: kept})


def source_rules(candidate: CheckedLearner) -> None:
    """The kernels use nothing that viper cannot do."""
    user_learner_check.read_source(candidate.path)


def bounds(candidate: CheckedLearner) -> None:
    """No kernel goes outside a buffer or beyond 32 bits; classes and votes are valid."""
    for make in candidate.makers(loader.load("checked")):
        learner = make()
        user_learner_check.learn(learner, candidate.samples(learner), _SAMPLES)


def fresh_again(candidate: CheckedLearner) -> None:
    """reset() restores the initial state."""
    learner = candidate.made(loader.load("checked"), user_learner_check.SHAPE)
    before = learner.state_crc32()
    user_learner_check.learn(learner, candidate.samples(learner), 50)
    learner.reset()
    if learner.state_crc32() != before:
        raise LearnerError("after reset() the state is not that of a fresh one: see _start()")


def bytes_are_known(candidate: CheckedLearner) -> None:
    """nbytes() is the size of the buffers, each of which has a name of its own."""
    for make in candidate.makers(loader.load("checked")):
        learner = make()
        names = [name for name, _, _ in learner.buffers()]
        if len(set(names)) < len(names):
            raise LearnerError(f"_table() has one name twice: {', '.join(names)}")
        taken = sum(len(bytes(memoryview(buffer))) for _, _, buffer in learner.buffers())
        if taken != learner.table_bytes():
            raise LearnerError(f"_table() says {learner.table_bytes()} bytes, and it has {taken}")


def save_and_load(candidate: CheckedLearner) -> None:
    """A loaded learner has the same state, and continues in the same way."""
    library = loader.load("checked")
    learner_class = library.learners.learner_class(candidate.name)
    if learner_class._is_sound is library.buffers.Buffers._is_sound:
        raise LearnerError(
            f"{candidate.name} has no _is_sound(), so every saved state is refused: it says of "
            "each index in the state whether it is within the buffers"
        )
    for make in candidate.makers(library):
        learner, other = make(), make()
        samples = candidate.samples(learner)
        user_learner_check.learn(learner, samples, 100)
        other.load(learner.save())
        for _ in range(100):
            row, label = samples.next()
            learner.learn(row, label)
            other.learn(row, label)
            if learner.state_crc32() != other.state_crc32():
                raise LearnerError("once loaded, it learns otherwise: something is in no buffer")


def all_in_buffers(candidate: CheckedLearner) -> None:
    """All state that predict and learn change is in the buffers of _table()."""
    learner = candidate.made(loader.load("python"), user_learner_check.SHAPE)
    samples = candidate.samples(learner)
    user_learner_check.learn(learner, samples, 1)  # the learner keeps the row checked last
    before = _held_outside(learner)
    user_learner_check.learn(learner, samples, _SAMPLES)
    for name, value in _held_outside(learner).items():
        if name not in before or before[name] != value:
            raise LearnerError(
                f"{name} changes, and is in no buffer of _table(): it is lost when the learner "
                "is saved"
            )


def whole_numbers(candidate: CheckedLearner) -> None:
    """progress() returns whole numbers by their names."""
    learner = candidate.made(loader.load("python"), user_learner_check.SHAPE)
    user_learner_check.learn(learner, candidate.samples(learner), 5)
    for name, value in learner.progress().items():
        if type(name) is not str or type(value) is not int:
            raise LearnerError(f"progress() has {value!r} for {name!r}, not a whole number")


def forged_states(candidate: CheckedLearner) -> None:
    """A state with altered words and a right checksum is refused, or does no harm."""
    library = loader.load("checked")
    chance = Chance(7)
    learner = candidate.made(library, user_learner_check.SHAPE)
    samples = candidate.samples(learner)
    outcomes = getattr(learner, "classes", 65536)
    for length in (3, 40, 200):
        learner.reset()
        user_learner_check.learn(learner, samples, length)
        saved = learner.save()
        for _ in range(_STATES // 3):
            try:
                learner.load(alter(saved, chance))
            except ValueError:
                continue
            for _ in range(_USED):
                row, label = samples.next()
                try:
                    user_learner_check.possible(learner.predict(row), outcomes)
                except LearnerError as error:
                    raise LearnerError(
                        f"_is_sound() lets a state pass, and then {error}"
                    ) from None
                learner.learn(row, label)


def equal_engines(candidate: CheckedLearner) -> None:
    """The engines in this process hold the same bits after every sample."""
    names = ("checked", *(name for name in engines.available() if name != "micropython"))
    _compare(candidate, names, _SAMPLES)


def equal_on_micropython(candidate: CheckedLearner) -> None:
    """A real 32-bit MicroPython holds the same bits, too."""
    try:
        _compare(candidate, ("python", "micropython"), _SAMPLES)
    except NoMicroPython as error:
        raise LeftOut(str(error)) from None


def nothing_allocated(candidate: CheckedLearner) -> None:
    """predict and learn allocate nothing on a real MicroPython's heap."""
    learner = candidate.made(loader.load("python"), user_learner_check.SHAPE)
    samples = candidate.samples(learner)
    rows = [samples.next() for _ in range(_ON_A_HEAP)]
    try:
        output = board_heap.run(candidate.path, candidate.name, learner, rows)
    except NoMicroPython as error:
        raise LeftOut(str(error)) from None
    if output:
        raise LearnerError(output)


def _compare(candidate: CheckedLearner, names: tuple[str, ...], samples: int) -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(-9000, 9000, (samples, 3)).astype(float)
    stream: Stream | NumberStream
    if candidate.is_regressor:
        columns = np.column_stack([values, values @ (0.5, -0.2, 0.1)]).round()
        stream = NumberStream("drawn", columns, ("a", "b", "c", "y"), 3, 0, 0)
    else:
        labels = ((values[:, 0] > 0) + (values[:, 1] > 3000)).astype(np.uint8)
        stream = Stream("drawn", values, labels, ("a", "b", "c"), ("no", "maybe", "yes"))
    result = parity(stream, candidate.model, engine_names=names, warmup=64, every=50)
    if result:
        raise LearnerError(str(result))


def _held_outside(learner: Any) -> dict[str, Any]:
    """Copy the values that a learner holds outside its buffers: in itself, its class, its module.

    The keys are names in the source; a buffer inside a value is not copied.
    """
    kept = {id(buffer): buffer for _, _, buffer in learner.buffers()}  # buffers are not copied
    return {
        name: copy.deepcopy(value, dict(kept))
        for name, value in _named(learner)
        if isinstance(value, _PLAIN)
    }


def _named(learner: Any) -> Iterator[tuple[str, Any]]:
    learner_class = type(learner)
    module = sys.modules[learner_class.__module__]
    for name, value in vars(learner).items():
        if name not in _OF_THE_BASE:
            yield f"self.{name}", value
    for name, value in vars(learner_class).items():
        if not name.startswith("__"):
            yield f"{learner_class.__name__}.{name}", value
    for name, value in vars(module).items():
        if not name.startswith("__"):
            yield name, value


CHECKS: tuple[Callable[[CheckedLearner], None], ...] = (
    *(source_rules, bounds, fresh_again, bytes_are_known, all_in_buffers, save_and_load),
    *(forged_states, whole_numbers, equal_engines, equal_on_micropython, nothing_allocated),
)
NEEDED = (source_rules, bounds)  # a learner that breaks these could crash later checks
