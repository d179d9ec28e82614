"""A program for a board as a folder: the files to be copied to the board, and no others.

    main.py                   starts the program
    config.json               program_config.py
    secrets.json              passwords and a key, see program_network.py, and discovery.bin
    quantizer.state           the quantizer's state
    learner.state             the learner's state, if it has learned anything
    lib/microshrub/           modules that the program needs, see program_library.py
    lib/*.mpy                 the user's own sensors

Modules that are to be frozen into the board's MicroPython are in firmware/ instead, with a
manifest.py for its build, and are not copied to the board.

The folder is written as a whole or not at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from microshrub_host.base import files as files_on_disk
from microshrub_host.base.errors import UserError
from microshrub_host.boards import ram_budget
from microshrub_host.boards.board_files import Board
from microshrub_host.boards.default_bytes import SIZE, bytes_beside
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.emits import chosen
from microshrub_host.boards.fit_advice import options_to_lower
from microshrub_host.boards.import_heap import LibraryHeap
from microshrub_host.boards.program import Program
from microshrub_host.boards.program_budget import budget_of, fitting, frozen_advice
from microshrub_host.boards.program_library import ProgramLibrary, arch_of
from microshrub_host.library import library_files, loader
from microshrub_host.library.library_files import user_learners
from microshrub_host.models import model_files
from microshrub_host.programs import mpy
from microshrub_host.reports.result_tables import code_shortage, shortage

from . import flash_memory, program_deep_sleep
from .program_network import SECRETS

FOLDER = "build"  # with a folder for each board
LIBRARY = f"lib/{library_files.PACKAGE}"
FIRMWARE = "firmware"
MANIFEST = f"{FIRMWARE}/manifest.py"
CONFIG = "config.json"
_STATE = re.compile(r'"([^"]+\.state)"')  # a file that a config.json names
# The merged module has main(), see merged_files.py. Without the threshold, garbage of its import
# would spread over the heap, and a large buffer would find no room in one piece.
_SAVED = "A saved model keeps its size: let `simulate` learn a smaller one, and save that."
_IMPORT = b"""\
import gc

if hasattr(gc, "threshold"):
    gc.threshold(16384)

try:
    from microshrub import"""
_MARKS = ("main.py", CONFIG)  # files of every build
_LIBRARIES = (LIBRARY, MANIFEST)  # every build has one of these


@dataclass(frozen=True)
class Build:
    """The contents of the folder, and the flash and RAM that they take on the board, in bytes."""

    folder: Path
    files: dict[str, int]  # bytes, by the path within the folder
    budget: ram_budget.Budget
    emit: str  # the form of the kernels: one of EMITS
    heap: LibraryHeap  # the library on the heap, once it is imported
    program: Program

    @property
    def flash_bytes(self) -> int:
        """Bytes of all files."""
        return sum(self.files.values())

    @property
    def file_system_bytes(self) -> int:
        """Bytes that the copied files take in the board's file system."""
        copied = {n: size for n, size in self.files.items() if not n.startswith(f"{FIRMWARE}/")}
        return flash_memory.blocks(copied) * flash_memory.BLOCK

    @property
    def code_bytes(self) -> int:
        """Bytes of RAM that importing the library takes."""
        return sum(part.bytes for part in self.budget.code)


def folder_of(board: Board) -> Path:
    """Return the default folder of the build for a board."""
    return Path(FOLDER) / board.key


def make(
    program: Program,
    board: Board,
    output: Path,
    emit: str = "",
    *,
    freeze: bool = False,
    user_files: Sequence[Path] = (),
    is_size_free: bool = False,
) -> Build:
    """Write the folder, replacing an existing build.

    user_files are the user's modules that the program imports, compiled for the board.
    With `is_size_free`, nobody has chosen the size of the learner, which has no samples: it
    becomes smaller if the program does not fit otherwise.
    `emit` is the form of the kernels, one of EMITS, or empty for the best form available. With
    `freeze`, the library is for a firmware.

    Raises UserError, and changes nothing, if the output folder is not a build or the program does
    not fit the board.
    """
    emit = chosen(board, emit, freeze)
    if emit == "bytecode" and program.config.get("tcp"):
        raise UserError("--tcp signs with machine code: --emit bytecode has none")
    check_output(output)
    program = program_deep_sleep.settled(program, board)
    arch = arch_of(board, emit)
    compiled = {path: mpy.compiled_program(path, arch).read_bytes() for path in user_files}
    user_bytes = sum(map(len, compiled.values()))
    library = fitting(ProgramLibrary(program, board, emit, freeze, tuple(user_files)), user_bytes)
    budget = budget_of(library, user_bytes)
    if not budget.fits and is_size_free and SIZE in program.parameters:
        size = bytes_beside(budget, program.parameters, board, program.learner)
        if size:
            program = replace(program, parameters={**program.parameters, SIZE: size})
            library = fitting(replace(library, program=program), user_bytes)
            budget = budget_of(library, user_bytes)
    if not budget.fits:
        frozen = "" if freeze else frozen_advice(program, board)
        raise UserError(f"The program does not fit: {_what_to_do(program, board, budget, frozen)}")
    if not budget.code_fits:
        ways = "" if freeze else _without_machine_code(program, board, user_files, user_bytes)
        raise UserError(f"The program fits the heap. {code_shortage(budget, ways)}")
    files = program.files() | {"main.py": _main_program(program, freeze)}
    files |= {f"lib/{path.stem}.mpy": data for path, data in compiled.items()}
    files |= library.files()
    write(files, output)
    sizes = {name: len(data) for name, data in sorted(files.items())}
    return Build(output, sizes, budget, emit, library.heap(), program)


