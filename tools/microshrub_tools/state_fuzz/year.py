"""A year of a device, with a clock and with a board's mishaps, drawn from a seed.

The device's application gets samples and labels over its link; some labels come later, the data
drift, disks are full, the power fails. In parallel, the simulator learns the same samples on
another engine: after every sample, both have to be in the same state. Both states are noted
whenever a checkpoint is saved; after a power cut, the device has to start with the state of the
last checkpoint saved, or of the checkpoint being written, and the simulator continues from the
same state. Lost labels have to be of the last seconds or, once labels have used up the allowance
of saves, of the program's interval between two saves.
"""

from __future__ import annotations

import random
from array import array
from collections import deque
from dataclasses import dataclass, field

from microshrub_host.base.errors import UserError
from microshrub_host.boards.board_files import Board

from ..link.link_errors import RefusedError
from ..link.messages import Prediction, late_label, sample
from .year_device import CLASSES, FEATURES, SECONDS, WAITING, YearDevice
from .year_simulator import YearSimulator
from .year_sleep import YearSleep

_DAY = 24 * 60  # minutes
_TICKS = (1 << 30) - 1
_CUT = 700  # one in this many samples, on average, is the last before a power cut
_FULL = 20  # one in this many saves finds the disk full
_LATE = 5  # one in this many samples gets its label later
_LATEST = 250  # samples until a late label, at most
_VISIT = 1440  # after one in this many samples, a PC talks to a board that sleeps
_LOOK = 3000  # milliseconds after a sample at which the program looks at its clock again
_PAUSE, _LONGEST = 5, 60  # seconds after the last label, and the first, until labels are saved


class YearError(UserError):
    """Data were lost, or wrong; the message names the seed that repeats the year."""


@dataclass
class Lost:
    """Learned labels that were not in flash at a power cut."""

    labels: int = 0
    most: int = 0  # labels lost in one cut
    oldest: float = 0.0  # seconds before the cut

    def add(self, labels: int, oldest: float) -> None:
        """Add the lost labels of one more cut."""
        self.labels += labels
        self.most = max(self.most, labels)
        self.oldest = max(self.oldest, oldest)


@dataclass
class YearReport:
    """Counts of the year's events so far."""

    samples: int = 0
    late: int = 0
    too_late: int = 0  # labels of samples that were no longer waiting
    saved: int = 0
    cuts: int = 0
    torn: int = 0
    full: int = 0
    soon: Lost = field(default_factory=Lost)  # labels that would have been saved within seconds
    sparing: Lost = field(default_factory=Lost)  # the allowance of saves was used up
    failed: Lost = field(default_factory=Lost)  # the last save found the disk full


@dataclass(frozen=True)
class _Waiting:
    """A sample whose label comes `due` samples after the first, and its prediction."""

    due: int
    sample_id: int
    order: int  # among the samples without a label
    codes: array[int]
    predicted: int
    label: int


@dataclass(frozen=True)
class _Noted:
    """The state at a save of a checkpoint: checksums, the simulator's state, waiting samples."""

    parts: list[int]
    simulator: bytes
    waiting: tuple[_Waiting, ...]
    unlabelled: int


@dataclass
class _Unsaved:
    """Labels since the last save, and the milliseconds of the first and the last one."""

    labels: int = 0
    first: int = 0
    last: int = 0

    def add(self, milliseconds: int) -> None:
        if not self.labels:
            self.first = milliseconds
        self.last = milliseconds
        self.labels += 1


