"""A recorded stream learned on the device, with its twin in the simulator in step.

Each sample is predicted, then learned, on both; the first prediction that differs ends the run. A
device that was reset continues from its checkpoint: the twin learns the samples up to there again,
and the states have to be equal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from microshrub_host.base.errors import UserError
from microshrub_host.simulation.engine_interface import NO_LABELS, Labels
from microshrub_host.streams.units import Raw

from ..board.simulated_device import NumberTwin, Twin
from ..link.client import HostLink, PendingAnswer
from ..link.link_errors import RestartedError
from ..link.messages import (
    FINGERPRINT,
    RESET,
    STATUS,
    DeviceStatus,
    Fingerprint,
    Number,
    Prediction,
    Request,
    regression,
    sample,
)

_ASK_EVERY = 500  # samples between two looks at the device's status
_SHOW_EVERY = 50  # samples between two calls of progress
_RESTARTS = 10  # restarts of the device in a row, without a learned sample

Progress = Callable[["Figures"], None]


class DifferenceError(UserError):
    """Device and simulator do not agree; the message is for people."""


@dataclass
class Figures:
    """The figures so far; latencies are in seconds, from sending a sample to its answer."""

    total: int
    samples: int = 0  # learned by the device
    right: int = 0  # right predictions of the device
    simulated_right: int = 0
    restarts: int = 0  # restarts of the device
    status: DeviceStatus | None = None
    latencies: list[float] = field(default_factory=list, repr=False)

    @property
    def accuracy(self) -> float:
        """The device's accuracy in percent."""
        return 100 * self.right / max(self.samples, 1)

    @property
    def simulated_accuracy(self) -> float:
        """The simulator's accuracy in percent."""
        return 100 * self.simulated_right / max(self.samples, 1)

    def latency(self, percent: float, last: int = 0) -> float:
        """Return a percentile of the latencies, or of the `last` ones, in ms; 0 without any."""
        some = self.latencies[-last:]
        return float(np.percentile(some, percent)) * 1e3 if some else 0.0


class DeviceRun:
    """A run of a stream on a device. rows are raw values in the units of the twin's configuration.

    rate: samples a second, 0: as fast as the device accepts them. progress is called with the
    figures from time to time.
    """

    def __init__(
        self,
        link: HostLink,
        twin: Twin,
        rows: Raw,
        labels: Labels,
        *,
        rate: float = 0.0,
        progress: Progress | None = None,
    ) -> None:
        self._link, self._twin = link, twin
        self._rows, self._labels = rows, labels
        self._period = 1 / rate if rate else 0.0
        self._progress = progress
        self.figures = Figures(len(rows))

    def run(self, *, reset: bool = False) -> int:
        """Stream all samples; return the CRC32 of the state, which is equal on both ends.

        The link has to be connected. reset: have the device forget its model first. Raises
        DifferenceError if the ends do not agree, LinkError if the line does not work.
        """
        fruitless = 0
        while True:
            before = self.figures.samples
            try:
                self._begin(reset)
                self._stream()
                return self._compare()
            except RestartedError:
                self.figures.restarts += 1
                fruitless = 0 if self.figures.samples > before else fruitless + 1
                if fruitless > _RESTARTS:
                    raise
                reset = False
                self._link.connect()

    def _begin(self, reset: bool) -> None:
        """Bring both ends to the same sample."""
        if reset:
            self._link.ask(RESET)
        done = self._ask_status().samples
        if done > len(self._rows):
            raise DifferenceError(
                f"the device has already learned {done:,} samples, and the stream has "
                f"{len(self._rows):,}: make it forget them with --reset"
            )
        self._twin.start()
        warmup = self._rows[: self._twin.warmup]
        if len(warmup):
            if not done:
                self._link.ask(RESET)  # an interrupted warm-up starts again
                for _ in self._link.stream(sample(row.tolist()) for row in warmup):
                    pass
            self._twin.observe(warmup)
        for k in range(done):
            self._take_twin(k)
        if self._device_crc32() != self._twin.crc32():
            raise DifferenceError(
                "the device's state differs from the simulator's"
                + (
                    f" after {done:,} samples of this stream"
                    if done
                    else " before the first sample"
                )
                + ": make it forget what it learned with --reset"
            )
        figures = self.figures
        figures.samples = done
        figures.right = figures.simulated_right = self._twin.right

    def _stream(self) -> None:
        begin = self.figures.samples
        for pending in self._link.stream(self._requests(begin)):
            if isinstance(pending.answer, DeviceStatus):
                self.figures.status = pending.answer
            else:
                self._step(pending)
        self._ask_status()

    def _requests(self, begin: int) -> Iterator[Request]:
        due = time.monotonic()
        for k in range(begin, len(self._rows)):
            if self._period:
                due = max(due + self._period, time.monotonic() - self._period)
                self._link.poll(due - time.monotonic())
            yield self._request(k)
            if (k + 1) % _ASK_EVERY == 0:
                yield STATUS

    def _request(self, k: int) -> Request:
        return sample(self._rows[k].tolist(), int(self._labels[k]))

    def _take_twin(self, k: int) -> int:
        """Have the twin take the next sample."""
        return self._twin.step(self._rows[k], int(self._labels[k]))

    def _check(self, k: int, prediction: Prediction) -> None:
        """Compare the device's prediction with the twin's."""
        expected = self._take_twin(k)
        if prediction.label != expected:
            raise DifferenceError(
                f"sample {k + 1:,}: the device predicted class {prediction.label}, the simulator "
                f"class {expected}"
            )
        self.figures.right += prediction.label == int(self._labels[k])
        self.figures.simulated_right = self._twin.right

    def _step(self, pending: PendingAnswer) -> None:
        figures = self.figures
        k = figures.samples
        assert isinstance(pending.answer, Prediction)
        self._check(k, pending.answer)
        figures.samples += 1
        figures.latencies.append(pending.latency)
        if self._progress and (figures.samples % _SHOW_EVERY == 0 or k + 1 == figures.total):
            self._progress(figures)

    def _compare(self) -> int:
        """Return the CRC32 of the final state."""
        here, there = self._twin.crc32(), self._device_crc32()
        if here != there:
            raise DifferenceError(
                f"after {self.figures.samples:,} samples the device's state has the CRC "
                f"{there:08x}, the simulator's {here:08x}"
            )
        return here

    def _ask_status(self) -> DeviceStatus:
        status = self._link.ask(STATUS)
        assert isinstance(status, DeviceStatus)
        self.figures.status = status
        return status

    def _device_crc32(self) -> int:
        answer = self._link.ask(FINGERPRINT)
        assert isinstance(answer, Fingerprint)
        return answer.crc32


class NumberRun(DeviceRun):
    """A DeviceRun on a device that predicts a number: rows have all columns, and no labels."""

    def __init__(
        self,
        link: HostLink,
        twin: NumberTwin,
        rows: Raw,
        *,
        rate: float = 0.0,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(link, twin, rows, NO_LABELS, rate=rate, progress=progress)
        self._number_twin = twin

    def _begin(self, reset: bool) -> None:
        self._link.ask(regression(predictions=True))
        super()._begin(reset)

    def _request(self, k: int) -> Request:
        return sample(self._rows[k].tolist())

    def _take_twin(self, k: int) -> int:
        return self._twin.step(self._rows[k], -1)

    def _check(self, k: int, prediction: Prediction) -> None:
        self._take_twin(k)
        expected = Number(*self._number_twin.number)
        if prediction.number != expected:
            raise DifferenceError(
                f"sample {k + 1:,}: the device predicted {prediction.number}, "
                f"the simulator {expected}"
            )