def _without_machine_code(
    program: Program, board: Board, user_files: Sequence[Path], user_bytes: int
) -> str:
    """Return advice for a board without room for the kernels that have to be machine code."""
    plain = budget_of(
        ProgramLibrary(program, board, "bytecode", user_sources=tuple(user_files)), user_bytes
    )
    ways = ["`build --freeze`, which leaves it in flash"]
    if plain.fits and not program.config.get("tcp"):
        ways.append("`build --emit bytecode`, which has none and takes longer")
    return f"what fits is {', or '.join(ways)}."


def _what_to_do(program: Program, board: Board, budget: ram_budget.Budget, frozen: str) -> str:
    """Return the missing bytes and the option to lower; frozen is the text of frozen_advice()."""
    for name, what, lower in (
        ("pending", "samples that may wait for a label", "--pending"),
        ("target", "samples that wait for their target, and the lags,", "--horizon or --lags"),
    ):
        waits = sum(part.bytes for part in budget.of_program if part.name == name)
        if 2 * waits > budget.ram_bytes:
            lower = f"The {what} take {waits:,} of them: lower {lower}."
            return f"{shortage('it', budget)} {lower} {frozen}".rstrip()
    lower = options_to_lower(
        Deployment(program.parameters, board, program.learner), budget, frozen
    )
    saved = _SAVED if program.learner_state else ""
    return f"{shortage('it', budget)} {lower} {saved}".rstrip()


def _main_program(program: Program, freeze: bool) -> bytes:
    """Return the text of the program's main.py."""
    text = main_file().read_bytes()
    if not freeze:
        return text.replace(b"try:\n    from microshrub.device.program import", _IMPORT)
    return registration(program.learner) + text


def registration(learner: str) -> bytes:
    """Return the first lines of main.py with the whole library; none for included learners."""
    for each in user_learners():
        if each.name == learner:
            call = f"register({each.name!r}, {each.module!r})"
            return f"from microshrub.learners import register\n\n{call}\n\n".encode()
    return b""


def main_file() -> Path:
    """Return the path of every program's main.py. Raises UserError if the file is missing."""
    installed = Path(__file__).with_name("on_board") / "main.py"  # made by the wheel
    path = installed if installed.exists() else library_files.folder().parent / "main.py"
    if not path.exists():
        raise UserError(f"{path} is missing: install microshrub again")
    return path


def check_output(output: Path) -> None:
    """Raise UserError if the folder has other contents than a build, or cannot be made."""
    try:
        parent = files_on_disk.resolved(output).parent
    except UserError as error:
        raise UserError(f"--output {error}") from None
    if output.exists() and not is_build(output) and not _is_empty(output):
        raise UserError(
            f"--output {output}: there is something that is not a build; choose another folder"
        )
    existing = next(p for p in (parent, *parent.parents) if p.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise UserError(f"--output {output}: no folder can be made in {existing}")


def is_build(folder: Path) -> bool:
    """Return whether the folder holds a build, as make() writes it."""
    library = any((folder / mark).exists() for mark in _LIBRARIES)
    return library and all((folder / mark).exists() for mark in _MARKS)


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def write(files: dict[str, bytes], output: Path) -> None:
    """Write the files to a new folder, then move it to its place. Raises UserError."""
    target = files_on_disk.resolved(output)
    fresh = target.with_name(f".{target.name}-{secrets.token_hex(8)}")
    old = fresh.with_name(fresh.name + "-old")
    try:
        fresh.mkdir(parents=True)
        try:
            for name, data in files.items():
                path = fresh / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch(mode=0o600 if name == SECRETS else 0o666)
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
    """Return a build's files for the board, by path. Raises UserError if there is no build."""
    if not folder.exists():
        raise UserError(f"there is no {folder}. Make a build: microshrub build --board NAME ...")
    if not is_build(folder):
        raise UserError(f"{folder} is not a build. Make one: microshrub build --board NAME ...")
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] != FIRMWARE
    }
    try:
        _check_configuration(files[CONFIG])
        for name in _STATE.findall(files[CONFIG].decode()):
            if name not in files:
                raise ValueError(f"{CONFIG} names {name}, and there is no such file")
    except ValueError as error:
        raise UserError(f"{folder}: {error}. Build it again.") from None
    return files


def _check_configuration(data: bytes) -> None:
    """Raise ValueError for a config.json that no board accepts, as after editing by hand."""
    library = loader.load("python")
    try:
        learner = json.loads(data)["learner"]
    except (ValueError, KeyError, TypeError):
        learner = None  # the device's message is better
    except RecursionError:
        raise ValueError(f"{CONFIG} is damaged: it is nested too deeply") from None
    if isinstance(learner, str):
        model_files.class_of(library, learner)
    library.device.config.Configuration(data)
