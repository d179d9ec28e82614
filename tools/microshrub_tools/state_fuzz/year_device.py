"""The device of a simulated year: its application, link and files, and the PC's end."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from microshrub_host.library import loader
from microshrub_host.library.loader import constant

from ..link.client import HostLink

FEATURES, CLASSES = 3, 3
WAITING = 32  # samples that may wait for a label
PARAMETERS: dict[str, Any] = {
    "features": FEATURES, "classes": CLASSES, "nodes": 31, "leaves": 8, "grace_period": 50,
}  # fmt: skip
LEARNER = "HoeffdingTree"
WARMUP = 64
SECONDS = 6000  # between two saves, once endless labels have used up the allowance
_CONFIG: dict[str, Any] = {
    "version": 1,
    "learner": LEARNER,
    "parameters": PARAMETERS,
    "sensor": {"kind": "serial"},
    "quantizer": None,
    "warmup": WARMUP,
    "pending": WAITING,
    "checkpoint": {"path": "checkpoint", "seconds": SECONDS},
    "alarm": {"detector": "page_hinkley", "hook": "nothing"},
    "anomaly": {"period": 1440, "window": 64, "reach": 4},
}


class YearDevice:
    """A device with flash that outlasts power cuts, and a PC that is plugged in.

    While `disk_is_full`, no checkpoint can be written.
    """

    def __init__(self) -> None:
        self._library: Any = loader.load(loader.fastest())
        self._configuration = self._library.device.config.Configuration(
            json.dumps(_CONFIG).encode()
        )
        self.disk_is_full = False
        self._folder = tempfile.TemporaryDirectory(prefix="microshrub-year-")
        self.start()

    def start(self) -> None:
        """Start the program as after a reset, and connect to it."""
        application = self._library.device.application.Application
        self.app = application(self._configuration, f"{self._folder.name}/")
        self.app.begin()
        self.failures = 0  # failed saves since the last good one
        self._save = self.app.store.save
        self.app.store.save = self._save_if_possible
        self.link = HostLink(_Line(self._library.device.link.Link, self.app))
        self.link.connect()

    def learned(self) -> list[int]:
        """Return the checksums of quantizer, learner and metrics."""
        app = self.app
        return [part.state_crc32() for part in (app.quantizer, app.learner, app.metrics)]

    def parts(self) -> list[int]:
        """Return the checksums of all parts of a checkpoint."""
        app = self.app
        rest = (app.pending, app.alarm, app.anomaly)
        return [*self.learned(), *(part.state_crc32() for part in rest)]

    @property
    def number(self) -> int:
        """The number of the newest checkpoint."""
        return int(self.app.store.number())

    @property
    def saves_soon(self) -> bool:
        """Whether labels are saved within a minute, as their allowance is not used up."""
        return int(self.app.store._left) > constant("checkpoint", "_RESERVE")

    def saved_bytes(self) -> int:
        """Return the bytes of a checkpoint."""
        return int(self.app.store._length)

    def _save_if_possible(self) -> bool:
        """Save a checkpoint; on a full disk there is a folder where its file would be."""
        if not self.disk_is_full:
            return bool(self._save())
        slot = self._next_slot()
        kept = slot.read_bytes() if slot.exists() else None
        slot.unlink(missing_ok=True)
        slot.mkdir()
        try:
            return bool(self._save())
        finally:
            slot.rmdir()
            if kept is not None:
                slot.write_bytes(kept)

    def tear(self, share: float) -> None:
        """Cut the power during the write of a checkpoint, with that share of it in the file."""
        slot = self._next_slot()
        self.app.store.save()
        data = slot.read_bytes()
        slot.write_bytes(data[: int(share * (len(data) + 1))])

    def _next_slot(self) -> Path:
        return Path(self._folder.name) / f"checkpoint.{int(self.app.store._newest() == 0)}"


class _Line:
    """A line without a fault between a HostLink and the device's Link."""

    def __init__(self, link: Any, app: Any) -> None:
        self._answers = bytearray()
        self._device = link(app, self._answer)

    def _answer(self, buffer: bytearray, n: int) -> None:
        self._answers += memoryview(buffer)[:n]

    def read(self, seconds: float) -> bytes:
        """Return the device's answers."""
        came = bytes(self._answers)
        self._answers.clear()
        return came

    def write(self, data: bytes) -> None:
        """Send to the device, which answers at once."""
        self._device.feed(bytearray(data), len(data))

    def reopen(self, seconds: float) -> None:
        """Do nothing: the line has no port."""

    def close(self) -> None:
        """Do nothing: the line has no port."""
