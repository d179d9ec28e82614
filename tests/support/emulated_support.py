"""Emulated boards, as `build` and `flash` see them."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from tests_support import ROOT

from microshrub_host.emulation.emulator import EmulatedBoard

START = "exec(open('main.py').read())"  # as MicroPython does it after a reset


class OnLine:
    """What `flash` asks of a board, of an emulated one."""

    def __init__(self, board: EmulatedBoard) -> None:
        self._board = board

    def reset(self) -> None:
        self._board.reset()

    def run(self, code: str, seconds: float = 30) -> str:
        return self._board.exec(code, seconds)

    def value(self, expression: str, seconds: float = 30) -> Any:
        return ast.literal_eval(self.run(f"print(repr({expression}))", seconds).strip())


def board_file(folder: Path, arch: str) -> Path:
    """The emulated board for `build`: it has the heap of a Raspberry Pi Pico."""
    text = (ROOT / "boards" / "rpi_pico.toml").read_text()
    path = folder / f"emulated-{arch}.toml"
    path.write_text(text.replace("armv6m", arch))
    return path
