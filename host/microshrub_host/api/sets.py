"""Prediction sets of the estimators; see the firmware's prediction_sets.py."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

from ..base.errors import AdapterError, UserError
from ..simulation.guarantee import Guarantee


class Sets:
    """The prediction sets of a learner, of which a given percent hold the class.

    With None as the percent, there are no sets. Raises AdapterError for a percent that is not in
    50..99.
    """

    def __init__(self, percent: int | None) -> None:
        if percent is not None:
            try:
                Guarantee(percent)
            except UserError:
                raise AdapterError(
                    f"guarantee has to be None or 50..99 (percent), not {percent!r}"
                ) from None
        self.percent = percent
        self._part: Any = None

    def begin(self, library: Any, learner: Any) -> None:
        """Make the guarantee for a learner of the library."""
        if self.percent:
            shape = learner.features, learner.classes
            self._part = library.prediction_sets.Guarantee(*shape, percent=self.percent)

    def tell(self, codes: array[int], votes: array[int], predicted: int, label: int) -> None:
        """Judge the set of a row by the votes from before the row was learned."""
        beyond = label + 1 - len(votes)  # a class that the learner has no room for
        self._part.look(codes, votes + array("i", bytes(4 * max(beyond, 0))), predicted, label)

    def follow(self, before: Sets | None) -> None:
        """Take over the state of other sets, so that a new learner's sets keep their coverage."""
        if self.percent and before and before is not self:
            for (_, _, target), (_, _, source) in zip(
                self._part.buffers(), before._part.buffers(), strict=True
            ):
                if len(target) == len(source):  # all buffers but the last set
                    target[:] = source

    def members(self, votes: array[int]) -> list[bool]:
        """Return which classes are in the set for these votes.

        Raises AdapterError without a guarantee.
        """
        if not self._part:
            raise AdapterError("there are sets only with guarantee=, such as 90 (percent)")
        least = self._part.limit(votes)
        return [vote >> 9 >= least for vote in votes]

    def fields(self) -> dict[str, Any]:
        """Return the entries for a model file's config.json."""
        return {Guarantee.name: Guarantee(self.percent).row} if self.percent else {}

    def states(self) -> dict[str, bytes]:
        """Return the guarantee's state, by the guarantee's name."""
        return {Guarantee.name: self._part.save()} if self.percent else {}

    def load(self, states: Mapping[str, bytes]) -> None:
        """Load a state from states()."""
        if self.percent:
            self._part.load(states[Guarantee.name])

    def __getstate__(self) -> dict[str, Any]:
        return {"percent": self.percent, "_part": None}
