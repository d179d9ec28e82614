"""A board's flash: how much of it a set of files takes in littlefs, and how long it lasts.

A file has blocks of its own; a small file is inside its folder's blocks. A folder has pairs of
blocks, and takes another pair for about every quarter of a block of names and small files.

Makers of flash rate a sector for 100,000 erases. littlefs spreads its writes over the free
sectors, so all of these share a checkpoint's erases. A program begins with an allowance of saves,
and earns another save at a fixed interval: see the firmware's checkpoint.py. So an endless series
of labels uses up the allowance once, and then one save per interval.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

from microshrub_host.boards.board_files import Board
from microshrub_host.library.loader import constant

BLOCK = 4096  # bytes, on all boards
_SMALL = 8  # a file of at most a block / 8 is inside its folder
_SHARE = 4  # a pair of blocks holds a quarter of a block
_ENTRY = 16  # bytes of an entry besides its name
YEARS = 10.0  # lifetime of the flash at the default interval, with a model of this size
_MODEL = 64 * 1024  # bytes
_PROGRAM = 256 * 1024  # bytes of flash that a program takes
_ERASES = 100_000  # erases that a sector endures
ERASE_S = 0.045  # seconds to erase a sector and write it
_SIZE = 1024 * 1024  # bytes of the file system, unless the board's file states them
_DAY = 24 * 60 * 60  # seconds
_STEP = 60
_PAUSE, _LONGEST = 5, 60  # seconds until a state of the usual size is in flash


def blocks(sizes: Mapping[str, int], block: int = BLOCK) -> int:
    """Return about how many blocks files of these sizes take, by path; rather too many.

    The folder above the files is counted.
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
    """Return the years that the flash lasts with a save at this interval, day and night."""
    free = (board.flash_bytes or _SIZE) - _PROGRAM - 2 * state_bytes
    sectors = max(free // BLOCK, 1)
    saves = _ERASES * sectors / erases(state_bytes) - constant("checkpoint", "_ALLOWANCE")
    return max(saves, 0) * max(seconds, 1) / _DAY / 365


def saved_within(state_bytes: int) -> tuple[int, int]:
    """Return the seconds from the last label until a state is in flash, and from the first label
    if labels go on; both hold until the allowance of saves is used up.
    """
    takes = 2 * seconds_of(state_bytes)  # half of the time, readings are taken
    pause, longest = (constant("checkpoint", name) / 1000 for name in ("_PAUSE", "_LONGEST"))
    return max(_PAUSE, math.ceil(pause + takes)), max(_LONGEST, math.ceil(longest + 2 * takes))


def erases(state_bytes: int) -> int:
    """Return how many sectors a checkpoint of a state erases: its own, and one of the folder."""
    return -(-state_bytes // BLOCK) + 1


def seconds_of(state_bytes: int) -> float:
    """Return the seconds that a checkpoint of a state takes, nearly all of them for erasing."""
    return erases(state_bytes) * ERASE_S


def seconds_between(board: Board) -> int:
    """Return the default seconds between two checkpoints: flash lasts with models up to 64 KB."""
    return lasting(board, _MODEL)


def lasting(board: Board, state_bytes: int) -> int:
    """Return the interval of checkpoints, whole minutes in seconds, for flash to last YEARS."""
    least = YEARS / years(board, state_bytes, 1)
    return -(-int(least + 1) // _STEP) * _STEP
