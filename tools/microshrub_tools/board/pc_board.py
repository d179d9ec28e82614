"""A virtual board: a real 32-bit MicroPython behind a pty, with a folder as its flash.

Debian's MicroPython for the PC has no raw REPL, which mpremote needs. So the script on_pc/repl.py
provides one. A thread does the work of a board's hardware: it carries bytes, turns Ctrl-C into a
signal and restarts MicroPython. This runs on Linux only.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
from pathlib import Path

from microshrub_host.base import child_process
from microshrub_host.base.pseudo_terminal import drop_unread, never_wait, pseudo_terminal

SCRIPTS = Path(__file__).with_name("on_pc")  # the scripts that MicroPython runs
_PATIENCE = 2.0  # seconds for a reader; unread output is lost, as on a board's USB


class PcBoard:
    """A virtual board: mpremote opens `port`, and the folder `flash` has the board's files."""

    def __init__(
        self,
        command: tuple[str, ...],
        flash: Path,
        heap: str = "192k",
        mode: str = "boot",
        sensors: Path | None = None,
    ) -> None:
        """Start the board; machine_on_pc.py plays `sensors`, without which there are no pins."""
        self.flash = flash
        flash.mkdir(exist_ok=True)
        words = [str(SCRIPTS), str(sensors.resolve())] if sensors else []
        script = str(SCRIPTS / "repl.py")
        self._command = (*command, "-X", f"heapsize={heap}", script, str(flash))
        self._sensors = words
        self._master, self._slave, self.port = pseudo_terminal()
        never_wait(self._master)
        self._closing = self._unread = False
        self._start(mode)
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def __enter__(self) -> PcBoard:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing = True
        self._process.kill()
        self._thread.join()
        self._process.kill()  # the thread may have restarted it in the meantime
        self._process.wait()
        os.close(self._master)
        os.close(self._slave)

    def _start(self, mode: str) -> None:
        self._process = child_process.start(
            [*self._command, mode, *self._sensors],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert self._process.stdout
        os.read(self._process.stdout.fileno(), 1)

    def cut_power(self) -> None:
        """Switch the board off and on again."""
        self._process.kill()

    def _carry(self) -> None:
        while not self._closing:
            out, into = self._process.stdout, self._process.stdin
            assert out is not None
            assert into is not None
            ready, _, _ = select.select([self._master, out.fileno()], [], [], 0.2)
            if out.fileno() in ready:
                data = os.read(out.fileno(), 4096)
                if data:
                    self._tell(data)
                else:
                    code = self._process.wait()
                    if not self._closing:
                        self._start("raw" if code == 41 else "boot")
                    continue
            if self._master in ready:
                self._unread = False
                self._type(os.read(self._master, 4096), into.fileno())

    def _tell(self, data: bytes) -> None:
        """Write the board's output; without a reader, earlier output is lost."""
        while data:
            patience = 0.0 if self._unread or self._closing else _PATIENCE
            if select.select([], [self._master], [], patience)[1]:
                with contextlib.suppress(BlockingIOError):
                    data = data[os.write(self._master, data) :]
            else:
                self._unread = True
                drop_unread(self._slave)

    def _type(self, data: bytes, into: int) -> None:
        for k, part in enumerate(data.split(b"\x03")):
            if k and self._is_interrupted():
                self._process.send_signal(signal.SIGINT)
            elif k:
                part = b"\x03" + part
            with contextlib.suppress(BrokenPipeError):
                os.write(into, part)

    def _is_interrupted(self) -> bool:
        """Return whether Ctrl-C interrupts MicroPython; micropython.kbd_intr(-1) disables that."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
        return bool(int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1)
