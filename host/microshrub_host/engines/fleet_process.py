"""A board of a fleet as a program in a real MicroPython, over a pipe."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..base import child_process
from ..base.terminal import messages
from ..fetch.micropython_binary import find_or_fetch
from ..library import loader
from ..sources import library_files
from . import fleet_board
from .interface import EngineError

Do = Callable[[str, bytes], bytes]


@contextmanager
def board(engine: str) -> Iterator[Do]:
    """What does the commands of fleet_board.py, on the engine of that name."""
    if engine != "micropython":
        yield fleet_board.FleetBoard(loader.load(engine)).do
        return
    found = find_or_fetch(messages.say).command
    library = str(library_files.folder().parent)
    command = [*found, "-X", "heapsize=16m", fleet_board.__file__, library]
    pipe = subprocess.PIPE
    with child_process.start(command, stdin=pipe, stdout=pipe) as process:
        assert process.stdin
        assert process.stdout
        given, said = process.stdin, process.stdout

        def do(letter: str, body: bytes) -> bytes:
            given.write(letter.encode() + len(body).to_bytes(4, "little") + body)
            given.flush()
            size = said.read(4)
            if len(size) < 4:
                raise EngineError("MicroPython stopped")
            data: bytes = said.read(int.from_bytes(size, "little"))
            return data

        try:
            yield do
        finally:
            process.kill()
