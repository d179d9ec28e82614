"""A year of a device, with a clock, and with all that happens to a board, drawn from a seed.

The device's application gets samples and labels over its link; some labels come later, the data
drift, disks are full, the power goes. Beside it, the simulator learns the same on another engine:
after every sample both have to be in the same state. Whenever a checkpoint is saved, both states
are noted; after a power cut the device has to come back with those of the last checkpoint that was
saved, or of the one that was being written, and the simulator goes on from there, too.
"""

from __future__ import annotations

import random
from array import array
from collections import deque
from dataclasses import dataclass

from microshrub_host.base.errors import UserError
from microshrub_host.boards.board_files import Board

from ..link.link_errors import RefusedError
from ..link.messages import Prediction, late_label, sample
from .year_device import CLASSES, FEATURES, WAITING, YearDevice
from .year_simulator import YearSimulator
from .year_sleep import YearSleep

_DAY = 24 * 60  # minutes
_TICKS = (1 << 30) - 1
_CUT = 700  # one of so many samples, on average, is the last before a power cut
_FULL = 20  # one of so many saves finds the disk full
_LATE = 5  # one of so many samples gets its label later
_LATEST = 250  # samples until then, at most
_VISIT = 1440  # one of so many samples finds a PC that talks to a board that sleeps


class YearError(UserError):
    """Something was lost, or wrong; the message names the seed that repeats it."""


@dataclass
class Told:
    """What has happened so far."""

    samples: int = 0
    late: int = 0
    too_late: int = 0  # labels of samples that waited no more
    saved: int = 0
    cuts: int = 0
    torn: int = 0
    full: int = 0


@dataclass(frozen=True)
class _Waiting:
    """A sample whose label comes `due` samples after the first, and what was predicted for it."""

    due: int
    sample_id: int
    order: int  # among the samples without a label
    codes: array[int]
    predicted: int
    label: int


@dataclass(frozen=True)
class _Noted:
    """What was when a checkpoint was saved: checksums, the simulator's state, who waited."""

    parts: list[int]
    simulator: bytes
    waiting: tuple[_Waiting, ...]
    unlabelled: int


class Year:
    """A device that lives day by day; rate is in samples a minute.

    With `sleeping`, a board and its sleep's options, it sleeps between them: see `sleep`.
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
        self._unlabelled = 0  # samples that the device was asked about without a label
        self._noted: dict[int, _Noted] = {}  # by the number of the checkpoint
        self.told = Told()

    def day(self) -> None:
        """Live through one more day. Raises YearError."""
        for _ in range(_DAY * self._rate):
            self._sample()
            self._late_labels()
            self._compare()
            self._tick()
            if self._rng.randrange(_CUT) == 0:
                self._cut()
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
        # of a sample with a label, the votes may be those of an alternate subtree that learned it
        said = (answer.label, answer.confidence if late else confidence)
        wanted = (predicted, confidence)
        self._require(said == wanted, f"the device says {said}, the simulator {wanted}")
        self.told.samples += 1
        if codes is None:
            return
        if late:
            due = self.told.samples + rng.randrange(_LATEST)
            order, self._unlabelled = self._unlabelled, self._unlabelled + 1
            found = _Waiting(due, answer.sample_id, order, codes, predicted, label)
            self._waiting.append(found)
        else:
            self._simulator.label(codes, predicted, label)

    def _late_labels(self) -> None:
        """Those that come now; of the samples without a label, only the last ones wait."""
        for found in [w for w in self._waiting if w.due <= self.told.samples]:
            self._waiting.remove(found)
            waits = self._unlabelled - found.order <= WAITING
            try:
                self._device.link.ask(late_label(found.sample_id, found.label))
            except RefusedError as error:
                refused = str(error)
            else:
                refused = ""
            self._require(waits != bool(refused), refused or "a sample waited for too long")
            if refused:
                self.told.too_late += 1
            else:
                self._simulator.label(found.codes, found.predicted, found.label)
                self.told.late += 1

    def _compare(self) -> None:
        """The state of the device is the simulator's."""
        same = self._device.learned() == self._simulator.parts()
        self._require(same, "quantizer, learner or metrics are not the simulator's")

    def _tick(self) -> None:
        if self.sleep:
            if not self._rng.randrange(_VISIT):
                self.sleep.heard()
            self._milliseconds = self.sleep.until_next()
        else:
            self._milliseconds = (self._milliseconds + 60_000 // self._rate) & _TICKS
        device = self._device
        before = device.number
        device.disk_is_full = self._rng.randrange(_FULL) == 0
        said = device.app.tick(self._milliseconds)
        if said:
            self.told.full += 1
            self._require(device.disk_is_full, said)
        elif device.number != before:
            self.told.saved += 1
            self._noted[device.number] = self._now()
            if self.sleep:
                self.sleep.saved(device.saved_bytes())
            for number in [n for n in self._noted if n < device.number - 1]:
                del self._noted[number]

    def _now(self) -> _Noted:
        waiting = tuple(self._waiting)
        return _Noted(self._device.parts(), self._simulator.saved(), waiting, self._unlabelled)

    def _cut(self) -> None:
        """The power goes, now and then while a checkpoint is written; the device starts again."""
        self.told.cuts += 1
        device = self._device
        number = device.number
        if device.app.quantizer.frozen and self._rng.randrange(2):
            self.told.torn += 1
            self._noted[number + 1] = self._now()
            device.disk_is_full = False
            device.tear(self._rng.random())
        device.start()
        if self.sleep:
            self.sleep.start()
        found = device.number
        self._require(found in (number, number + 1) or not number, f"checkpoint {found}")
        self._waiting.clear()
        if found:
            noted = self._noted[found]
            self._require(device.parts() == noted.parts, "another state than was saved")
            self._simulator.load(noted.simulator)
            self._waiting.extend(noted.waiting)
            self._unlabelled = noted.unlabelled
            self._noted = {found: noted}
        else:
            self._simulator.start()
            self._unlabelled = 0
        self._compare()

    def _require(self, holds: bool, else_said: str) -> None:
        if not holds:
            after = f"after {self.told.samples:,} samples"
            raise YearError(f"{else_said} {after}; --seed {self._seed} repeats it")
