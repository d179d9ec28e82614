"""Lines that misbehave: a damaged line, and a cable that is pulled."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import threading
import tty
from pathlib import Path

from patience import PATIENCE

from microshrub_tools.link.serial_line import Line
from microshrub_tools.link_fuzz.damage import Damage


class Damaged:
    """A line with damage in both directions."""

    def __init__(self, line: Line, seed: int) -> None:
        self._line = line
        self._up, self._down = Damage(seed, 400), Damage(seed + 1, 400)
        self.reopen, self.close = line.reopen, line.close

    def read(self, seconds: float) -> bytes:
        data = self._line.read(seconds)
        if not data:  # else a cut would swallow all answers on a line with little traffic
            self._up.end_cut()
            self._down.end_cut()
        return self._down(data)

    def write(self, data: bytes) -> None:
        self._line.write(self._up(data))


class Ends:
    """A device's port as the two files between which a Cable carries bytes."""

    def __init__(self, port: str) -> None:
        file = os.open(port, os.O_RDWR | os.O_NOCTTY)
        self.stdin = self.stdout = os.fdopen(file, "rb+", buffering=0)


class Cable:
    """A port, a symbolic link to a pty, whose bytes go to and from the pipes of a process."""

    def __init__(self, port: Path, process: subprocess.Popen[bytes] | Ends) -> None:
        self._port, self._process = port, process
        self._pulled, self._stop = threading.Event(), threading.Event()
        self._plugged = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        self._plugged.wait(PATIENCE)

    def __enter__(self) -> Cable:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def pull(self) -> None:
        """Remove the pty; another one appears a moment later."""
        self._pulled.set()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            master, slave = pty.openpty()
            tty.setraw(slave)
            self._port.symlink_to(os.ttyname(slave))
            self._pulled.clear()
            self._plugged.set()
            self._carry(master)
            self._port.unlink()  # before another pty can get the same number
            os.close(slave)
            os.close(master)

    def _carry(self, master: int) -> None:
        assert self._process.stdin
        assert self._process.stdout
        to_device, from_device = self._process.stdin.fileno(), self._process.stdout.fileno()
        while not (self._stop.is_set() or self._pulled.is_set()):
            ready, _, _ = select.select([master, from_device], [], [], 0.02)
            if master in ready:
                os.write(to_device, os.read(master, 4096))
            if from_device in ready:
                os.write(master, os.read(from_device, 4096))
