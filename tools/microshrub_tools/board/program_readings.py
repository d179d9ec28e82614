"""How a program reads its sensor: how often it wakes, and how long a reading takes."""

from __future__ import annotations

from dataclasses import dataclass

from microshrub_host.boards import counted_times
from microshrub_host.boards.board_files import Board
from microshrub_host.boards.program import Program

from .program_sensors import rate_of

POLLS = 100  # looks at a FIFO a second, about; see motion_fifo.py


@dataclass(frozen=True)
class Readings:
    """`looks` at the sensor a second; each takes look_us microseconds, 0 if each look is a sample.

    `more_us` is the microseconds of a sample's features and the readings before them, 0 if
    unknown.
    """

    looks: float
    look_us: float = 0.0
    more_us: float = 0.0

    @property
    def words(self) -> str:
        """Words for what a sample's time depends on besides the program."""
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
    window = counted_times.window_of(board, extraction, together)
    return Readings(looks, together * window.reading_us, window.us) if window else Readings(looks)
