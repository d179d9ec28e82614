"""The anomaly score as a companion: its settings, and its result on a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..base.text import count, settings, share_of_samples
from ..library import loader
from ..streams.stream import Stream
from .companion import BoardObjects, Companion, CompanionReport, CompanionRun, Option
from .engine_interface import Plan

_OF_SCORE = {"window": 0, "reach": 4, "normal": 0}
_SETTINGS = {"pin": "", **_OF_SCORE}
_COLUMNS = 2000  # points of the curve in a picture, or up to twice as many


@dataclass(frozen=True)
class Anomaly(Companion):
    """How unusual each sample looks among recent samples, 0..255, with an occasional alarm.

    often   in the long run, the share of the samples at which an alarm may come, above 0, up to 1
    window  samples that each sample is compared with, up to 1000; 0: 512, or as many as fit 8 KB
    reach   1..32; up to about this many steps of 1/256 in a feature are no distance
    normal  0..2**29, the number of first samples, which show what is normal: all later samples
            are compared with these, so that a lasting fault goes on looking unusual; 0: samples
            are compared with the samples before them
    pin     the pin of a button on a board; the button marks the sensor's current readings as
            normal; "": no button

    Raises UserError for other values.
    """

    often: float | Fraction
    window: int = 0
    reach: int = 4
    normal: int = 0
    pin: int | str = ""

    name = key = title = "anomaly"
    cost = "the anomaly score"
    buffers = ("anomaly.",)
    states = ("anomaly",)
    freezes = True
    options = (
        Option(
            "--anomaly",
            "alert about unusual samples, at most '1 per day'; how unusual each sample looks is a "
            "score from 0 to 255, and alarms are as often as RATE says: 0.001 or 0.1%% of the "
            "samples, '1 per 1000 samples', '1 per day at 50 Hz' (leave out `at 50 Hz` where "
            "the sensor has a rate); settings: window=512 reach=4, and normal=400 where the "
            "first 400 samples show what is normal; on a board, pin=15 is a button that "
            "marks what the sensor sees as normal (default: off)",
            ("RATE", "NAME=VALUE"),
            many=True,
        ),
    )

    def __post_init__(self) -> None:
        library = loader.load("python")
        if not isinstance(self.often, Real) or not 0 < self.often <= 1:
            raise UserError(f"--anomaly: {self.often!s} is not a share above 0 and at most 1")
        try:
            library.AnomalyScore(1, **self.parameters())
        except library.learner.ParameterError as error:
            name, allowed, given = error.args
            what = "the samples to an alarm have" if name == "period" else f"{name} has"
            raise UserError(f"--anomaly: {what} to be {allowed}, not {given!r}") from None

    @classmethod
    def of_options(cls, given: Mapping[str, Any], hertz: float | None) -> Anomaly:
        words: Sequence[str] = given["anomaly"]
        keywords = settings("--anomaly", words[1:], _SETTINGS)
        often = share_of_samples(words[0], "--anomaly", "an alarm may come", hertz)
        return cls(min(often, Fraction(1)), **keywords)

    @property
    def period(self) -> int:
        """The number of samples for each alarm, in the long run."""
        return round(1 / self.often)

    def begins(self, anomalous: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the first sample of each episode; anomalous marks samples above the threshold."""
        pause = loader.load("python").anomaly.pause_of(self.period)
        above = np.flatnonzero(anomalous)
        begins: NDArray[np.int64] = above[np.diff(above, prepend=-pause - 1) > pause]
        return begins

    def parameters(self) -> dict[str, int]:
        """Return the keyword arguments of the AnomalyScore."""
        return {"period": self.period} | {name: getattr(self, name) for name in _OF_SCORE}

    def size(self, features: int) -> tuple[int, int]:
        """Return the samples in the window, and the buffers' bytes, for that many features."""
        made = loader.load("python").AnomalyScore(features, **self.parameters())
        return made.window, made.nbytes(features, made.window)

    def plan(self) -> Plan:
        return "session_companions", "AnomalyPart", self.parameters()

    def on_board(self, library: Any, learner: Any) -> BoardObjects:
        return BoardObjects(library.AnomalyScore(learner.features, **self.parameters()))

    def on_stream(self, stream: Stream, warmup: int) -> Anomaly:
        return self.simulated()

    def simulated(self) -> Anomaly:
        """Return this companion. Raises UserError if it has settings that only boards can have."""
        if self.pin != "":
            raise UserError("--anomaly: pin= is for the program of a board, see `build`")
        return self

    def program(self, classes: Sequence[str]) -> dict[str, Any]:
        pin = {"pin": self.pin} if self.pin != "" else {}
        return {self.name: {**self.parameters(), **pin}}

    @classmethod
    def of_model(cls, saved: Any, wanted: dict[str, Any] | None) -> dict[str, Any] | None:
        if saved is None:
            return wanted
        wanted = saved | (wanted or {})
        if any(wanted[name] != saved[name] for name in saved):  # then the score starts over
            return wanted
        return wanted | {"states": [f"{name}.state" for name in cls.states]}

    @classmethod
    def modules(cls, config: Mapping[str, Any], learner: str) -> dict[str, bool]:
        part = config.get(cls.name) or {}
        scores = dict.fromkeys(("anomaly", "device.watchers:AnomalyScores"), bool(part))
        return scores | {"device.watchers:NormalButton": part.get("pin") is not None}

    @classmethod
    def opened(
        cls, learner: Any, saved: Any, names: Sequence[str], states: Mapping[str, bytes]
    ) -> Any:
        if not isinstance(saved, dict) or set(saved) != {"period", *_OF_SCORE}:
            raise ValueError("config.json has no valid anomaly")
        made = loader.load("python").AnomalyScore(learner.features, **saved)
        made.load(states[cls.name])
        return made

    def result(self, report: CompanionReport) -> AnomalyRun:
        scores, anomalous = report.outputs
        threshold = report.status["threshold"]
        size = self.size(report.features)
        return AnomalyRun(self, *size, threshold, scores, anomalous.astype(np.bool_))


