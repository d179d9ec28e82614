"""A board of a fleet as a program in a real MicroPython, over a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from ..library import loader
from ..sources import library_files
from . import fleet_board
from .micropython_engine import PipedProgram

Do = Callable[[str, bytes], bytes]


@contextmanager
def board(engine: str) -> Iterator[Do]:
    """What does the commands of fleet_board.py, on the engine of that name."""
    if engine != "micropython":
        yield fleet_board.FleetBoard(loader.load(engine)).do
        return
    words = [fleet_board.__file__, str(library_files.folder().parent)]
    with closing(PipedProgram(words, heap="16m")) as program:
        yield lambda letter, body: program.ask(letter.encode(), body)
