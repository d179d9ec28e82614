"""A year of a device: its application on the PC, with a clock, and with what happens to a board.

The clock, labels, drift, power cuts and full disks are drawn from a seed. Whenever a checkpoint is
saved, the checksum of every part is noted; after a power cut the device has to come back with the
parts of the last checkpoint that was saved, or of the one that was being written.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microshrub_host.engines import loader

_DAY = 24 * 60  # minutes
_TICKS = (1 << 30) - 1
_CUT = 700  # one of so many samples, on average, is the last before a power cut
_FULL = 20  # one of so many saves finds the disk full
_LATE = 5  # one of so many samples gets its label later
_CONFIG: dict[str, Any] = {
    "version": 1,
    "learner": "HoeffdingTree",
    "parameters": {"features": 3, "classes": 3, "nodes": 31, "leaves": 8, "grace_period": 50},
    "sensor": {"kind": "serial"},
    "quantizer": None,
    "warmup": 64,
    "pending": 32,
    "checkpoint": {"path": "checkpoint", "samples": 100, "seconds": 60},
    "alarm": {"detector": "page_hinkley", "hook": "nothing"},
}


@dataclass
class Told:
    """What has happened so far."""

    samples: int = 0
    late: int = 0
    saved: int = 0
    cuts: int = 0
    torn: int = 0
    full: int = 0


class Year:
    """A device that lives day by day; rate is in samples a minute."""

    def __init__(self, seed: int, rate: int = 1) -> None:
        self._seed = seed
        self._rng = random.Random(seed)
        self._rate = rate
        self._library: Any = loader.load(loader.fastest())
        self._module = importlib.import_module(f"{self._library.__name__}.device.device_model")
        config = importlib.import_module(f"{self._library.__name__}.device.config")
        self._configuration = config.Configuration(json.dumps(_CONFIG).encode())
        self._folder = tempfile.TemporaryDirectory(prefix="microshrub-year-")
        self._milliseconds = self._rng.randrange(_TICKS)
        self._drift = 0
        self._known: dict[int, list[int]] = {}  # checksums, by the number of the checkpoint
        self.told = Told()
        self._start()

    def day(self) -> None:
        """Live through one more day. Raises AssertionError, which names the seed."""
        for _ in range(_DAY * self._rate):
            self._sample()
        self._drift += self._rng.randrange(3)

    def _start(self) -> None:
        self._app = self._module.Application(self._configuration, f"{self._folder.name}/")
        self._app.begin()

    def _parts(self) -> list[int]:
        app = self._app
        parts = (app.quantizer, app.learner, app.metrics, app.pending, app.alarm)
        return [part.state_crc32() for part in parts]

    def _sample(self) -> None:
        rng, app, told = self._rng, self._app, self.told
        label = rng.randrange(3)
        for f in range(3):
            app.values[f] = label * (f + 1 + self._drift % 7) * 40 + rng.randrange(200)
        late = rng.randrange(_LATE) == 0
        app.sample(-1 if late else label)
        told.samples += 1
        if late and app.sample_id:
            app.label(app.sample_id, label)
            told.late += 1
        self._milliseconds = (self._milliseconds + 60_000 // self._rate) & _TICKS
        self._tick()
        if rng.randrange(_CUT) == 0:
            self._cut()

    def _tick(self) -> None:
        app = self._app
        before = app.store.number
        full = self._rng.randrange(_FULL) == 0
        with self._full_disk() if full else contextlib.nullcontext():
            said = app.tick(self._milliseconds)
        if said:
            self.told.full += 1
            assert full, self._blame(said)
        elif app.store.number != before:
            self._note()

    @contextlib.contextmanager
    def _full_disk(self) -> Any:
        """Files in the folder cannot be opened for writing: each slot is a folder meanwhile."""
        folder = Path(self._folder.name)
        store = self._app.store
        slot = folder / f"checkpoint.{int(store._newest() == 0)}"
        kept = slot.read_bytes() if slot.exists() else None
        slot.unlink(missing_ok=True)
        slot.mkdir()
        try:
            yield
        finally:
            slot.rmdir()
            if kept is not None:
                slot.write_bytes(kept)

    def _note(self) -> None:
        self.told.saved += 1
        self._known[self._app.store.number] = self._parts()
        for number in [n for n in self._known if n < self._app.store.number - 1]:
            del self._known[number]

    def _cut(self) -> None:
        """The power goes, now and then while a checkpoint is written; the device starts again."""
        self.told.cuts += 1
        app = self._app
        number = app.store.number
        if app.quantizer.frozen and self._rng.randrange(2):
            self.told.torn += 1
            self._known[number + 1] = self._parts()
            slot = Path(self._folder.name) / f"checkpoint.{int(app.store._newest() == 0)}"
            app.store.save()
            data = slot.read_bytes()
            slot.write_bytes(data[: self._rng.randrange(len(data) + 1)])
        self._start()
        found = self._app.store.number
        assert found in (number, number + 1) or not number, self._blame(f"checkpoint {found}")
        if found:
            assert self._parts() == self._known[found], self._blame("another state")
            self._known = {found: self._known[found]}

    def _blame(self, what: str) -> str:
        return f"{what} after {self.told.samples:,} samples; --seed {self._seed} repeats it"
