"""How long a board's flash lasts, at which checkpoints wear.

A sector of flash can be erased 100,000 times, as its makers say. littlefs spreads what it writes
over the sectors that are free, so a checkpoint's erases are shared by all of them.
"""

from __future__ import annotations

from microshrub_host.boards.board_files import Board

from .flash_space import BLOCK

YEARS = 10.0  # that the default lasts, with a model of this size
_MODEL = 64 * 1024  # bytes
_PROGRAM = 256 * 1024  # bytes of flash that a program takes
_ERASES = 100_000  # of a sector
ERASE_S = 0.045  # of a sector, with what is written to it
_SIZE = 1024 * 1024  # bytes of the file system, of a board whose file does not say
_DAY = 24 * 60 * 60  # seconds
_STEP = 60


def years(board: Board, state_bytes: int, seconds: int) -> float:
    """Years that the flash lasts where a state is saved so often, day and night."""
    free = (board.flash_bytes or _SIZE) - _PROGRAM - 2 * state_bytes
    sectors = max(free // BLOCK, 1)
    days = _ERASES * sectors / erases(state_bytes) * max(seconds, 1) / _DAY
    return days / 365


def erases(state_bytes: int) -> int:
    """Sectors that a checkpoint of a state erases: its own, and one of the folder."""
    return -(-state_bytes // BLOCK) + 1


def seconds_of(state_bytes: int) -> float:
    """That a checkpoint of a state takes: nearly all of it erases."""
    return erases(state_bytes) * ERASE_S


def seconds_between(board: Board) -> int:
    """The default between two checkpoints: with any model up to 64 KB, the flash lasts."""
    return lasting(board, _MODEL)


def lasting(board: Board, state_bytes: int) -> int:
    """Whole minutes between two checkpoints, in seconds, so that the flash lasts for YEARS."""
    least = YEARS / years(board, state_bytes, 1)
    return -(-int(least + 1) // _STEP) * _STEP
