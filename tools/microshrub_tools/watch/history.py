"""The history of a watch, in bounded memory: moments evenly spread, and the last samples."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from ..link.messages import DeviceStatus, RegressionErrors

_MOMENTS = 4096  # moments kept: enough for a plot
_WINDOW = 500  # samples of the recent accuracy


@dataclass(frozen=True)
class Moment:
    """A status and the time when it arrived, in seconds since the watch began.

    A device that predicts a number also has its errors so far.
    """

    seconds: float
    status: DeviceStatus
    errors: RegressionErrors | None = None


class History:
    """Moments, evenly spread over the whole watch; of too many, every second one is dropped.

    `last` is the last moment.
    """

    def __init__(self) -> None:
        self._kept: list[Moment] = []
        self._every = 1
        self._seen = 0
        self.last: Moment | None = None

    def note(self, moment: Moment) -> None:
        """Take the next moment."""
        if self._seen % self._every == 0:
            self._kept.append(moment)
            if len(self._kept) > _MOMENTS:
                del self._kept[1::2]
                self._every *= 2
        self._seen += 1
        self.last = moment

    @property
    def moments(self) -> list[Moment]:
        """The kept moments, and the last one."""
        if self.last is None or self._kept[-1] is self.last:
            return self._kept
        return [*self._kept, self.last]


class Recent:
    """The accuracy over the last samples, from statuses, which count all samples so far."""

    def __init__(self) -> None:
        self._statuses: deque[DeviceStatus] = deque()

    def note(self, status: DeviceStatus) -> None:
        """Take the next status."""
        some = self._statuses
        if some and status.samples < some[-1].samples:
            some.clear()  # the device has restarted
        if some and status.samples == some[-1].samples:
            some.pop()  # no sample since
        some.append(status)
        while len(some) > 1 and status.samples - some[1].samples >= _WINDOW:
            some.popleft()

    @property
    def accuracy(self) -> tuple[float, int] | None:
        """Percent, and of how many samples; None without samples since the first status."""
        if not self._statuses:
            return None
        first, last = self._statuses[0], self._statuses[-1]
        samples = last.samples - first.samples
        return (100 * (last.right - first.right) / samples, samples) if samples else None
