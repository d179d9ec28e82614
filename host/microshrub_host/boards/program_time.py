"""How long a sample takes with the program of `build` around the learner: link, codes, metrics.

Counted on an emulated Cortex-M0, of programs with an alarm; up to 15 % differ with what else is
loaded. To the instructions comes the time of each byte on the line: a UART's by its rate, and
that of USB in the port's driver, about, on an emulated Pico with MicroPython 1.28.
"""

from __future__ import annotations

from .board_files import Board

# Instructions around predict and learn, and those more for each feature
LINK = (140_000, 2_100)  # of a labelled sample that comes over the serial link
SENSOR = (96_000, 1_850)  # of one of the board's own sensor that is told to a monitor
USB_BYTE_US = 30.0
_SENT = 22  # bytes of an answer
_FRAME = 16  # bytes of a request beside the values, and
_OBSERVATION = 22  # of an observation
_VALUE = 4


def around_us(board: Board, features: int, sensor: bool = False) -> float:
    """Microseconds of a labelled sample beside the learner; of the board's sensor or the link."""
    fixed, each = SENSOR if sensor else LINK
    cycles = board.cost.cycles if board.cost else 1.0
    computed = (fixed + each * features) * cycles * 1e6 / board.clock_hz
    sent = _OBSERVATION if sensor else _SENT + _FRAME
    return computed + (sent + _VALUE * features) * _byte_us(board)


def _byte_us(board: Board) -> float:
    usb = board.serial.interface == "usb"
    return USB_BYTE_US if usb else 10e6 / board.serial.baud
