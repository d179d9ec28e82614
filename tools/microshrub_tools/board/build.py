"""A program for a board as a folder: what has to be copied to the board, and nothing else.

    main.py                   starts the program
    config.json               program_config.py
    quantizer.state           what the quantizer has seen
    learner.state             what the model has learned, if it has
    lib/microshrub/*.mpy      the modules of the device library that this program imports
    lib/*.mpy                 sensors of the user's own

Where these are to be frozen into the board's MicroPython, they are in firmware/ instead, with a
manifest.py for its build, and are not copied to the board.

The folder is there as a whole or not at all.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages
from microshrub_host.boards import import_heap, ram_budget
from microshrub_host.boards.board_files import Board
from microshrub_host.boards.program_heap import program_parts
from microshrub_host.boards.what_to_lower import which_to_lower
from microshrub_host.engines import (
    frozen_files,
    library_files,
    loader,
    mpy,
    native_files,
    plain_kernels,
)
from microshrub_host.engines.own_learners import own_learners
from microshrub_host.reports.report import code_shortage, shortage

from .program_config import Program

FOLDER = "build"  # a folder a board in it
LIBRARY = f"lib/{library_files.PACKAGE}"
FIRMWARE = "firmware"
MANIFEST = f"{FIRMWARE}/manifest.py"
_SELFTEST = "device.selftest"
_PARTS = "device.config_parts"
_CHECK = ".check"  # ends the name of the module that looks at a learner's saved state
EMITS = ("viper", "native", "bytecode")
_MARKS = ("main.py", "config.json")  # by which a folder is known to be a build,
_LIBRARIES = (LIBRARY, MANIFEST)  # and one of these


@dataclass(frozen=True)
class Build:
    """What stands in the folder: bytes of flash and of RAM on that board."""

    folder: Path
    files: dict[str, int]  # bytes, by the path within the folder
    budget: ram_budget.Budget
    emit: str  # what the kernels are: one of EMITS

    @property
    def flash_bytes(self) -> int:
        """Bytes of all files."""
        return sum(self.files.values())

    @property
    def code_bytes(self) -> int:
        """Bytes of RAM that importing the library takes."""
        return sum(part.bytes for part in self.budget.code)


def modules(program: Program, emit: str = "viper") -> tuple[str, ...]:
    """The modules of the device library that the program imports, sorted."""
    around = program.around
    extraction = around.get("extraction")
    sensors = around["sensor"].get("sensors", [around["sensor"]])
    kinds = [sensor["kind"] for sensor in sensors]
    by_need = {
        "drift_alarm": around["alarm"],
        "anomaly": around.get("anomaly"),
        "device.scores": around.get("anomaly"),
        "device.naming": around.get("spare"),
        "device.naming_button": around.get("spare") and around["sensor"]["kind"] != "serial",
        "asking": around.get("asking"),
        "device.questions": around.get("asking"),
        "checkpoint": around["checkpoint"],
        "device.plotter": around["text"],
        "device.sensors": around["label_pin"] or around["sensor"]["kind"] != "serial",
        "device.motion": "mpu6050" in kinds,
        "device.motion_fifo": any(sensor.get("fifo") for sensor in sensors),
        "device.own": "own" in kinds,
        "device.several": around["sensor"]["kind"] == "several",
        "device.extractor": extraction,
        "device.filters": extraction and extraction["filters"],
        "device.spectrum": extraction and extraction["bands"],
        "metrics": not program.numbers,
        "pending": not program.numbers,
        "device.numbers": program.numbers,
        "interval": program.numbers and program.numbers["interval"],
    }
    roots = [name for name, needed in by_need.items() if needed]
    roots += _imported_by("device.program", set(by_need))
    learner = ram_budget.modules_of(program.learner, program.parameters)
    roots += [*learner, _SELFTEST]
    roots += {
        name for part in learner for name in library_files.imports(part) if name.endswith(_CHECK)
    }
    if emit == "bytecode":
        roots.append(plain_kernels.MODULE)
    return tuple(library_files.closure(roots))


def running(program: Program, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the modules that the program has imported while it serves.

    The self-test is for `flash`, a saved state is looked at only where there is one, and so are
    the parts of a configuration that few programs have.
    """
    around = program.around
    idle = {_SELFTEST}
    optional = loader.load("python").device.config.OPTIONAL
    if around["sensor"] == {"kind": "serial"} and not any(map(around.get, optional)):
        idle.add(_PARTS)
    states = program.learner_state or around["checkpoint"]
    return tuple(
        name for name in names if name not in idle and (states or not name.endswith(_CHECK))
    )


