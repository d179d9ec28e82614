"""The emulated Raspberry Pi Pico of the tests, as a process, and its firmware."""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from patience import PATIENCE
from tests_support import ROOT

from microshrub_host.base.cache import cache_folder

# A Python package with MicroPython's stock firmware among its test files
_PACKAGE = "hdiffpatch", "2.6.0"
_FIRMWARE = "RPI_PICO-20250415-v1.25.0.uf2"
_SHA256 = "e0c40eacf1afc550a6add74888c48bb981b28788a6d75a62a0e2444e997b9864"
_SECONDS = 300


def firmware() -> Path:
    """Return MicroPython's own build for a Pico, fetched once; skips the test if that fails."""
    pytest.importorskip("rp2040py", reason="no rp2040py, which emulates a Pico")
    pytest.importorskip("littlefs", reason="no littlefs-python, which makes its file system")
    path = cache_folder("pico") / _FIRMWARE
    if not path.exists():
        data = _fetched()
        assert hashlib.sha256(data).hexdigest() == _SHA256
        path.write_bytes(data)
    return path


def _fetched() -> bytes:
    name, version = _PACKAGE
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-binary", name, "--dest", folder, f"{name}=={version}"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        if done.returncode:
            pytest.skip(f"no firmware of a Pico: {done.stderr.strip().rpartition(chr(10))[2]}")
        (packed,) = Path(folder).glob("*.tar.gz")
        with tarfile.open(packed) as archive:
            file = archive.extractfile(f"{name}-{version}/tests/binaries/{_FIRMWARE}")
            assert file
            return file.read()


class Pico:
    """A Pico that is plugged into a PC; `port` is the path of its serial port on the PC."""

    def __init__(self, folder: Path, work: Path) -> None:
        self.port = str(work / "ttyPICO")
        self._log = work / "reports"
        script = ROOT / "tests" / "support" / "emulated_pico.py"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, script, firmware(), folder, self.port], stdout=log
            )

    def reports(self) -> list[bytes]:
        """Return the keyboard reports that the PC has received, the last one at the end."""
        return [bytes.fromhex(line) for line in self._log.read_text().split()]

    def wait(self, has_come: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not has_come():
            assert self._process.poll() is None, "the emulator has ended"
            assert time.monotonic() < end
            time.sleep(0.05)

    def is_there(self) -> bool:
        """Whether the PC has the board's serial port."""
        return Path(self.port).exists()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def plugged_in(folder: Path, work: Path) -> Iterator[Pico]:
    """A Pico, just switched on, with a folder's files in its flash."""
    pico = Pico(folder, work)
    try:
        yield pico
    finally:
        pico.kill()
