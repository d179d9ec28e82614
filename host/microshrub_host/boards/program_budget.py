"""The RAM of a program on a board: its learner, its other objects, and its library.

To compare many sizes of a learner, each size is counted with the code of a typical size, which is
computed once for each learner and its options; the result is within 1 % of the exact count in
`build`. For a single program, as in `simulate --board`, the count is exact.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..base.errors import UserError
from ..library.learners import Parameter, model_name, options_of
from ..simulation.pipeline import Extracted
from . import program_codes, ram_budget
from .board_files import Board
from .deployment import Deployment
from .program import Program, usual_program
from .program_codes import ProgramCode
from .program_heap import program_parts
from .program_library import ProgramLibrary
from .ram_budget import Budget, Parameters, Part
from .scarce_machine_code import ANY, saved_as_needed

_TYPICAL = {"features": 8, "classes": 4}
# Between these limits, a number hardly affects the code; beyond, it has another width
_LEAST, _MOST = 3, 255
_TYPICAL_NUMBERS = (0, 32, 1024)
_NARROW = 32  # a parameter with at most this upper limit affects the code
_NAMED = b"\0"  # a state that is never read
# the names of companions' parts
_OF_COMPANIONS = ("anomaly", "spare classes", "queries", "watchers", "target")


def budget_of(library: ProgramLibrary, user_bytes: int = 0) -> Budget:
    """Return the RAM of a program, whether it fits or not.

    user_bytes is the size of the user's compiled files, which take about as much RAM. Raises
    UserError if the program cannot be made.
    """
    program, board, code = library.program, library.board, ProgramCode.of(library)
    users = [Part("own", user_bytes, "the user's files, about")] if user_bytes else []
    parts = [*code.parts, *users]
    program_objects = _program_objects(program, board, code)
    frozen = program.warmup is not None
    budget = ram_budget.budget(
        program.parameters, board, program.learner, parts, program_objects, frozen=frozen,
        kernels=code.kernels,
    )  # fmt: skip
    return replace(budget, less_in_rom=code.less_in_rom)


def fitting(library: ProgramLibrary, user_bytes: int = 0) -> ProgramLibrary:
    """Return the library with as much machine code as fits the board with the whole program."""
    if not library.can_be_mixed or not library.board.native:
        return library
    libraries = {0: library}

    def count(saved: int) -> Budget:
        libraries[saved] = replace(library, saved=saved)
        return budget_of(libraries[saved], user_bytes)

    return libraries[saved_as_needed(count)]


def frozen_advice(program: Program, board: Board) -> str:
    """Return advice if a program that does not fit as copied files fits in a firmware; else ""."""
    fits = budget_of(ProgramLibrary(program, board, freeze=True)).fits
    return "With the library in the firmware, `build --freeze`, it fits as it is." if fits else ""


def planned_budget(deployment: Deployment, slowest: float = ANY, exact: bool = False) -> Budget:
    """Compute the budget that usual_budget() caches."""
    board, learner = deployment.board, deployment.learner
    program = usual_program(deployment)
    library = ProgramLibrary(program, board, deployment.emit, deployment.freeze, slowest=slowest)
    if exact:
        return budget_of(fitting(library))
    # companions that make the samples are a part of the sensor
    counted = [each for each in deployment.companions if not isinstance(each, Extracted)]

    def count(saved: int) -> Budget:
        code = _typical_code(replace(library, saved=saved))
        program_objects = [
            part
            for part in _program_objects(program, board, code)
            if part.name not in _OF_COMPANIONS
        ]
        budget = ram_budget.budget(
            program.parameters, board, learner, list(code.parts), program_objects, counted,
            frozen=deployment.fixed_ranges,
            kernels=code.kernels,
        )  # fmt: skip
        return replace(budget, less_in_rom=code.less_in_rom)

    return count(saved_as_needed(count) if library.can_be_mixed and board.native else 0)


def _typical_code(library: ProgramLibrary) -> ProgramCode:
    """Return the code of a program for a learner of a typical size with the same options."""
    program = library.program
    names = tuple(f"x{k}" for k in range(len(program.class_names) and _TYPICAL["classes"]))
    typical = _typical(program.learner, program.parameters)
    program = replace(program, parameters=typical, feature_names=(), class_names=names, units=[])
    return program_codes.code_of(replace(library, program=program))


def _program_objects(program: Program, board: Board, code: ProgramCode) -> list[Part]:
    """Return the objects that the program makes besides the learner, quantizer, metrics and rows.

    A program whose learner is untrained counts as if it also named a trained learner's files.
    """
    named = program
    if not program.regression:
        named = replace(named, quantizer_state=_NAMED)
        if not program.config.get("spare_classes"):  # their states would also need names
            named = replace(named, learner_state=_NAMED)
    try:
        parts = program_parts(named.files()["config.json"], code.arch, code.texts)
    except ValueError as error:
        raise UserError(f"The program cannot be made: {error}") from None
    in_network = any(map(program.config.get, ("mqtt", "tcp", "datagrams")))
    machine_code = sum(part.elsewhere for part in code.parts)
    radio = 0
    if in_network and board.wifi:
        radio = board.wifi.heap_bytes + board.grown_bytes(machine_code)
    return [*parts, *([Part("Wi-Fi", radio, "while it is on", "program")] if radio else [])]


def _typical(learner: str, parameters: Parameters) -> dict[str, Any]:
    """Return parameters of a typical size with which the program has about the same code."""
    rows = options_of(model_name(learner))
    typical = {
        name: _typical_of(value, rows.get(name), _TYPICAL.get(name, 0))
        for name, value in parameters.items()
    }
    try:
        same = ram_budget.modules_of(learner, typical) == ram_budget.modules_of(
            learner, parameters
        )
    except ValueError:
        same = False
    return typical if same else dict(parameters)


def _typical_of(value: Any, row: Parameter | None, usual: int) -> Any:
    """Return the value, or a typical number of about that size."""
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
    """Return 0 for a number below the limits, 1 between them, and 2 above."""
    return (number >= _LEAST) + (number > _MOST)