class Year:
    """A device that is simulated day by day; rate is in samples a minute.

    With `sleeping`, a board and its options of sleep, the device sleeps between samples: see
    `sleep`.
    """

    def __init__(
        self, seed: int, rate: int = 1, sleeping: tuple[Board, dict[str, int]] | None = None
    ) -> None:
        self._seed = seed
        self._rng = random.Random(seed)
        self._rate = rate
        self._device = YearDevice()
        self._simulator = YearSimulator()
        self._milliseconds = self._rng.randrange(_TICKS)
        self.sleep = YearSleep(*sleeping, 60 // rate, self._milliseconds) if sleeping else None
        self._drift = 0
        self._waiting: deque[_Waiting] = deque()
        self._unlabelled = 0  # samples that the device got without a label
        self._noted: dict[int, _Noted] = {}  # by checkpoint number
        self._unsaved = _Unsaved()
        self.report = YearReport()

    def day(self) -> None:
        """Simulate one more day. Raises YearError."""
        for _ in range(_DAY * self._rate):
            self._sample()
            self._late_labels()
            self._compare()
            self._until_next()
        self._drift += self._rng.randrange(3)

    def _sample(self) -> None:
        rng = self._rng
        label = rng.randrange(CLASSES)
        drift = self._drift % 7
        scales = [label * (f + 1 + drift) * 40 for f in range(FEATURES)]
        values = array("i", [scale + rng.randrange(200) for scale in scales])
        late = rng.randrange(_LATE) == 0
        codes, predicted, confidence = self._simulator.sample(values)
        answer = self._device.link.ask(sample(values, None if late else label))
        assert isinstance(answer, Prediction)
        # with a label, the votes may be those of an alternate subtree that learned the sample
        claimed = (answer.label, answer.confidence if late else confidence)
        wanted = (predicted, confidence)
        self._require(claimed == wanted, f"the device says {claimed}, the simulator {wanted}")
        self.report.samples += 1
        if codes is None:
            return
        if late:
            due = self.report.samples + rng.randrange(_LATEST)
            order, self._unlabelled = self._unlabelled, self._unlabelled + 1
            waiting = _Waiting(due, answer.sample_id, order, codes, predicted, label)
            self._waiting.append(waiting)
        else:
            self._simulator.label(codes, predicted, label)
            self._unsaved.add(self._milliseconds)

    def _late_labels(self) -> None:
        """Send the late labels that are due; only the last unlabelled samples still wait."""
        for result in [w for w in self._waiting if w.due <= self.report.samples]:
            self._waiting.remove(result)
            waits = self._unlabelled - result.order <= WAITING
            try:
                self._device.link.ask(late_label(result.sample_id, result.label))
            except RefusedError as error:
                refused = str(error)
            else:
                refused = ""
            self._require(waits != bool(refused), refused or "a sample waited for too long")
            if refused:
                self.report.too_late += 1
            else:
                self._simulator.label(result.codes, result.predicted, result.label)
                self.report.late += 1
                self._unsaved.add(self._milliseconds)

    def _compare(self) -> None:
        """Raise YearError unless the device's state is the simulator's."""
        same = self._device.learned() == self._simulator.parts()
        self._require(same, "quantizer, learner or metrics are not the simulator's")

    def _until_next(self) -> None:
        """Let time pass; the power may fail right after the sample, or a little later."""
        cut = self._rng.randrange(_CUT) == 0
        at_once = self._rng.randrange(2) == 0
        self._tick()
        if cut and at_once:
            self._cut()
        period = 60_000 // self._rate
        look = _LOOK if period > _LOOK else 0
        if look:
            self._wait(look)
            self._tick()
        if cut and not at_once:
            self._cut()
        if self.sleep:
            if not self._rng.randrange(_VISIT):
                self.sleep.heard()
            self._milliseconds = self.sleep.until_next()
        else:
            self._wait(period - look)

    def _wait(self, milliseconds: int) -> None:
        if self.sleep:
            self._milliseconds = self.sleep.rest(milliseconds)
        else:
            self._milliseconds = (self._milliseconds + milliseconds) & _TICKS

    def _tick(self) -> None:
        """Let the program look at its clock, and perhaps save."""
        device = self._device
        before = device.number
        device.disk_is_full = self._rng.randrange(_FULL) == 0
        claimed = device.app.tick(self._milliseconds)
        if claimed:
            self.report.full += 1
            self._require(device.disk_is_full, claimed)
            device.failures += 1
        elif device.number != before:
            self.report.saved += 1
            device.failures = 0
            self._unsaved = _Unsaved()
            self._noted[device.number] = self._now()
            if self.sleep:
                self.sleep.saved(device.saved_bytes())
            for number in [n for n in self._noted if n < device.number - 1]:
                del self._noted[number]

    def _now(self) -> _Noted:
        waiting = tuple(self._waiting)
        return _Noted(self._device.parts(), self._simulator.saved(), waiting, self._unlabelled)

    def _cut(self) -> None:
        """Cut the power, at times during the write of a checkpoint, and restart the device."""
        self.report.cuts += 1
        device = self._device
        number = device.number
        if device.app.quantizer.frozen and self._rng.randrange(2):
            self.report.torn += 1
            self._noted[number + 1] = self._now()
            device.disk_is_full = False
            device.tear(self._rng.random())
        learned = int(device.app.metrics.samples)
        lost, pause, longest = self._may_lose()
        device.start()
        self._lose(learned - int(device.app.metrics.samples), lost, pause, longest)
        if self.sleep:
            self.sleep.start()
        result = device.number
        self._require(result in (number, number + 1) or not number, f"checkpoint {result}")
        self._waiting.clear()
        if result:
            noted = self._noted[result]
            self._require(device.parts() == noted.parts, "another state than was saved")
            self._simulator.load(noted.simulator)
            self._waiting.extend(noted.waiting)
            self._unlabelled = noted.unlabelled
            self._noted = {result: noted}
        else:
            self._simulator.start()
            self._unlabelled = 0
        self._compare()

    def _may_lose(self) -> tuple[Lost, int, int]:
        """Return the count for labels lost now, and the most seconds since the last and the first
        label.
        """
        failures = self._device.failures
        pace = (1 + failures) * SECONDS + _LONGEST
        if failures:
            return self.report.failed, pace, pace
        if self._device.saves_soon:
            return self.report.soon, _PAUSE, _LONGEST
        return self.report.sparing, pace, pace

    def _lose(self, labels: int, lost: Lost, pause: int, longest: int) -> None:
        """Count the labels lost after a restart: all labels since the last save, or none."""
        unsaved, self._unsaved = self._unsaved, _Unsaved()
        first, last = (
            ((self._milliseconds - then) & _TICKS) / 1000 for then in (unsaved.first, unsaved.last)
        )
        message = f"{labels} labels are lost, the first of {first:g} seconds before"
        self._require(labels in (0, unsaved.labels), f"{message}, of {unsaved.labels}")
        if labels:
            self._require(first <= longest and last <= pause, message)
            lost.add(labels, first)

    def _require(self, holds: bool, failure: str) -> None:
        if not holds:
            after = f"after {self.report.samples:,} samples"
            raise YearError(f"{failure} {after}; --seed {self._seed} repeats it")
