"""A board's flash: how much of it a set of files takes in littlefs, and how long it lasts.

A file has blocks of its own; a small one is inside its folder's. A folder has pairs of blocks,
of which it takes another one when it has about a quarter of a block of names and small files.

A sector of flash can be erased 100,000 times, as its makers say. littlefs spreads what it writes
over the sectors that are free, so a checkpoint's erases are shared by all of them. A program may
begin with an allowance of saves, and gets another one every so many seconds: see the firmware's
checkpoint.py. So labels without end take the allowance once, and then a save in that time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

from microshrub_host.boards.board_files import Board
from microshrub_host.library.loader import constant

BLOCK = 4096  # bytes, of all boards' flash
_SMALL = 8  # a file of at most a block / 8 is inside its folder
_SHARE = 4  # of a block: bytes in a pair
_ENTRY = 16  # bytes beside a name
YEARS = 10.0  # that the default lasts, with a model of this size
_MODEL = 64 * 1024  # bytes
_PROGRAM = 256 * 1024  # bytes of flash that a program takes
_ERASES = 100_000  # of a sector
ERASE_S = 0.045  # of a sector, with what is written to it
_SIZE = 1024 * 1024  # bytes of the file system, of a board whose file does not say
_DAY = 24 * 60 * 60  # seconds
_STEP = 60
_PAUSE, _LONGEST = 5, 60  # seconds in which a state of the usual size is in flash


def blocks(sizes: Mapping[str, int], block: int = BLOCK) -> int:
    """About how many blocks files of so many bytes take, by their paths; rather too many.

    Above them is a folder, which is counted.
    """
    inside = Counter({PurePosixPath("."): 0})
    result = 0
    for name, size in sizes.items():
        path = PurePosixPath(name)
        small = size <= block // _SMALL
        result += 0 if small else -(-size // block)
        inside[path.parent] += len(path.name) + _ENTRY + (size if small else 0)
        for folder in path.parents[:-1]:
            inside[folder] += 0
    for bytes_inside in inside.values():
        result += 2 + 2 * -(-bytes_inside * _SHARE // block)
    return result


def years(board: Board, state_bytes: int, seconds: int) -> float:
    """Years that the flash lasts where a state is saved so often, day and night."""
    free = (board.flash_bytes or _SIZE) - _PROGRAM - 2 * state_bytes
    sectors = max(free // BLOCK, 1)
    saves = _ERASES * sectors / erases(state_bytes) - constant("checkpoint", "_ALLOWANCE")
    return max(saves, 0) * max(seconds, 1) / _DAY / 365


def saved_within(state_bytes: int) -> tuple[int, int]:
    """Seconds after the last label in which a state is in flash, and after the first one where
    labels go on: as long as the allowance of saves is not used up.
    """
    takes = 2 * seconds_of(state_bytes)  # half of the time, readings are taken
    pause, longest = (constant("checkpoint", name) / 1000 for name in ("_PAUSE", "_LONGEST"))
    return max(_PAUSE, math.ceil(pause + takes)), max(_LONGEST, math.ceil(longest + 2 * takes))


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
