"""How a program reads its sensor: how often it wakes, and the time this takes."""

from __future__ import annotations

from dataclasses import dataclass

from microshrub_host.boards import counted_times
from microshrub_host.boards.board_files import Board
from microshrub_host.boards.program import Program

from .program_sensors import rate_of

POLLS = 100  # times a second that a FIFO is looked at, about; see motion_fifo.py


@dataclass(frozen=True)
class Readings:
    """`looks` a second; each takes look_us microseconds, 0 where each of them is a sample.

    `more_us` is what a sample's features and the readings before them take, 0 where that is not
    known.
    """

    looks: float
    look_us: float = 0.0
    more_us: float = 0.0

    @property
    def words(self) -> str:
        """What besides the program the time of a sample depends on."""
        return "its features and " if self.more_us else ""


def of(program: Program, board: Board) -> Readings:
    """Return the readings of a program's own sensor; one a second if the PC decides."""
    sensor = program.config["sensor"]
    rate = rate_of(sensor) or 1.0
    first = sensor.get("sensors", [sensor])[0]
    together = max(int(rate) // POLLS, 1) if first.get("fifo") else 1
    looks = int(rate) // together if first.get("fifo") else rate
    extraction = program.config.get("extraction")
    if extraction is None:
        return Readings(looks)
    window = counted_times.window_of(board, extraction)
    return Readings(looks, together * window.reading_us, window.us) if window else Readings(looks)
