"""Both ends of the serial link, with a line between them that damages data.

The device's side is device_end.py: it knows whether each request is the next one. Every few
thousand frames, the program on the PC restarts, the cable is pulled or the device is reset.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from microshrub_host.library import loader

from ..link.client import HostLink
from ..link.link_errors import LostError, RestartedError
from ..link.messages import (
    STATUS,
    Answer,
    DeviceStatus,
    Done,
    Prediction,
    Request,
    late_label,
    sample,
)
from . import device_end
from .damage import Damage
from .device_end import CheckingApplication

_MISHAP = 4000  # frames between two mishaps, about
_IN_VAIN = 20  # programs in a row that gave up without an applied request
_PATIENCE = 60  # seconds of the line's own time, within which the line has to come back

Progress = Callable[[int, int], None]


def request(k: int) -> Request:
    """Return request k."""
    if device_end.is_late(k):
        return late_label(k % 65536, k % device_end.CLASSES)
    label = device_end.label_of(k)
    values = [device_end.value_of(k, f) for f in range(device_end.FEATURES)]
    return sample(values, None if label < 0 else label)


def answer(k: int) -> Answer:
    """Return the right answer to request k."""
    if device_end.is_late(k):
        return Done()
    return Prediction(k % 65536, device_end.prediction_of(k), k % 256)


class FuzzedLine:
    """The line of a Link and, at its other end, the device. Time passes while no bytes arrive."""

    def __init__(self, application: CheckingApplication, seed: int, every: int) -> None:
        self._application = application
        self._random = random.Random(seed)
        self._up, self._down = Damage(seed + 1, every), Damage(seed + 2, every)
        self._to_device, self._to_host = bytearray(), bytearray()
        self._pulled = False
        self.now = 0.0
        self.reset_device()

    @property
    def faults(self) -> int:
        """How many faults there were."""
        return self._up.faults + self._down.faults

    def clock(self) -> float:
        """Return the seconds of the line's own time."""
        return self.now

    def reset_device(self) -> None:
        """Reset the device; bytes on their way to it are lost, and never arrive late."""
        self._to_device.clear()
        self._up.forget()
        device: Any = loader.load("python").device.link
        self.device = device.Link(self._application, self._answers)

    def pull(self) -> None:
        """Pull the cable, which cuts the bytes on their way."""
        self._pulled = True
        for way in (self._to_device, self._to_host):
            del way[self._random.randint(0, len(way)) :]

    def read(self, seconds: float) -> bytes:
        """Return the device's answers, in pieces."""
        self._check()
        if seconds or self._random.random() < 0.3:
            self._run_device()
        if not self._to_host:
            self.now += seconds
            return b""
        self.now += 0.001
        n = self._random.randint(1, 400)
        piece = bytes(self._to_host[:n])
        del self._to_host[:n]
        return piece

    def write(self, data: bytes) -> None:
        """Send to the device."""
        self._check()
        self._to_device += self._up(data)

    def reopen(self, seconds: float) -> None:
        """Plug the cable in again."""
        self.now += 0.5
        self._pulled = False

    def close(self) -> None:
        """Do nothing: there is no port to close."""

    def _check(self) -> None:
        if self._pulled:
            raise OSError("the cable was pulled")

    def _run_device(self) -> None:
        while self._to_device:
            n = self._random.randint(1, 100)
            piece = bytes(self._to_device[:n])
            del self._to_device[:n]
            self.device.feed(piece, len(piece))

    def _answers(self, buffer: bytearray, n: int) -> None:
        self._to_host += self._down(bytes(buffer[:n]))


@dataclass
class FuzzReport:
    """Counts of events; `wrong` counts requests out of order, wrong answers and false restarts."""

    frames: int = 0
    faults: int = 0
    wrong: int = 0
    resent: int = 0
    programs: int = 0  # programs that sent hello
    resets: int = 0  # resets of the device
    restarts: int = 0  # restarts of the device that a program noticed
    pulled: int = 0  # times that the cable was pulled
    lost: int = 0  # programs that gave up


def fuzz(frames: int, seed: int, every: int = 400, progress: Progress | None = None) -> FuzzReport:
    """Have `frames` requests applied over a line with a fault in about `every` bytes.

    Raises LostError if many programs in a row give up without an applied request.
    """
    chance = random.Random(seed)
    application = CheckingApplication()
    line = FuzzedLine(application, seed, every)
    report = FuzzReport()
    in_vain = 0
    while application.applied < frames:
        before = application.applied
        link = HostLink(line, patience=_PATIENCE, clock=line.clock)
        report.programs += 1
        try:
            _drive(link, line, frames, chance, report)
        except RestartedError:
            report.restarts += 1
        except LostError:
            report.lost += 1
            in_vain = in_vain + 1 if application.applied == before else 0
            if in_vain == _IN_VAIN:
                raise
        report.resent += link.resent
        if progress:
            progress(application.applied, frames)
    report.frames, report.faults = application.applied, line.faults
    report.wrong += application.wrong + max(report.restarts - report.resets, 0)
    return report


def _drive(
    link: HostLink, line: FuzzedLine, frames: int, chance: random.Random, r: FuzzReport
) -> None:
    """Connect and continue after the last applied request, until a mishap ends the program."""
    link.connect()
    status = link.ask(STATUS)
    assert isinstance(status, DeviceStatus)
    k = first = status.samples
    stop = min(frames, first + chance.randint(1, 2 * _MISHAP))
    for pending in link.stream(_requests(first, stop, line, chance, r)):
        r.wrong += pending.answer != answer(k)
        k += 1
        if k > first + _MISHAP and chance.random() < 0.001:
            return  # with the window full


def _requests(
    first: int, stop: int, line: FuzzedLine, chance: random.Random, r: FuzzReport
) -> Iterator[Request]:
    for k in range(first, stop):
        if chance.random() < 1 / _MISHAP:
            line.pull()
            r.pulled += 1
        elif chance.random() < 1 / _MISHAP:
            line.reset_device()
            r.resets += 1
        yield request(k)
