"""A model's scores on two parts of unseen data, the first of which serves to choose a model."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base.text import count
from ..simulation.engine_interface import Predictions
from . import batch_forest
from .holdout import HeldOut, predictable
from .stretches import Draw, Marks


@dataclass(frozen=True)
class Scores:
    """The scores of one model: on the part to choose by, on the rest, and on all of the data."""

    first: float
    rest: float
    whole: float
    error: float = 0.0  # the standard error of `first`


@dataclass(frozen=True)
class HoldoutScores:
    """Draws of a stream's stretches; a share of the held-out stretches serves to choose."""

    known: HeldOut
    draws: Sequence[Draw]
    share: float
    now: bool  # whether the only draw is of the last stretches, as the stream drifts

    @functools.cached_property
    def choosing(self) -> Marks:
        """A mark for each stretch: whether it serves to choose a model."""
        stretches = self.known.stretches
        asked = np.unique(stretches.of[np.logical_or.reduce(self._predictable)])
        among = np.isin(stretches.of, asked)
        chosen = stretches.some(round(self.share * int(among.sum())), among=among)
        return np.isin(np.arange(stretches.count), chosen)

    @property
    def can_choose(self) -> bool:
        """Whether both parts, the one to choose by and the rest, have samples."""
        if not any(marks.any() for marks in self._predictable):
            return False
        asked = self._sums([np.zeros(int(d.held_out.sum()), np.uint8) for d in self.draws])[1]
        return all(asked[part].any() for part in (self.choosing, ~self.choosing))

    @property
    def samples(self) -> tuple[int, int]:
        """The numbers of samples in the part to choose by and in the rest."""
        counted = np.logical_or.reduce(self._predictable)
        chooses = self.choosing[self.known.stretches.of]
        return int((counted & chooses).sum()), int((counted & ~chooses).sum())

    @property
    def words(self) -> str:
        """A description of the two scores, for users."""
        first, rest = self.samples
        what, others = f"whole {self.known.stretches.by}", "others"
        if self.now:
            what = f"the last {self.known.stretches.by} of a stream that drifts"
            others = "earlier ones"
        return (
            f"Unseen data are {what}, which a model is asked about after it has learned the "
            f"{others}. Chosen on {count(first, 'sample')} of them; the rest are {rest:,} "
            "more, which did not influence the choice."
        )

    def scores(self, predictions: Sequence[Predictions]) -> Scores:
        """Return the scores of a model, given its predictions for each draw."""
        right, asked = self._sums(predictions)
        parts = (self.choosing, ~self.choosing, self.choosing | True)
        first, rest, whole = (100 * right[part].sum() / asked[part].sum() for part in parts)
        chosen = self.choosing & (asked > 0)
        apart = right[chosen] - first / 100 * asked[chosen]  # the random unit is a stretch
        error = 100 * float(np.sqrt(np.sum(apart**2))) / float(asked[chosen].sum())
        return Scores(round(float(first), 4), round(float(rest), 4), float(whole), error)

    def baselines(self) -> dict[str, Scores]:
        """Return the scores of predicting the majority class, and of a batch forest."""
        rows, labels = self.known.rows, self.known.labels
        guesses, forest = [], []
        for draw in self.draws:
            most = np.bincount(labels[draw.learned]).argmax()
            guesses.append(np.full(int(draw.held_out.sum()), most, np.uint8))
            parts = rows[draw.learned], labels[draw.learned], rows[draw.held_out]
            forest.append(batch_forest.answers(*parts))
        known = [each for each in forest if each is not None]
        scores = {"guessing": self.scores(guesses)}
        return scores | ({"batch forest": self.scores(known)} if len(known) == len(forest) else {})

    @property
    def _predictable(self) -> list[Marks]:
        return [predictable(draw, self.known.labels) for draw in self.draws]

    def _sums(
        self, predictions: Sequence[Predictions]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return, for each stretch, the number of right predictions and of all predictions."""
        stretches = self.known.stretches
        right, asked = np.zeros(stretches.count, np.intp), np.zeros(stretches.count, np.intp)
        for draw, marks, of_draw in zip(self.draws, self._predictable, predictions, strict=True):
            places = stretches.of[marks]
            np.add.at(asked, places, 1)
            np.add.at(right, places, of_draw[marks[draw.held_out]] == stretches.labels[marks])
        return right, asked
