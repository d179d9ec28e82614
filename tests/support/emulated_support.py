"""Emulated boards, as `build` and `flash` use them."""

from __future__ import annotations

import ast
import socket
import tempfile
import time
from pathlib import Path
from typing import Any

from patience import PATIENCE
from tests_support import ROOT

from microshrub_host.boards.emulator import EmulatedBoard

START = "exec(open('main.py').read())"  # as MicroPython does after a reset

# Code before a program: calls started() and stops the program when it has started
UNTIL_STARTED = r"""
import gc
import sys

class Line:
    def readinto(self, buffer):
        return 0

    def write(self, data, n=-1):
        if bytes(data[:2]) == b"\0\n":  # it has started
            started()
            raise KeyboardInterrupt

class Text:
    buffer = Line()

class System:
    stdin = stdout = Text

    def __getattr__(self, name):
        return getattr(real_sys, name)

real_sys = sys
sys.modules["sys"] = System()
sys.path.insert(0, "lib")
"""


class OnLine:
    """An emulated board with the interface that `flash` needs."""

    def __init__(self, board: EmulatedBoard) -> None:
        self._board = board

    def reset(self) -> None:
        self._board.reset()

    def run(self, code: str, seconds: float = PATIENCE) -> str:
        return self._board.exec(code, seconds)

    def value(self, expression: str, seconds: float = PATIENCE) -> Any:
        return ast.literal_eval(self.run(f"print(repr({expression}))", seconds).strip())


def board_file(folder: Path, arch: str) -> Path:
    """Write an emulated board's file for `build`, with the heap of a Raspberry Pi Pico."""
    text = (ROOT / "boards" / "rpi_pico.toml").read_text()
    path = folder / f"emulated-{arch}.toml"
    path.write_text(text.replace("armv6m", arch))
    return path


def stands_still(board: EmulatedBoard, seconds: float = 10) -> bool:
    """Whether the board's process is stopped, or stops within some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        state = Path(f"/proc/{board._process.pid}/stat").read_text().rpartition(") ")[2][0]
        if state == "T":
            return True
    return False


class PressedBoard(EmulatedBoard):
    """An emulated Cortex-M0 with buttons that a test can press, through QEMU's qtest.

    MicroPython's qemu port has no machine.Pin; ON_PINS reads the chip's own registers instead.
    """

    def __enter__(self) -> PressedBoard:
        self._socket = socket.socket(socket.AF_UNIX)
        self._home = tempfile.TemporaryDirectory(prefix="microshrub-")
        self._socket.bind(f"{self._home.name}/qtest")
        self._socket.listen()
        super().__enter__()
        self._line = self._socket.accept()[0].makefile("rw")
        return self

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        self._socket.close()
        self._home.cleanup()

    def press(self, pin: int, pressed: bool = True) -> None:
        """Pull a pin of the nRF51 to ground, or release it."""
        self._go_on()  # a stopped emulator does not answer
        self._line.write(f"set_irq_in /machine/nrf51 unnamed-gpio-in {pin} {int(not pressed)}\n")
        self._line.flush()
        assert self._line.readline() == "OK\n"

    def _loaded(self) -> tuple[str, ...]:
        qtest = ("-qtest", f"unix:{self._home.name}/qtest", "-qtest-log", "/dev/null")
        return (*super()._loaded(), *qtest)


ON_PINS = """
from machine import mem32

class Pin:
    def __init__(self, number):
        self._number = number
        mem32[0x50000700 + 4 * number] = 12  # PIN_CNF: an input, pulled up

    def value(self):
        return mem32[0x50000510] >> self._number & 1  # IN

class Board:
    def button(self, number):
        return Pin(number)
"""