def _imported_by(name: str, left_out: set[str]) -> set[str]:
    """The module, and all that it and these import, at once or later, but what is left out."""
    found: set[str] = set()
    waiting = {name}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= library_files.imports(name) - found - left_out
    return found


def folder_of(board: Board) -> Path:
    """Where the build for a board is, unless another folder is named."""
    return Path(FOLDER) / board.key


def make(
    program: Program,
    board: Board,
    output: Path,
    emit: str = "viper",
    *,
    freeze: bool = False,
    own: Sequence[Path] = (),
) -> Build:
    """Write the folder; a build that is there is replaced.

    own are files of the user's that the program imports; they are copied to the board, compiled.
    What "native" cannot be made for is "viper", and a line says why. With `freeze`, the library is
    for a firmware.
    Raises UserError, with nothing changed, if the output is something else or the program does not
    fit the board.
    """
    if emit not in EMITS:
        raise UserError(f"--emit has to be one of {', '.join(EMITS)}, not {emit!r}")
    if freeze and emit == "native":
        raise UserError("MicroPython cannot freeze a native module: --freeze without --native")
    check_output(output)
    if emit == "native" and not native_files.can_be_made(board.arch, messages.say):
        emit = "viper"
    own_files = {
        f"lib/{path.stem}.mpy": mpy.compiled_program(path, _arch(board, emit)).read_bytes()
        for path in own
    }
    budget = budget_of(program, board, emit, freeze, sum(map(len, own_files.values())))
    if not budget.fits:
        what = _what_to_do(program, board, budget)
        if not freeze and emit != "native" and budget_of(program, board, emit, freeze=True).fits:
            what += " With the library in the firmware, --freeze, it fits as it is."
        raise UserError(f"The program does not fit: {what}")
    if not budget.code_fits:
        raise UserError(f"The program fits the heap. {code_shortage(budget)}")
    files = program.files() | {"main.py": _main_program(program)}
    files |= own_files | _library(board, modules(program, emit), emit, freeze)
    write(files, output)
    return Build(output, {name: len(data) for name, data in sorted(files.items())}, budget, emit)


def _what_to_do(program: Program, board: Board, budget: ram_budget.Budget) -> str:
    """What is missing, and which option to lower."""
    beside = [part for part in budget.overhead if part.owner == "program"]
    for name, what, lower in (
        ("pending", "samples that may wait for a label", "--pending"),
        ("target", "samples that wait for their target, and the lags,", "--horizon or --lags"),
    ):
        waits = sum(part.bytes for part in beside if part.name == name)
        if 2 * waits > budget.ram_bytes:
            return f"{shortage('it', budget)} The {what} take {waits:,} of them: lower {lower}."
    model_alone = ram_budget.code_parts(board, program.learner, program.parameters)
    around = sum(part.bytes for part in (*budget.code, *beside))
    around -= sum(part.bytes for part in model_alone)
    rest = dataclasses.replace(board, heap_free_bytes=board.heap_free_bytes - around)
    return f"{shortage('it', budget)} {which_to_lower(program.parameters, rest, program.learner)}"


