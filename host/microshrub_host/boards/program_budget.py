"""What a program takes of a board's RAM: its learner, what is around it, and its library.

Of the library, all that is known before there is a program is which learner it is made for, not of
what size. So a budget is made with the code of a typical size; this is within 1 % of what `build`
counts of the program itself, and is made once for each learner and its options.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from ..base.errors import UserError
from ..beside.between import Extracted
from ..beside.companion import Beside
from ..library import loader
from ..library.learners import Parameter, model_of, options_of
from . import ram_budget
from .board_files import Board
from .program import Names, Program, usual_program
from .program_heap import program_parts
from .program_library import ProgramLibrary
from .ram_budget import Budget, Kernels, Parameters, Part
from .scarce_machine_code import ANY, saved_as_needed

_TYPICAL = {"features": 8, "classes": 4}
# Between these, a number decides little of what code there is; beyond, it has other widths
_LEAST, _MOST = 3, 255
_TYPICAL_NUMBERS = (0, 32, 1024)
_NARROW = 32  # a parameter that is never larger decides what code there is
_BESIDE = ("anomaly", "spare classes", "asking", "beside", "target")  # parts for companions

_codes: dict[str, ProgramCode] = {}


@dataclass(frozen=True)
class ProgramCode:
    """What a program's library takes of a board, and the texts that are on the board with it."""

    parts: tuple[Part, ...]
    texts: frozenset[str]
    arch: str
    kernels: Kernels

    @classmethod
    def of(cls, library: ProgramLibrary) -> ProgramCode:
        """That of a library."""
        parts = ram_budget.parts_of(library.board, library.heap())
        return cls(tuple(parts), library.texts(), library.arch, library.kernels)


def budget_of(library: ProgramLibrary, own: int = 0) -> Budget:
    """The RAM of a program, whether it fits or not.

    own are the bytes of the user's own compiled files, which take about as much. Raises UserError
    for what the program refuses.
    """
    program, board, code = library.program, library.board, ProgramCode.of(library)
    parts = [*code.parts, *([Part("own", own, "the user's files, about")] if own else [])]
    around = _around(program, board, code)
    frozen = program.warmup is not None
    return ram_budget.budget(
        program.parameters, board, program.learner, parts, around, frozen=frozen,
        kernels=code.kernels,
    )  # fmt: skip


def fitting(library: ProgramLibrary, own: int = 0) -> ProgramLibrary:
    """The library with as much machine code as fits the board beside all else of the program."""
    if not library.can_be_mixed or not library.board.native:
        return library
    libraries = {0: library}

    def count(saved: int) -> Budget:
        libraries[saved] = replace(library, saved=saved)
        return budget_of(libraries[saved], own)

    return libraries[saved_as_needed(count)]


def frozen_advice(program: Program, board: Board, emit: str = "viper") -> str:
    """A sentence for a program that does not fit as it is copied, if it fits in a firmware."""
    fits = budget_of(ProgramLibrary(program, board, emit, freeze=True)).fits
    return "With the library in the firmware, `build --freeze`, it fits as it is." if fits else ""


def planned_budget(
    parameters: Parameters,
    board: Board,
    kind: str,
    beside: Beside = (),
    native: bool = False,
    network: Collection[str] = (),
    frozen: bool = False,
    names: Names = ((), ()),
    freeze: bool = False,
    slowest: float = ANY,
) -> Budget:
    """What usual_budget() keeps."""
    program = usual_program(kind, parameters, beside, network, frozen, names)
    library = ProgramLibrary(
        program, board, "native" if native else "viper", freeze, slowest=slowest
    )
    counted = [each for each in beside if not isinstance(each, Extracted)]  # a part of the sensor

    def count(saved: int) -> Budget:
        code = _typical_code(replace(library, saved=saved))
        around = [part for part in _around(program, board, code) if part.name not in _BESIDE]
        return ram_budget.budget(
            program.parameters, board, kind, list(code.parts), around, counted, frozen=frozen,
            kernels=code.kernels,
        )  # fmt: skip

    return count(saved_as_needed(count) if library.can_be_mixed and board.native else 0)


def _typical_code(library: ProgramLibrary) -> ProgramCode:
    """The code of a program, as it is for a learner of a typical size with such options."""
    program, board = library.program, library.board
    names = tuple(f"x{k}" for k in range(len(program.class_names) and _TYPICAL["classes"]))
    typical = _typical(program.learner, program.parameters)
    program = replace(program, parameters=typical, feature_names=(), class_names=names, units=[])
    limits = board.arch, board.native, board.executable_bytes
    how = library.emit, library.freeze, library.saved, library.slowest
    key = repr((program, limits, how, loader.digest()))
    if key not in _codes:
        _codes[key] = ProgramCode.of(replace(library, program=program))
    return _codes[key]


def _around(program: Program, board: Board, code: ProgramCode) -> list[Part]:
    """What the program makes beside the learner, its quantizer, metrics and rows."""
    try:
        found = program_parts(program.files()["config.json"], code.arch, code.texts)
    except ValueError as error:
        raise UserError(f"The program cannot be made: {error}") from None
    in_network = any(map(program.around.get, ("mqtt", "tcp", "packets")))
    radio = board.wifi.heap_bytes if in_network and board.wifi else 0
    return [*found, *([Part("Wi-Fi", radio, "while it is on", "program")] if radio else [])]


def _typical(kind: str, parameters: Parameters) -> dict[str, Any]:
    """Parameters of a typical size with which the program has about the same code."""
    rows = options_of(model_of(kind))
    found = {
        name: _typical_of(value, rows.get(name), _TYPICAL.get(name, 0))
        for name, value in parameters.items()
    }
    try:
        same = ram_budget.modules_of(kind, found) == ram_budget.modules_of(kind, parameters)
    except ValueError:
        same = False
    return found if same else dict(parameters)


def _typical_of(value: Any, row: Parameter | None, usual: int) -> Any:
    """The same, or another number of about that size."""
    if row is None:
        default = usual or value
    elif row.kind is float or (row.kind is int and not row.choices and _is_wide(row)):
        default = row.default
    else:
        return value
    if not isinstance(value, (int, float)) or _extent(value) == _extent(default):
        return default
    return _TYPICAL_NUMBERS[_extent(value)] or value


def _is_wide(row: Parameter) -> bool:
    return row.high is None or row.high > _NARROW


def _extent(number: float) -> int:
    """How a number stands to the limits."""
    return (number >= _LEAST) + (number > _MOST)
