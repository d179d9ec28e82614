"""Streams a recording to a device that queries labels; device and twin get only these labels."""

from __future__ import annotations

import time

from microshrub_host.simulation.engine_interface import Labels
from microshrub_host.streams.units import Raw

from ..board.simulated_device import QueryTwin
from ..link.client import HostLink
from ..link.messages import Prediction, Request, late_label, sample
from .streaming import DeviceRun, DifferenceError, Progress

_CANNOT_GO_ON = (
    "the device has learned before, and where it asks for labels a stream cannot be continued: "
    "make it forget with --reset"
)


class QueryRun(DeviceRun):
    """A DeviceRun on a device with queries: a queried label follows its sample."""

    def __init__(
        self,
        link: HostLink,
        twin: QueryTwin,
        rows: Raw,
        labels: Labels,
        *,
        rate: float = 0.0,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(link, twin, rows, labels, rate=rate, progress=progress)
        self._asking_twin = twin
        self.asked = 0  # samples queried by the device

    def _begin(self, reset: bool) -> None:
        """Bring both ends to the first sample, also after a restart."""
        if not (reset or self.figures.restarts) and self._ask_status().samples:
            raise DifferenceError(_CANNOT_GO_ON)
        self.asked = 0
        super()._begin(True)

    def _stream(self) -> None:
        due = time.monotonic()
        for k in range(len(self._rows)):
            if self._period:
                due = max(due + self._period, time.monotonic() - self._period)
                self._link.poll(due - time.monotonic())
            pending = self._link.post(self._request(k))
            prediction = self._link.wait(pending)
            assert isinstance(prediction, Prediction)
            self._step(pending)
            self._answer(k, prediction)
        self._ask_status()

    def _request(self, k: int) -> Request:
        return sample(self._rows[k].tolist())

    def _answer(self, k: int, prediction: Prediction) -> None:
        """Give both ends the label, if the device queries it."""
        twin, label = self._asking_twin, int(self._labels[k])
        if prediction.sample_id != twin.sample_id:
            raise DifferenceError(
                f"sample {k + 1:,}: device and simulator differ on whether its label is asked for"
            )
        if prediction.sample_id:
            self._link.ask(late_label(prediction.sample_id, label))
            twin.answer(label)
            self.asked += 1