def _library(board: Board, names: tuple[str, ...], emit: str, freeze: bool) -> dict[str, bytes]:
    """The library's files, by their paths in the folder."""
    arch = _arch(board, emit)
    if freeze:
        found = frozen_files.files(arch, names)
        return {f"{FIRMWARE}/{place}": data for place, data in found.items()}
    paths = native_files.compiled(arch, names) if emit == "native" else mpy.compiled(arch)
    return {
        f"lib/{mpy.in_library(path)}": path.read_bytes()
        for path in paths
        if emit == "native" or library_files.module_name(path) in names
    }


def _arch(board: Board, emit: str) -> str:
    return mpy.BYTECODE_ONLY if emit == "bytecode" else board.arch


def budget_of(
    program: Program, board: Board, emit: str = "viper", freeze: bool = False, own: int = 0
) -> ram_budget.Budget:
    """What the program takes of the board's RAM, whether it fits or not.

    own are the bytes of the user's own files, which take about as much.
    """
    arch = _arch(board, emit)
    names = modules(program, emit)
    serving = running(program, names)
    native = emit == "native"
    place = import_heap.FROZEN if freeze else "/lib"
    code = ram_budget.imported_parts(board, arch, names if native else serving, native, place)
    code += [ram_budget.Part("own", own, "the user's files, about")] if own else []
    beside = _around(program, arch, serving)
    return ram_budget.budget(program.parameters, board, program.learner, code, beside)


def _around(program: Program, arch: str, names: tuple[str, ...]) -> list[ram_budget.Part]:
    """What the program makes beside the learner, its quantizer, metrics and rows."""
    try:
        return program_parts(program.files()["config.json"], arch, import_heap.texts(arch, names))
    except ValueError as error:
        raise UserError(f"The program cannot be made: {error}") from None


def _main_program(program: Program) -> bytes:
    """main.py; the one of a learner of the user's own registers it first."""
    text = main_file().read_bytes()
    for own in own_learners():
        if own.name == program.learner:
            call = f"register({own.name!r}, {own.module!r})"
            return f"from microshrub.learners import register\n\n{call}\n\n".encode() + text
    return text


def main_file() -> Path:
    """The main.py of all programs. Raises UserError if it is not there."""
    installed = Path(__file__).with_name("on_board") / "main.py"  # made by the wheel
    path = installed if installed.exists() else library_files.folder().parent / "main.py"
    if not path.exists():
        raise UserError(f"{path} is missing: install microshrub again")
    return path


def check_output(output: Path) -> None:
    """Raise UserError if the folder holds something that is no build, or cannot be made."""
    parent = output.resolve().parent
    if output.exists() and not is_build(output) and not _is_empty(output):
        raise UserError(
            f"--output {output}: there is something that is not a build; choose another folder"
        )
    existing = next(p for p in (parent, *parent.parents) if p.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise UserError(f"--output {output}: no folder can be made in {existing}")


def is_build(folder: Path) -> bool:
    """Whether the folder holds what make() writes."""
    library = any((folder / mark).exists() for mark in _LIBRARIES)
    return library and all((folder / mark).exists() for mark in _MARKS)


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def write(files: dict[str, bytes], output: Path) -> None:
    """Put the files into a new folder and only then in its place. Raises UserError."""
    target = output.resolve()
    fresh = target.with_name(f".{target.name}-{secrets.token_hex(8)}")
    old = fresh.with_name(fresh.name + "-old")
    try:
        fresh.mkdir(parents=True)
        try:
            for name, data in files.items():
                path = fresh / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            if target.exists():
                target.rename(old)
            try:
                fresh.rename(target)
            except BaseException:
                with contextlib.suppress(OSError):
                    old.rename(target)
                raise
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise UserError(f"--output {output}: cannot be written: {error.strerror}") from None


def read(folder: Path) -> dict[str, bytes]:
    """The files of a build that a board gets, by their paths in it. Raises UserError if none."""
    if not is_build(folder):
        raise UserError(f"{folder} is not a build. Make one: microshrub build --board NAME ...")
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] != FIRMWARE
    }
