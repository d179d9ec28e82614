"""The device of a simulated year: its program's application and link, files, and a PC's end."""

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
SECONDS = 6000  # between two saves, where labels without end have used up their allowance
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
    """A device with flash that a cut of its power leaves as it is, and a PC that is plugged in.

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
        """What happens after a reset, up to the first hello."""
        application = self._library.device.application.Application
        self.app = application(self._configuration, f"{self._folder.name}/")
        self.app.begin()
        self.failures = 0  # saves since the last one that was safe
        self._save = self.app.store.save
        self.app.store.save = self._save_if_possible
        self.link = HostLink(_Line(self._library.device.link.Link, self.app))
        self.link.connect()

    def learned(self) -> list[int]:
        """The checksums of quantizer, learner and metrics."""
        app = self.app
        return [part.state_crc32() for part in (app.quantizer, app.learner, app.metrics)]

    def parts(self) -> list[int]:
        """The checksums of all that a checkpoint holds."""
        app = self.app
        rest = (app.pending, app.alarm, app.anomaly)
        return [*self.learned(), *(part.state_crc32() for part in rest)]

    @property
    def number(self) -> int:
        """The newest checkpoint's."""
        return int(self.app.store.number())

    @property
    def saves_soon(self) -> bool:
        """Whether what is taught is saved within a minute: its allowance is not used up."""
        return int(self.app.store._left) > constant("checkpoint", "_RESERVE")

    def saved_bytes(self) -> int:
        """Of a checkpoint."""
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
        """The power goes while a checkpoint is written, when that share of it is in the file."""
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
        """What the device has answered."""
        came = bytes(self._answers)
        self._answers.clear()
        return came

    def write(self, data: bytes) -> None:
        """Send to the device, which answers at once."""
        self._device.feed(bytearray(data), len(data))

    def reopen(self, seconds: float) -> None:
        """Nothing has to be done."""

    def close(self) -> None:
        """Nothing has to be done."""
