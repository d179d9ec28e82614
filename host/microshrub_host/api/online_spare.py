"""A classifier on a PC with spare places for classes that are not known yet; see online.py."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import AdapterError, UserError
from ..simulation.engine_interface import States
from ..simulation.spare_classes import SpareClasses
from .one_at_a_time import one_at_a_time
from .online import OnlineModel, Values


class OnlineSpare(OnlineModel):
    """A learner with spare classes, each of which is named by its first label.

    The learned samples are remembered as on a board (firmware's novelty_detection.py), so a
    program made from the model's file continues with the same novel samples.
    """

    _can_grow = False  # novelty detection needs codes that stay the same
    _UNPICKLED = (*OnlineModel._UNPICKLED, "_spare")

    def __init__(
        self,
        model: str,
        parameters: Mapping[str, Any],
        first: Values,
        names: Sequence[str],
        known: Sequence[str],
        spare: int,
        **how: Any,
    ) -> None:
        """Take the known classes' names, how many are spare, and OnlineModel's other arguments."""
        try:
            self._settings = SpareClasses(spare).parameters(known)
        except UserError as error:
            raise AdapterError(str(error)) from None
        self._known = tuple(known)
        classes = len(known) + spare
        super().__init__(model, parameters, first, names, classes, **how)

    def _build(self) -> None:
        super()._build()
        self._spare = self._library.SpareClasses(self._learner, self._known, **self._settings)

    @one_at_a_time
    def name(self, text: str) -> int:
        """Give a spare class this name; return the class.

        Raises AdapterError if no class is free, or if the name is invalid or taken.
        """
        try:
            return int(self._spare.names.add(text))
        except ValueError as error:
            raise AdapterError(str(error)) from None

    @one_at_a_time
    def learn(
        self, values: Values, labels: NDArray[np.uint8], judged: OnlineModel | None = None
    ) -> None:
        codes = self._codes(values)
        features = values.shape[1]
        row = array("H", bytes(2 * features))
        follows = self._note(None)
        for i, label in enumerate(labels.tolist()):
            row[:] = codes[i * features : (i + 1) * features]
            if judged is None:
                self._tell_sets(row, label, follows)
            self._right += self._learn_codes(row, label) == label
        self._sets.follow(judged._sets if judged else None)
        self.samples += len(labels)

    def _learn_codes(self, codes: array[int], label: int) -> int:
        before = int(self._spare.learn(codes, label))
        self._spare.note(codes, label)
        return before

    def _predict_codes(self, codes: array[int], ask: Callable[[array[int]], int]) -> int:
        predicted, name = ask(codes), self._spare.names.name
        if name(predicted):
            return predicted
        votes = self._learner.votes
        return max((c for c in range(self.classes) if name(c)), key=lambda c: votes[c])

    def table_bytes(self) -> int:
        spare = sum(memoryview(buffer).nbytes for _, _, buffer in self._spare.buffers())
        return super().table_bytes() + spare

    def _file_fields(self, class_names: Sequence[str]) -> dict[str, Any]:
        given = list(filter(None, map(self._spare.names.name, range(self.classes))))
        first = len(given) - len(self._known)
        free = [f"spare {k + 1}" for k in range(first, self._settings["spare"])]
        fields = super()._file_fields((*given, *free))
        return fields | {"companions": {"spare_classes": self._settings} | fields["companions"]}

    def _states(self) -> States:
        states = super()._states()
        parts = zip(SpareClasses.states, self._spare.parts[1:], strict=True)
        more = {name: part.save() for name, part in parts}
        return States(states.learner, states.quantizer, {**states.more, **more})

    def _restore(self, states: States) -> None:
        super()._restore(states)
        for name, part in zip(SpareClasses.states, self._spare.parts[1:], strict=True):
            part.load(states.more[name])
