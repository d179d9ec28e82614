"""A board for tests: a real 32-bit MicroPython behind a pty, with a folder as its flash.

Debian's MicroPython for the PC has no raw REPL, which mpremote needs. So a program on it is one:
_REPL, which also starts main.py after a reset, as a board does. Around it, a thread does what the
board's hardware does: it carries bytes, makes a signal of Ctrl-C and starts MicroPython again.
"""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import threading
import tty
from pathlib import Path
from types import TracebackType

from patience import PATIENCE

_REPL = r"""
import micropython, os, sys

micropython.kbd_intr(-1)  # a REPL takes Ctrl-C as it comes; what it executes is interrupted
sys.stdout.buffer.write(b"\0")  # it can be typed to
folder, mode = sys.argv[1:]
os.chdir(folder)
sys.path[:] = ["", "lib"]
read = sys.stdin.buffer.read


def say(text):
    sys.stdout.buffer.write(text.encode())


def execute(code, space):
    micropython.kbd_intr(3)
    try:
        exec(code, space)
    except SystemExit:
        pass
    except BaseException as error:
        return error
    finally:
        micropython.kbd_intr(-1)


def line():
    code = bytearray()
    while True:
        byte = read(1)
        if byte == b"\x03":
            code = bytearray()
            continue
        if not byte:
            sys.exit(9)
        if byte in (b"\x01", b"\x02", b"\x04", b"\x05"):
            return byte, bytes(code)
        code += byte


def paste():
    if read(1) != b"A":
        say("R\x00")  # not known
        return b""
    read(1)
    say("R\x01\x40\x00\x01")  # windows of 64 bytes, two of them
    code = bytearray()
    while True:
        byte = read(1)
        if byte == b"\x04":
            say("\x04")
            return bytes(code)
        code += byte
        if len(code) % 64 == 0:
            say("\x01")


def paste_mode():
    say("\r\npaste mode; Ctrl-C to cancel, Ctrl-D to finish\r\n=== ")
    while read(1) not in (b"\x03", b"\x04"):
        pass
    say("\r\n>>> ")


def answer(code, space):
    error = execute(str(code, "utf-8"), space)
    say("\x04")
    if error:
        sys.print_exception(error, sys.stdout)
    say("\x04>")


def serve(raw):
    space = {"__name__": "__main__"}
    prompt = ">>> "
    while True:
        end, code = line()
        if end == b"\x01":
            raw = True
            say("raw REPL; CTRL-B to exit\r\n>")
        elif end == b"\x02":
            raw = False
            say("\r\n>>> ")
        elif end == b"\x05" and not raw:
            paste_mode()
        elif end == b"\x05":
            pasted = paste()
            if pasted:
                answer(pasted, space)
        elif not code.strip():
            say("OK\r\nMPY: soft reboot\r\n" if raw else "\r\nMPY: soft reboot\r\n")
            sys.exit(41 if raw else 42)
        elif raw:
            say("OK")
            answer(code, space)


if mode == "raw":
    say("raw REPL; CTRL-B to exit\r\n>")
else:
    try:
        main = open("main.py").read()
    except OSError:
        main = ""
    error = execute(main, {"__name__": "__main__"})
    if error:
        sys.print_exception(error, sys.stdout)
    say("\r\n>>> ")
serve(mode == "raw")
"""


class UnixBoard:
    """`port` is what mpremote opens, `flash` the board's files."""

    def __init__(
        self, command: tuple[str, ...], flash: Path, heap: str = "192k", mode: str = "boot"
    ) -> None:
        self.flash = flash
        flash.mkdir(exist_ok=True)
        self._script = flash.with_name(flash.name + "-repl.py")
        self._script.write_text(_REPL)
        self._command = (*command, "-X", f"heapsize={heap}", str(self._script), str(flash))
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self.port = os.ttyname(self._slave)
        self._closing = False
        self._start(mode)
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def __enter__(self) -> UnixBoard:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing = True
        self._process.kill()
        self._thread.join()
        self._process.kill()  # it may have been started anew in the meantime
        self._process.wait()
        os.close(self._master)
        os.close(self._slave)

    def _start(self, mode: str) -> None:
        self._process = subprocess.Popen(
            [*self._command, mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert self._process.stdout
        os.read(self._process.stdout.fileno(), 1)

    def cut_power(self) -> None:
        """Off, and on again."""
        self._process.kill()

    def _carry(self) -> None:
        while not self._closing:
            out, into = self._process.stdout, self._process.stdin
            assert out is not None
            assert into is not None
            ready, _, _ = select.select([self._master, out], [], [], 0.2)
            if out in ready:
                data = os.read(out.fileno(), 4096)
                if data:
                    os.write(self._master, data)
                else:
                    code = self._process.wait()
                    if not self._closing:
                        self._start("raw" if code == 41 else "boot")
                    continue
            if self._master in ready:
                self._type(os.read(self._master, 4096), into.fileno())

    def _type(self, data: bytes, into: int) -> None:
        for k, part in enumerate(data.split(b"\x03")):
            if k and self._is_interrupted():
                self._process.send_signal(signal.SIGINT)
            elif k:
                part = b"\x03" + part
            with contextlib.suppress(BrokenPipeError):
                os.write(into, part)

    def _is_interrupted(self) -> bool:
        """Whether MicroPython listens to Ctrl-C, which micropython.kbd_intr(-1) switches off."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
        return bool(int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1)


def what_starts(command: tuple[str, ...], flash: Path) -> str:
    """What a board with this flash prints when it is switched on, until it waits for input."""
    script = flash.with_name(flash.name + "-boot.py")
    script.write_text(_REPL)
    done = subprocess.run(
        [*command, str(script), str(flash), "boot"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.stdout.lstrip("\0")