@dataclass(frozen=True)
class AnomalyRun(CompanionRun):
    """Scores, 0..255, and marks for scores above the threshold at that time, shapes (samples,)."""

    options: Anomaly
    window: int  # samples with which each sample is compared
    bytes: int  # size of the buffers
    threshold: int  # after the last sample
    scores: NDArray[np.uint8] = field(repr=False)
    anomalous: NDArray[np.bool_] = field(repr=False)

    draws = True

    def saved(self) -> dict[str, Any]:
        return {self.options.name: self.options.parameters()}

    @property
    def alarms(self) -> NDArray[np.int64]:
        """The samples, counted from 0, at which an alarm began: the first of each episode."""
        return self.options.begins(self.anomalous)

    @property
    def peaks(self) -> NDArray[np.int64]:
        """The sample with the highest score of each episode; the first one of equals."""
        scores = np.where(self.anomalous, self.scores, 0)
        parts = np.split(scores, self.alarms)[1:]
        inside = [int(np.argmax(part)) for part in parts]
        return self.alarms + np.array(inside, np.int64)

    def record(self) -> dict[str, Any]:
        """Return the result for --json: alarms by sample number, and the score of each sample."""
        return {
            **self.options.parameters(),
            "window": self.window,
            "bytes": self.bytes,
            "threshold": self.threshold,
            "alarms": self.alarms.tolist(),
            "peaks": self.peaks.tolist(),
            "scores": self.scores.tolist(),
        }

    def rows(self) -> list[tuple[str, str]]:
        allowed = count(self.options.period, "sample")
        alarms = f"{len(self.alarms):,}; one in {allowed} is allowed"
        first = self.options.normal or self.window
        if len(self.scores) <= first:
            alarms = f"0; none is possible in the first {first:,} samples"
        return [
            ("anomaly alarms", alarms),
            *self._highest(),
            ("  threshold now", f"{self.threshold} of 255"),
            ("  buffers", f"{self.bytes:,} bytes, for a window of {count(self.window, 'sample')}"),
        ]

    def _highest(self) -> list[tuple[str, str]]:
        """Return a row for the alarm with the highest score, if there is an alarm."""
        if not len(self.peaks):
            return []
        peak = max(self.peaks, key=lambda peak: (self.scores[peak], -peak))
        return [("  most unusual", f"sample {peak + 1:,}, with a score of {self.scores[peak]}")]

    def draw(self, axes: Any) -> None:
        """Draw the scores, the highest in each column, and the alarms at their peaks."""
        width = max(1, len(self.scores) // _COLUMNS)
        starts = np.arange(0, len(self.scores), width)
        highest = np.maximum.reduceat(self.scores, starts)
        axes.plot(starts + 1, highest, color="C0", lw=0.8)
        axes.plot(self.peaks + 1, self.scores[self.peaks], "v", color="C3", ms=4, label="alarms")
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        axes.set_ylabel("anomaly score")
        axes.set_ylim(0, 256)
