"""The guarantee as a companion: sets of classes that contain the true one at a given rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.errors import UserError
from .companion import CompanionReport, CompanionRun, Option
from .watcher import Watcher

_BITS = 30  # classes in a word of the serial link
_OFFSET = 1 << 29
_WINDOW = 500  # labels
_CALIBRATION_BINS = 15  # as in Guo, Pleiss, Sun, Weinberger, ICML 2017


@dataclass(frozen=True)
class Guarantee(Watcher):
    """Each prediction comes with a set of classes; `percent` of these sets contain the true class.

    percent  50..99; over any 500 labels in a row, the share is within two points of it

    If a set has more than one class, the model is unsure. If the model is right more often than
    `percent`, some sets are empty. The confidence is calibrated as well. Without labels, nothing
    changes. Raises UserError for another percent.
    """

    percent: int = 90

    name = key = title = "guarantee"
    module = "prediction_sets"
    kind = "Guarantee"
    cost = "the guarantee"
    buffers = ("guarantee.",)
    states = ("guarantee",)
    options = (
        Option(
            "--guarantee",
            "also predict a set of classes that contains the true class this often, such as 90%% "
            "(default: off)",
            "SHARE",
        ),
    )

    def __post_init__(self) -> None:
        if type(self.percent) is not int or not 50 <= self.percent <= 99:
            raise UserError(f"--guarantee has to be 50% to 99%, not {self.percent}")

    @classmethod
    def of_options(cls, given: Mapping[str, Any], hertz: float | None) -> Guarantee:
        text = given["guarantee"]
        digits = text.strip().removesuffix("%").strip()
        if not digits.isdecimal():
            raise UserError(f"--guarantee has to be a whole percentage such as 90%, not {text!r}")
        return cls(int(digits))

    def parameters(self) -> dict[str, int]:
        return {"percent": self.percent}

    @classmethod
    def monitor_rows(cls, words: Sequence[int], classes: Sequence[str]) -> list[tuple[str, str]]:
        labels, covered, sets, sizes, unsure, sure = words[:6]
        bits = [word + _OFFSET for word in words[6:]]
        members = [name for c, name in enumerate(classes) if bits[c // _BITS] >> c % _BITS & 1]
        held, sets = 100 * covered / max(labels, 1), max(sets, 1)
        return [
            ("one of", ", ".join(members) or "none"),
            ("right with", f"{100 * sure / 65536:.0f} %"),
            (
                "guarantee",
                f"{held:.2f} % of {labels:,} labels were in their set, of {sizes / sets:.2f} "
                f"classes in the mean, {100 * unsure / sets:.2f} % unsure",
            ),
        ]

    def result(self, report: CompanionReport) -> GuaranteeRun:
        sizes, covered, sure, votes = report.outputs
        return GuaranteeRun(self, report.bytes, sizes, covered, sure, votes, report.right)


@dataclass(frozen=True)
class GuaranteeRun(CompanionRun):
    """The sizes of the sets, whether each contains the label, and more, shapes (samples,)."""

    options: Guarantee
    bytes: int  # size of the buffers
    sizes: Any
    covered: Any  # 1 or 0; 2 for samples without a label
    confidence: Any  # 0..255, for each prediction
    votes: Any  # the predicted class's share of the votes
    right: Any  # which predictions were right

    @property
    def coverage(self) -> float:
        """The percentage of labels that were in their set."""
        labelled = self.covered[self.covered < 2]
        return 100 * float(np.mean(labelled)) if len(labelled) else float("nan")

    @property
    def worst(self) -> tuple[float, float]:
        """The lowest and the highest coverage of 500 labels in a row, or of all if fewer."""
        labelled = self.covered[self.covered < 2].astype(np.int64)
        window = min(_WINDOW, len(labelled))
        if not window:
            return float("nan"), float("nan")
        sums = np.convolve(labelled, np.ones(window, np.int64), "valid")
        return 100 * float(sums.min()) / window, 100 * float(sums.max()) / window

    @property
    def mean_size(self) -> float:
        """The mean number of classes in a set."""
        return float(np.mean(self.sizes))

    @property
    def unsure(self) -> float:
        """The percentage of sets with more than one class."""
        return 100 * float(np.mean(self.sizes > 1))

    @property
    def empty(self) -> float:
        """The percentage of sets without a class."""
        return 100 * float(np.mean(self.sizes == 0))

    @property
    def calibration_error(self) -> float:
        """The calibration error of the confidence, in percent; see _off()."""
        return self._off(self.confidence)

    @property
    def calibration_error_of_votes(self) -> float:
        """The calibration error of the share of the votes, in percent; see _off()."""
        return self._off(self.votes)

    def _off(self, sure: Any) -> float:
        """Return the expected calibration error of labelled samples, in percent.

        The confidences are in 15 bins of equal width.
        """
        labelled = self.covered < 2
        if not labelled.any():
            return float("nan")
        sure, right = (sure[labelled] + 0.5) / 256, self.right[labelled]
        places = (sure * _CALIBRATION_BINS).astype(np.intp)
        gaps = np.bincount(places, sure - right, _CALIBRATION_BINS)
        return 100 * float(np.abs(gaps).sum()) / len(right)

    def saved(self) -> dict[str, Any]:
        return {self.options.name: self.options.row}

    def record(self) -> dict[str, Any]:
        low, high = self.worst
        return {
            **self.options.parameters(),
            "coverage": self.coverage,
            "lowest_coverage": low,
            "highest_coverage": high,
            "mean_set": self.mean_size,
            "unsure": self.unsure,
            "empty": self.empty,
            "calibration_error": self.calibration_error,
            "calibration_error_of_votes": self.calibration_error_of_votes,
            "bytes": self.bytes,
        }

    def rows(self) -> list[tuple[str, str]]:
        low, high = self.worst
        return [
            ("guaranteed to hold the label", f"{self.options.percent} % of the sets"),
            ("  held it", f"{self.coverage:.2f} %; of any {_WINDOW} {low:.2f} to {high:.2f} %"),
            ("  classes in a set", f"{self.mean_size:.2f}"),
            ("  unsure: more than one", f"{self.unsure:.2f} %"),
            ("  none", f"{self.empty:.2f} %"),
            ("  confidence off by, in the mean", f"{self.calibration_error:.2f} points"),
            ("  votes alone", f"{self.calibration_error_of_votes:.2f} points"),
        ]
