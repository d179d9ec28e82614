"""A device on the PC: the real main.py on a real 32-bit MicroPython, in a folder with config.json.

In place of USB it has a pty, or pipes; there are no pins and no sensors.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import time
import tty
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from patience import PATIENCE

from microshrub_host.evaluation import prequential
from microshrub_host.library import library_files
from microshrub_host.library.learners import MODELS
from microshrub_host.programs import mpy, native_files
from microshrub_host.simulation.engine_interface import States
from microshrub_host.streams.stream import Stream
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import (
    FINGERPRINT,
    STATUS,
    DeviceStatus,
    Fingerprint,
    Prediction,
    sample,
)
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.watch.streaming import Figures

WARMUP = 256


def configuration(learner: str, parameters: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the smallest config.json of a device that learns over its line."""
    shape = {name: parameters[name] for name in ("features", "classes")}
    config = {
        "version": 1,
        "learner": learner,
        "parameters": parameters,
        "class_names": [f"class {i}" for i in range(shape["classes"])],
        "feature_names": [f"f{i}" for i in range(shape["features"])],
        "units": None,
        "quantizer": None,
        "warmup": WARMUP,
        "model": None,
        "sensor": {"kind": "serial"},
        "pending": 32,
        "checkpoint": None,
        "alarm": None,
        "label_pin": None,
        "watchdog": 0,
        "text": False,
    }
    return config | fields


def frozen_quantizer(stream: Stream, warmup: int = WARMUP) -> bytes:
    """Return the saved state of the simulator's quantizer for a stream."""
    from microshrub_host.simulation import engines

    small = {"features": stream.values.shape[1], "classes": 2}
    with engines.start("python", MODELS["shrub"], small) as engine:
        prequential.fit(engine, stream.raw_rows(), warmup)
        saved: States = engine.saved()
    return saved.quantizer


def put_device(
    folder: Path,
    config: dict[str, Any] | bytes,
    *,
    compiled: bool = True,
    native: bool = False,
) -> int:
    """Write the files of a board's flash: main.py, config.json, the library in lib/.

    compiled: write .mpy files for x86, as a flashed board has them, else sources; native: put the
    kernels into a native module. Returns the hash of the configuration.
    """
    files = mpy.compiled("x86") if compiled else library_files.sources()
    if native:
        files = native_files.compiled("x86")
    for source in files:
        target = folder / "lib" / Path(mpy.in_library(source)).with_suffix(source.suffix)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    main = library_files.folder().with_name("main.py")
    (folder / "main.py").write_bytes(main.read_bytes())
    data = config if isinstance(config, bytes) else json.dumps(config, indent=1).encode()
    (folder / "config.json").write_bytes(data)
    return zlib.crc32(data)


def put_learner(
    folder: Path, stream: Stream, learner: str, parameters: dict[str, Any], **fields: Any
) -> None:
    """Write the flash of a device that learns this stream, with a quantizer of its ranges."""
    states = {"quantizer": "quantizer.state"} | fields
    put_device(folder, configuration(learner, parameters, **states))
    (folder / "quantizer.state").write_bytes(frozen_quantizer(stream))


class Device:
    """A running device; a PC opens `port`. kill() is a power cut, start() is power-on."""

    def __init__(self, command: tuple[str, ...], folder: Path, heap: str = "128k") -> None:
        self._command = [*command, "-X", f"heapsize={heap}", "main.py"]
        self._folder = folder
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self.port = os.ttyname(self._slave)
        self.start()

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Run main.py, as at power-on."""
        self.process = subprocess.Popen(
            self._command,
            cwd=self._folder,
            env={**os.environ, "MICROPYPATH": "lib"},
            stdin=self._master,
            stdout=self._master,
            stderr=subprocess.PIPE,
        )

    def kill(self) -> None:
        """Cut the power."""
        self.process.kill()
        self.process.communicate()

    def close(self) -> None:
        """Cut the power and close the line."""
        self.kill()
        os.close(self._master)
        os.close(self._slave)


def run_device(
    command: tuple[str, ...], folder: Path, typed: bytes = b"", heap: str = "128k"
) -> str:
    """Return the output of a device that receives these bytes on its line, which then ends."""
    done = subprocess.run(
        [*command, "-X", f"heapsize={heap}", "main.py"],
        cwd=folder,
        env={**os.environ, "MICROPYPATH": "lib"},
        input=typed,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
        check=False,
    )
    return done.stdout.decode(errors="replace")


def power_cuts(device: Device, cuts: list[int]) -> Callable[[Figures], None]:
    """Return a progress function that cuts the power at these sample counts, and removes each."""

    def cut(figures: Figures) -> None:
        if cuts and figures.samples >= cuts[0]:
            cuts.pop(0)
            device.kill()
            device.start()

    return cut


@contextmanager
def nothing_allocated(link: HostLink) -> Iterator[None]:
    """Check that the block leaves the device's heap use as it was."""
    link.ask(STATUS)
    before = link.ask(STATUS)
    yield
    after = link.ask(STATUS)
    assert isinstance(before, DeviceStatus)
    assert isinstance(after, DeviceStatus)
    assert after.heap_used == before.heap_used


def connected(device: Device, **options: Any) -> HostLink:
    """Return the PC's end of the link, after the device's welcome."""
    link = HostLink(SerialLine(device.port), **options)
    link.connect()
    return link


@contextmanager
def starting(
    command: tuple[str, ...], folder: Path, put: Callable[..., None], heap: str
) -> Iterator[Callable[..., Device]]:
    """A function that starts a device with the files that put() has written to the folder."""
    devices: list[Device] = []

    def start(*given: Any, **fields: Any) -> Device:
        put(*given, **fields)
        devices.append(Device(command, folder, heap))
        return devices[-1]

    try:
        yield start
    finally:
        for device in devices:
            device.close()


def status_of(link: HostLink) -> DeviceStatus:
    """Return the device's status."""
    status = link.ask(STATUS)
    assert isinstance(status, DeviceStatus)
    return status


def crc32_of(link: HostLink) -> int:
    """Return the CRC of the device's learned state."""
    answer = link.ask(FINGERPRINT)
    assert isinstance(answer, Fingerprint)
    return answer.crc32


def until_saved(link: HostLink) -> None:
    """Wait until the device reports that it can be unplugged."""
    end = time.monotonic() + PATIENCE
    while status_of(link).unsaved:
        assert time.monotonic() < end
        link.poll(0.1)


def learn(link: HostLink, stream: Stream, begin: int, end: int) -> list[Prediction]:
    """Have the device learn these samples; return its answer to each."""
    rows = stream.raw_rows()
    requests = (sample(rows[k].tolist(), int(stream.labels[k])) for k in range(begin, end))
    answers = [pending.answer for pending in link.stream(requests)]
    assert all(isinstance(answer, Prediction) for answer in answers)
    return answers  # type: ignore[return-value]
