"""A learner with its quantizer on a PC: rows of decimals in, class numbers out.

A prediction changes nothing that the learner or its quantizer uses later, however many predictions
there are, and in however many threads.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import AdapterError
from ..library import loader
from ..library.learners import MODELS, grows, learner_name, stream_parameters
from ..models import model_files
from ..simulation.engine_interface import States
from ..simulation.engines import ints
from ..streams.stream import MAX_CLASSES, MAX_FEATURES, Stream
from ..streams.units import Scale
from .one_at_a_time import one_at_a_time
from .sets import Sets
from .unit_losses import LossWarnings

FASTEST = "fastest"  # the engine c where there is a C compiler, else llvm
ENGINES = (FASTEST, "c", "llvm", "python")
Values = NDArray[np.float64]
Row = list[float]  # NaN for a missing value


class Online:
    """The common part of classifiers and regressors: rows of decimals become codes."""

    _learner: Any
    _quantizer: Any
    _lock: RLock
    grows = False  # whether the ranges grow with the learned samples

    def __init__(
        self,
        model: str,
        first: Values,
        names: Sequence[str],
        *,
        warmup: int | None = None,
        scale: Scale | None = None,
        engine: str = FASTEST,
        warns: bool = True,
    ) -> None:
        """Set units and ranges by the first rows, shape (rows, features), NaN missing.

        A given scale replaces the units of these rows. Only the first `warmup` rows set the
        ranges, if warmup is given."""
        check_engine(engine)
        if not 1 <= len(names) <= MAX_FEATURES:
            raise AdapterError(
                f"there are {len(names)} features; 1 to {MAX_FEATURES} are possible"
            )
        first = np.where(np.isfinite(first), first, np.nan)
        self.scale = Scale.fit(first) if scale is None else scale
        columns = [f"the feature {name!r}" for name in names]
        self._losses = LossWarnings(
            self.scale, columns, ", or set digits=", meant=scale is not None, quiet=not warns
        )
        self._losses.look(first, self.scale.exact(first))
        self._first = first[:warmup]
        self._model, self._engine, self._names = model, engine, tuple(names)
        self.samples = 0

    def _begin(self) -> None:
        """Make all objects, and freeze the ranges. Raises AdapterError if the learner refuses."""
        try:
            self._build()
        except ValueError as error:
            raise AdapterError(str(error)) from None
        if not self.grows:
            self._quantizer.observe(ints(self.scale.apply(self._first)))
            self._quantizer.freeze()
            self._losses.freeze([self._quantizer.range_of(f) for f in range(len(self._names))])
        del self._first

    def table_bytes(self) -> int:
        """Return the bytes of the buffers of the learner and its quantizer."""
        tables = (self._learner.buffers(), self._quantizer.buffers())
        return sum(memoryview(buffer).nbytes for table in tables for _, _, buffer in table)

    def _codes(self, values: Values) -> array[int]:
        """Return the codes of rows that are learned."""
        codes = array("H", bytes(2 * values.size))
        self._quantizer.encode(self._raw_rows(values), codes)
        return codes

    def _raw_rows(self, values: Values) -> array[int]:
        """Return the raw integers of learned rows; warn of values that the units cannot hold."""
        exact = self.scale.exact(values)
        self._losses.look(values, exact)
        return ints(self.scale.rounded(exact))

    def _asked(self, values: Values) -> Iterator[array[int]]:
        """Yield the codes of each row to predict; the quantizer's counts stay unchanged."""
        for row in self.scale.apply(values):
            yield self._codes_aside(ints(row))

    def _codes_aside(self, raw: array[int]) -> array[int]:
        """Return a row's codes, in an array that the next row reuses; restore the quantizer."""
        kept = [buffer[:] for buffer in self._noted]
        self._quantizer.code(raw, self._row)
        for buffer, before in zip(self._noted, kept, strict=True):
            buffer[:] = before
        return self._row

    def _asked_row(self, row: Row) -> array[int]:
        """Return the codes of one row to predict, as _asked() does for several."""
        return self._codes_aside(array("i", self._losses.asked_row(row)))

    def _check_names(self, what: str, texts: Sequence[str]) -> None:
        if len(set(texts)) < len(texts):
            raise AdapterError(f"two of the {what} have the same name as text: {texts}")

    @one_at_a_time
    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        for name in self._UNPICKLED:
            state.pop(name, None)
        return state | {"states": self._states()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        states = state.pop("states")
        self.__dict__.update(state)
        self._build()
        self._restore(states)

    _UNPICKLED: tuple[str, ...] = ("_learner", "_quantizer", "_lock", "_noted", "_row")

    def _restore(self, states: States) -> None:
        self._learner.load(states.learner)
        self._quantizer.load(states.quantizer)

    def _build(self) -> None:
        self._lock = RLock()
        learner = learner_name(self._model)
        self._learner = getattr(self._library, learner)(**self._parameters)
        self._quantizer = self._ranges()
        named = {name.rpartition(".")[2]: buffer for name, _, buffer in self._quantizer.buffers()}
        self._noted = (named["counts"], named["last"])  # the buffers that coding a row changes
        self._row = array("H", bytes(2 * len(self._names)))

    def _ranges(self) -> Any:
        """Make a quantizer that is frozen after the first rows."""
        return self._library.Quantizer(len(self._names))

    @property
    def _library(self) -> Any:
        return loader.load(loader.fastest() if self._engine == FASTEST else self._engine)

    _parameters: dict[str, Any]

    def _states(self) -> States:
        return States(self._learner.save(), self._quantizer.save())


class OnlineModel(Online):
    """A classifier, whose ranges grow if the learner can adapt its state to them."""

    def __init__(
        self,
        model: str,
        parameters: Mapping[str, Any],
        first: Values,
        names: Sequence[str],
        classes: int,
        *,
        warmup: int | None = None,
        scale: Scale | None = None,
        engine: str = FASTEST,
        warns: bool = True,
        guarantee: int | None = None,
    ) -> None:
        """Take the arguments of Online; guarantee is the percent of the sets that hold the label.

        Raises AdapterError if the learner refuses the parameters.
        """
        how: dict[str, Any] = {"warmup": warmup, "scale": scale, "engine": engine}
        super().__init__(model, first, names, warns=warns, **how)
        self._sets = Sets(guarantee)
        if classes > MAX_CLASSES:
            raise AdapterError(f"there are {classes} classes; at most {MAX_CLASSES} are possible")
        numbers = tuple(str(c) for c in range(max(classes, 2)))  # a learner needs two classes
        labels = np.zeros(len(self._first), dtype=np.uint8)
        stream = Stream("", self._first, labels, self._names, numbers)
        self._parameters = stream_parameters(model, stream, len(labels)) | dict(parameters)
        self._begin()
        self._right = 0
        self._last: Row | None = None  # the row predicted last; None after several, or learning
        self._following = False  # whether the next row follows a learned row

    @property
    def classes(self) -> int:
        """The number of classes that the learner has room for, at least two."""
        return int(self._learner.classes)

    @one_at_a_time
    def learn(
        self, values: Values, labels: NDArray[np.uint8], judged: OnlineModel | None = None
    ) -> None:
        """Learn rows, shape (rows, features), one after the other.

        judged is the provisional model that predicted these rows and judged the prediction sets.
        This model continues with the sets' state.
        """
        raw = self._raw_rows(values)
        codes = array("H", bytes(2 * len(raw)))
        truth, predictions = bytearray(labels.tobytes()), bytearray(len(labels))
        features = values.shape[1]
        follows = self._note(None)
        at = 0
        while at < len(labels):
            end = self._quantizer.encode_from(raw, codes, at)
            if judged or not self._sets.percent:
                self._learner.run(codes, truth, predictions, at, end)
                at = end
            for i in range(at, end):
                self._tell_sets(codes[i * features : (i + 1) * features], truth[i], follows)
                self._learner.run(codes, truth, predictions, i, i + 1)
            at = end
        self._sets.follow(judged._sets if judged else None)
        self.samples += len(labels)
        self._right += int(np.sum(np.frombuffer(predictions, dtype=np.uint8) == labels))

    @one_at_a_time
    def learn_row(self, row: Row, label: int, judged: OnlineModel | None = None) -> None:
        """Learn one row, faster than learn(), and note the row for predict_following()."""
        follows = self._note(row)
        self._quantizer.encode_from(array("i", self._losses.learned_row(row)), self._row, 0)
        if judged is None:
            self._tell_sets(self._row, label, follows)
        self._sets.follow(judged._sets if judged else None)
        self._right += self._learn_codes(self._row, label) == label
        self.samples += 1

    def _learn_codes(self, codes: array[int], label: int) -> int:
        """Learn a row's codes; return the class that was predicted before."""
        return int(self._learner.learn(codes, label))

    def _build(self) -> None:
        self.grows = self._can_grow and grows(self._model)
        super()._build()
        self._sets.begin(self._library, self._learner)

    _can_grow = True

    def _ranges(self) -> Any:
        if self.grows:
            return self._library.GrowingQuantizer(len(self._names), (self._learner,))
        return super()._ranges()

    @one_at_a_time
    def settle(self) -> None:
        """Finish the learner's pending work after the last sample."""
        while self._learner.idle():
            pass

    @one_at_a_time
    def predict(self, values: Values) -> tuple[NDArray[np.intp], Values]:
        """Return classes, shape (rows,), and shares of the votes, shape (rows, classes).

        The same row has the same result, whatever was predicted before.
        """
        return self._predict(values, self._alone())

    @one_at_a_time
    def predict_following(self, row: Row) -> tuple[int, list[int]]:
        """Return the class and the votes of one row: in prequential use, a stream's next row.

        The row is the next one if the last learned row was predicted just before, and no other row
        has been predicted since. Then the learner may use the last label as a hint. In the row, a
        missing value is math.nan itself.
        """
        predicted = self._predict_codes(self._asked_row(row), self._next(row))
        return predicted, self._learner.votes.tolist()

    @one_at_a_time
    def sets(self, values: Values) -> NDArray[np.bool_]:
        """Return which classes are in each row's set, shape (rows, classes), by predict().

        Raises AdapterError without a guarantee.
        """
        return self._members(values, self._alone())

    @one_at_a_time
    def set_following(self, row: Row) -> list[bool]:
        """Return which classes are in the set of one row, by predict_following()."""
        self._next(row)(self._asked_row(row))
        return self._sets.members(self._learner.votes)

    def _alone(self) -> Callable[[array[int]], int]:
        """Return the learner's method that predicts rows without a known predecessor."""
        self._last, self._following = None, False
        return self._asker(False)

    def _next(self, row: Row) -> Callable[[array[int]], int]:
        """Return the learner's method that predicts this row, which may be a stream's next one."""
        if self._last is not None and row != self._last:
            self._following = False
        self._last = row
        return self._asker(self._following)

    def _asker(self, follows: bool) -> Callable[[array[int]], int]:
        ask: Callable[[array[int]], int]
        ask = self._learner.predict_next if follows else self._learner.predict
        return ask

    def _members(self, values: Values, ask: Callable[[array[int]], int]) -> NDArray[np.bool_]:
        members = np.zeros((len(values), self.classes), dtype=np.bool_)
        for i, codes in enumerate(self._asked(values)):
            ask(codes)
            members[i] = self._sets.members(self._learner.votes)
        return members

    @one_at_a_time
    def judge(self, row: Row, label: int) -> None:
        """Judge the sets by one row as it was predicted, for a model that takes over the sets."""
        if self._sets.percent:
            follows = row == self._last and self._following
            self._tell_sets(self._asked_row(row), label, follows)

    def _tell_sets(self, codes: array[int], label: int, follows: bool) -> None:
        """Judge the sets by a row before it is learned, as if it had been predicted."""
        if self._sets.percent:
            predicted = self._asker(follows)(codes)
            self._sets.tell(codes, self._learner.votes, predicted, label)

    def _note(self, row: Row | None) -> bool:
        """Note a learned row, None for several; return whether it was predicted as a next row."""
        was_asked, self._last = row is not None and row == self._last, None
        follows, self._following = was_asked and self._following, was_asked
        return follows

    def _predict(
        self, values: Values, ask: Callable[[array[int]], int]
    ) -> tuple[NDArray[np.intp], Values]:
        predicted = np.zeros(len(values), dtype=np.intp)
        votes = np.zeros((len(values), self.classes))
        for i, codes in enumerate(self._asked(values)):
            predicted[i] = self._predict_codes(codes, ask)
            votes[i] = self._learner.votes
        votes[votes.sum(axis=1) == 0] = 1  # nothing is known yet
        return predicted, votes / votes.sum(axis=1, keepdims=True)

    def _predict_codes(self, codes: array[int], ask: Callable[[array[int]], int]) -> int:
        return ask(codes)

    @one_at_a_time
    def save(self, path: Path | str, class_names: Sequence[str], source: str) -> None:
        """Write the model's file, see model_files.py; source names the origin of the samples.

        Classes without a sample so far are named by their numbers. Raises UserError if the file
        cannot be written.
        """
        fields = self._file_fields(class_names)
        self._check_names("features", self._names)
        self._check_names("classes", fields["class_names"])
        file = model_files.ModelFile(
            learner=MODELS[self._model],
            parameters=self._parameters,
            feature_names=self._names,
            **fields,
            scale=self.scale,
            stream=source,
            samples=self.samples,
            accuracy=100 * self._right / self.samples if self.samples else 0.0,
            states=self._states(),
        )
        model_files.write(Path(path), file)

    def _file_fields(self, class_names: Sequence[str]) -> dict[str, Any]:
        """Return a file's fields about the classes, of which the first ones have these names."""
        rest = range(len(class_names), self.classes)
        names = (*class_names, *(f"class {c}" for c in rest))
        return {"class_names": names, "companions": self._sets.fields()}

    def _states(self) -> States:
        states = super()._states()
        return States(states.learner, states.quantizer, self._sets.states())

    def _restore(self, states: States) -> None:
        super()._restore(states)
        self._sets.load(states.more)


def check_engine(engine: str) -> None:
    """Raise AdapterError for an unknown engine."""
    if engine not in ENGINES:
        raise AdapterError(f"engine has to be one of {', '.join(ENGINES)}, not {engine!r}")
