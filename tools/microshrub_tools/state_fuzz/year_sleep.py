"""The clock and the sleep of a simulated year's board, with the device's own code for sleep.

A sample takes the program's and the learner's time. The clock counts the seconds asleep, for a
comparison with the program's own count.
"""

from __future__ import annotations

from typing import Any

from microshrub_host.boards.board_files import Board
from microshrub_host.boards.counted_times import outside_learner_us
from microshrub_host.library import loader

from ..board.flash_memory import seconds_of
from .year_device import FEATURES

_TICKS = (1 << 30) - 1
_LOOK_US = 10  # microseconds of a look at the clock


class YearSleep:
    """A board that sleeps between its samples, `period` seconds apart.

    `seconds` have passed, `asleep` of them in sleep; both counts survive power cuts.
    """

    def __init__(self, board: Board, options: dict[str, int], period: int, began: int) -> None:
        """Start the board; `options` is config.json's "sleep", and ticks begin at `began` ms."""
        self._board, self._options = board, options
        self._library: Any = loader.load(loader.fastest())
        self._rate: int | str = 1 if period == 1 else f"1/{period}"
        self._us, self._asleep_us = 1000 * began, 0
        self._began = self._us
        self.samples = 0
        self._flash_us = 0
        self._visits = 0
        self._counted_asleep = 0  # seconds of sleep that the program counted before power cuts
        self.sample_us = outside_learner_us(board, FEATURES, sensor=True) + _learner_us(board)
        self._sleep: Any = None
        self.start()

    def start(self) -> None:
        """Start as after a reset: the board stays awake for a while."""
        device = self._library.device
        if self._sleep:
            self._counted_asleep += int(self._sleep.seconds)
        self._sleep = device.sleep.Sleep(self._options, self, 0)
        self._pace = device.sensors.Pace(self._rate, self.microseconds)

    def until_next(self) -> int:
        """Rest as the program does until a sample is due, and take it; return the ticks then."""
        while not self._pace.due():
            self._doze_off(self._pace.wait() // 1000)
        self._us += int(self.sample_us)
        self.samples += 1
        return self.milliseconds()

    def rest(self, milliseconds: int) -> int:
        """Rest for that long, which ends before the next sample is due; return the ticks."""
        end = self._us + 1000 * milliseconds
        while self._us < end:
            self._doze_off((end - self._us) // 1000)
        return self.milliseconds()

    def _doze_off(self, milliseconds: int) -> None:
        awake = int(self._sleep.rest(max(milliseconds, 0)))
        self._us += 1000 * awake + _LOOK_US

    def heard(self) -> None:
        """Note input from a PC, to which the board then listens for `hold` seconds."""
        self._visits += 1
        self._sleep.heard()

    def saved(self, state_bytes: int) -> None:
        """Spend the time for writing a checkpoint."""
        took = int(1e6 * seconds_of(state_bytes))
        self._us += took
        self._flash_us += took

    @property
    def seconds(self) -> float:
        return (self._us - self._began) / 1e6

    @property
    def asleep(self) -> float:
        return self._asleep_us / 1e6

    @property
    def visited(self) -> int:
        """Seconds awake after input from a PC."""
        return self._visits * self._options["hold"]

    @property
    def flash(self) -> float:
        """Seconds awake while a checkpoint was written."""
        return self._flash_us / 1e6

    @property
    def counted_asleep(self) -> int:
        """Seconds asleep by the program's own count."""
        return self._counted_asleep + int(self._sleep.seconds)

    @property
    def missed(self) -> int:
        """Samples that were due while the board was busy, since the last start."""
        return int(self._pace.missed)

    # The functions of a board that the device's code calls

    def milliseconds(self) -> int:
        return self._us // 1000 & _TICKS

    def microseconds(self) -> int:
        return self._us & _TICKS

    def of_machine(self, _: str) -> Any:
        return self._doze

    def _doze(self, milliseconds: int) -> None:
        self._us += 1000 * milliseconds
        self._asleep_us += 1000 * milliseconds


def _learner_us(board: Board) -> float:
    """Return the longest time of a sample in the board's file for a Hoeffding tree, which is
    larger than the year's tree.
    """
    rows = [row for row in (board.cost.rows if board.cost else ()) if "hoeffding" in row.model]
    most = max((row.predict[1] + row.learn[1] for row in rows), default=0.0)
    return most * (board.cost.cycles if board.cost else 1.0) * 1e6 / board.clock_hz
