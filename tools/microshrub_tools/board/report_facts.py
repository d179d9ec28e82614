"""Facts that a board reports: its firmware, its heap, and its RAM for machine code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from microshrub_host.boards import board_files
from microshrub_host.boards.board_files import Board

from .flash import Runs, architecture

# Makes a dict. A firmware may lack any of the facts
_FACTS = """
import gc, sys
gc.collect()
facts = {"free": gc.mem_free(), "used": gc.mem_alloc()}
facts["implementation"] = repr(sys.implementation)
facts["mpy"] = getattr(sys.implementation, "_mpy", 0)
facts["build"] = getattr(sys.implementation, "_build", "")
try:
    import os
    facts["uname"] = ", ".join(os.uname())
except (ImportError, AttributeError):
    facts["uname"] = ""
try:
    import machine
    hertz = machine.freq()
    facts["hertz"] = hertz if isinstance(hertz, int) else hertz[0]
except (ImportError, AttributeError):
    facts["hertz"] = 0
try:
    import esp32
    facts["data"] = esp32.idf_heap_info(esp32.HEAP_DATA)
    facts["executable"] = esp32.idf_heap_info(esp32.HEAP_EXEC)
except (ImportError, AttributeError):
    facts["data"] = facts["executable"] = ()
"""
Region = tuple[int, int, int, int]  # bytes: all, free, the largest block, the fewest free so far


@dataclass(frozen=True)
class Facts:
    """The board's answers in a raw REPL after a reset; "" or 0 for unknown facts.

    `build` is MicroPython's name of the firmware, as in boards/NAME.toml.
    """

    uname: str
    implementation: str
    build: str
    mpy: int
    hertz: int
    free: int
    used: int
    data: tuple[Region, ...]
    executable: tuple[Region, ...]

    @property
    def version(self) -> str:
        """MicroPython's version, such as "1.25.0"."""
        numbers = self.implementation.partition("version=(")[2].partition(")")[0].split(",")
        return ".".join(number.strip() for number in numbers[:3])

    @property
    def firmware(self) -> str:
        """The firmware's name, such as "MicroPython 1.25.0 RPI_PICO"."""
        return f"MicroPython {self.version} {self.build}".strip()

    @property
    def arch(self) -> str:
        """The architecture of machine code that the board loads, "" if none."""
        return architecture(self.mpy >> 10 & 0xF)

    @property
    def executable_bytes(self) -> int:
        """The largest block for machine code outside the heap, 0 if there is none."""
        return max((region[2] for region in self.executable), default=0)


def facts_of(device: Runs) -> Facts:
    """Read the facts of a board that was reset and has run nothing yet."""
    device.run(_FACTS)
    answers: dict[str, Any] = device.value("facts")
    for name in ("data", "executable"):
        answers[name] = tuple(map(tuple, answers[name]))
    return Facts(**answers)


def board_of(facts: Facts) -> Board | None:
    """Return the board file with this firmware; None unless exactly one of microshrub's has it."""
    boards = map(board_files.load, board_files.names())
    matches = [board for board in boards if board.firmware == facts.build]
    return matches[0] if len(matches) == 1 else None
