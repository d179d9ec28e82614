"""Watches a device at work, without requests that change its learning."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Sequence

from microshrub_host.library.loader import constant
from microshrub_host.simulation.companion_registry import watchers
from microshrub_host.simulation.watcher import CONFIG, Watcher

from ..link.board_names import names_of, read_configuration, version_note
from ..link.client import HostLink
from ..link.link_errors import RefusedError, RestartedError
from ..link.message_checks import BoardError
from ..link.messages import (
    QUERIES,
    STATUS,
    AnomalyStatus,
    CompanionWords,
    Counts,
    DeviceStatus,
    Observed,
    Query,
    RegressionErrors,
    anomaly,
    companion_words,
    confusion,
    regression,
)
from .board_words import BoardWords
from .class_naming import Classes
from .history import History, Moment, Recent

_LATENCIES = 200
_OBSERVED = 100  # the last predictions whose classes and confidence are shown
_DRIFT = ("none", "warning", "drift")


class Watch:
    """Polls a device. `history` keeps Moments, one for each status at first.

    words collect the device's messages.
    """

    def __init__(self, link: HostLink, words: BoardWords | None = None) -> None:
        self.link = link
        self.is_virtual = False  # whether the device is a virtual board: its heap is this PC's
        self.message = ""  # the result of the last "this is normal"
        self.words = words or BoardWords()
        self._began = time.monotonic()
        self._latencies: deque[float] = deque(maxlen=_LATENCIES)
        self._last: deque[Observed] = deque(maxlen=_OBSERVED)
        self.recent = Recent()
        self.history = History()
        self._confusion: list[tuple[int, ...]] = []
        self.taught: int | None = 0  # classes with labels; None: unknown
        self._connect()

    def ask(self, *, matrix: bool = False) -> DeviceStatus:
        """Read the status and, with matrix, the confusion matrix. Raises LinkError.

        Connects again to a device that was reset.
        """
        try:
            return self._ask(matrix)
        except RestartedError:
            self._connect()
            return self._ask(matrix)

    def _connect(self) -> None:
        welcome = self.link.connect()
        self.classes = welcome.classes
        config = read_configuration(self.link, welcome)
        self.names = names_of(config, welcome)
        self.note = version_note(config)
        self.naming = Classes(self.link, welcome.classes) if config.get("spare_classes") else None
        self._was_asking = False
        self.scores = bool(config.get("anomaly"))
        self.asks = bool(config.get("queries"))
        self.query: Query | None = None
        self._heard = 0  # the last query that the bell rang for
        self.target: int | None = config.get("column")  # the column of a predicted number, if any
        self.errors: RegressionErrors | None = None
        self.anomaly: AnomalyStatus | None = None
        names = config.get(CONFIG) or []
        self._watchers = [(names.index(watcher.name), watcher) for watcher in watchers(names)]
        self.figures: list[tuple[str, str]] = []  # rows with the watchers' figures
        self._alarms = -1  # alarms already reported; -1: alarms before the watch are not reported

    def _ask(self, matrix: bool) -> DeviceStatus:
        pending = self.link.post(STATUS)
        status = self.link.wait(pending)
        assert isinstance(status, DeviceStatus)
        self._latencies.append(pending.latency)
        if self.scores:
            answer = self.link.ask(anomaly(scores=True))
            self.anomaly = answer if isinstance(answer, AnomalyStatus) else None
        if self.asks:
            answer = self.link.ask(QUERIES)
            self.query = answer if isinstance(answer, Query) else None
        if self.target is not None:
            answer = self.link.ask(regression(predictions=True))
            self.errors = answer if isinstance(answer, RegressionErrors) else None
        if self.naming:
            self.naming.refresh()
        self.figures = [
            row for number, watcher in self._watchers for row in self._rows(number, watcher)
        ]
        self._note(status)
        if not status.samples:
            self.taught, self._confusion = 0, []
        elif self.target is None and (matrix or self.taught in (0, 1)):
            counts = self._matrix()
            self.taught = sum(map(any, counts)) if counts else None
            self._confusion = counts if matrix else []
        return status

    def _rows(self, number: int, watcher: type[Watcher]) -> list[tuple[str, str]]:
        """Read the figures of a watcher, as rows of a table."""
        answer = self.link.ask(companion_words(number))
        if not isinstance(answer, CompanionWords):
            return []
        try:
            return watcher.monitor_rows(answer.words, self.class_names)
        except (ValueError, IndexError):
            raise BoardError(f"{len(answer.words)} words of {watcher.name}") from None

    def _note(self, status: DeviceStatus) -> None:
        self.history.note(Moment(time.monotonic() - self._began, status, self.errors))
        self.recent.note(status)
        self.collect()

    def collect(self) -> None:
        """Take the predictions that the device sent on its own."""
        while self.link.observed:
            self._last.append(self.link.observed.popleft())

    def _matrix(self) -> list[tuple[int, ...]]:
        """Read counts: a row for each label, with one for each prediction; empty if refused."""
        try:
            rows = [self._row(label) for label in range(self.classes)]
            if min(map(len, rows)) < self.classes:
                return []
            return self.naming.fold(rows) if self.naming else rows
        except RefusedError:
            return []

    def _row(self, label: int) -> tuple[int, ...]:
        row: tuple[int, ...] = ()
        while len(row) < self.classes:
            answer = self.link.ask(confusion(label, len(row)))
            if not isinstance(answer, Counts) or not answer.counts:
                break
            row += answer.counts
        return row

    # Results

    @property
    def status(self) -> DeviceStatus:
        """The last status."""
        assert self.history.last
        return self.history.last.status

    @property
    def confusion(self) -> list[tuple[int, ...]]:
        """The confusion matrix of matrix_names; empty if unknown, or if the classes differ."""
        known = len(self._confusion) == len(self.matrix_names)
        return self._confusion if known else []

    @property
    def unit(self) -> float:
        """The unit of a raw integer of the predicted number; 1 if classes are predicted."""
        return 1.0 if self.target is None else 10.0 ** -self.names.units[self.target][1]

    @property
    def latency(self) -> tuple[float, float]:
        """Milliseconds from a request to its answer: the median and the 99th percentile."""
        result = sorted(self._latencies)
        return 1000 * result[len(result) // 2], 1000 * result[len(result) * 99 // 100]

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of all classes, as in predictions."""
        return self.naming.names if self.naming else self.names.classes

    @property
    def matrix_names(self) -> tuple[str, ...]:
        """The names of the confusion matrix's classes, which have a name of their own."""
        if not self.naming:
            return self.names.classes
        return tuple(self.naming.names[c] for c in self.naming.shown)

    def has_new_query(self) -> bool:
        """Return whether the device has a new query for a name or a label."""
        asking = self.naming is not None and self.naming.now.is_asking
        newest = self.query.sample_id if self.query else 0
        is_new = (asking and not self._was_asking) or newest not in (0, self._heard)
        self._was_asking, self._heard = asking, newest
        return is_new

    def has_new_alarm(self) -> bool:
        """Return whether an anomaly alarm has begun since the last call."""
        alarms = self.anomaly.alarms if self.anomaly else 0
        is_new = 0 <= self._alarms < alarms
        self._alarms = alarms
        return is_new

    @property
    def strangest(self) -> Observed | None:
        """The kept observation with the highest score of the last episode."""
        return strangest_of(self._last)

    @property
    def newest(self) -> tuple[int, float] | None:
        """The class of the last observation, and its confidence 0..1."""
        return (self._last[-1].prediction.label, _mean([self._last[-1]])) if self._last else None

    @property
    def predictions(self) -> list[tuple[int, int, float]]:
        """Class, number of predictions, and mean confidence 0..1, of the last observations."""
        counts = Counter(seen.prediction.label for seen in self._last)
        return [
            (label, n, _mean([s for s in self._last if s.prediction.label == label]))
            for label, n in sorted(counts.items())
        ]


def _mean(some: Sequence[Observed]) -> float:
    return sum(seen.prediction.confidence for seen in some) / (255 * len(some))


def drift_name(level: int) -> str:
    """Return the word for a status's drift."""
    return _DRIFT[level] if 0 <= level < len(_DRIFT) else str(level)


def strangest_of(seen: Sequence[Observed]) -> Observed | None:
    """Return the highest-scored observation of the last episode of anomalies, None without one."""
    pause = constant("anomaly", "_LONGEST_PAUSE")
    observed, usual = None, 0
    for each in reversed(seen):
        if each.prediction.anomalous:
            observed = max(observed or each, each, key=lambda one: one.prediction.score or 0)
            usual = 0
        elif observed and (usual := usual + 1) == pause:
            break
    return observed
