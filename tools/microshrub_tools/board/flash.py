"""Copies a build to a board, which starts the old program or the new one, whatever happens.

Each program has a folder of its own on the board, and main.py starts the newest:

    main.py             LOADER
    microshrub.0007     a build: main.py, config.json, states, lib/microshrub unless it is frozen,
                        and rom.py if the library is in ROM as well: see rom_library.py
    new.microshrub      a build that is being copied

Copy, compare, self-test, and only then rename new.microshrub to microshrub.0008. An existing
main.py is kept as main.old, and is replaced last, by a rename. A rename is one step in littlefs;
FAT needs two, between which there is no main.py, on the first flash only.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import importlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from microshrub_host.base.errors import UserError
from microshrub_host.library import loader
from microshrub_host.models import model_files

from ..link.serial_line import Line
from . import flash_memory, rom_library
from .board_code import HELPERS, LOADER, SELFTEST, START, TRIAL
from .board_repl import RaisedError

_NEW = "new.microshrub"
_SLOT = re.compile(r"microshrub\.\d{4}")
_FAILED = {"tested", "tried"}  # files that mark a program that did not come up, see board_code
_STATE_FILES = ("config.json", ".state")  # the files that a checkpoint belongs to
_CHUNK = 1536  # bytes sent at once, a multiple of 3 for base64
_NO_SPACE = re.compile(r"OSError: (\[Errno )?28\b")
_SELFTEST_SECONDS = 300.0
SAMPLES = 200  # samples of the self-test
ARCHITECTURES = (
    *("", "x86", "x64", "armv6", "armv6m", "armv7m", "armv7em", "armv7emsp", "armv7emdp"),
    *("xtensa", "xtensawin", "rv32imc", "rv64imc"),
)
_THUMB = range(4, 9)  # each of these architectures also runs the code of the ones before it
_NO_LIBRARY = "no module named 'microshrub'"
_NEEDS_FIRMWARE = (
    "The build is for a MicroPython with microshrub in its firmware, and this board's has none. "
    "Build one with firmware/manifest.py of the build, and install it; or build the program "
    "without --freeze. The board's program is unchanged."
)

Files = Mapping[str, bytes]
Update = Callable[[int, int], object]


class Runs(Protocol):
    """A board that runs code: see board_repl.Device."""

    def reset(self) -> None:
        """Do a soft reset, without main.py."""

    def run(self, code: str, seconds: float = ...) -> str:
        """Run the code and return its output."""

    def value(self, expression: str, seconds: float = ...) -> Any:
        """Return the value of the expression."""


class Starts(Runs, Protocol):
    """A board that can also start a program."""

    def begin(self, code: str) -> Line:
        """Start code that keeps running; return the line to the code."""


@dataclass(frozen=True)
class SelfTest:
    """The result of the self-test: the model's CRC32, its time (0 us without a clock) and memory.

    rom_bytes is the library's size in the board's ROM file system; if it is 0, not_in_rom gives
    the reason, after a flash over a cable.
    """

    crc32: int
    microseconds: int  # a sample
    free_before: int  # bytes of heap before any import
    free_after: int  # with the library, the model and its quantizer
    rom_bytes: int = 0
    not_in_rom: str = ""


def _quiet(done: int, total: int) -> None:
    """Ignore the progress."""


def flash(device: Runs, files: Files, update: Update = _quiet) -> SelfTest:
    """Put a build on the board and switch to it. Raises UserError.

    After each step the board starts its previous program or, after the last ones, the new one.
    """
    wanted = expected_crc32(files)  # first, as it may be refused
    prepare(device)
    check_fit(device, files)
    copy(device, files, update)
    verify(device, files)
    rom = put_into_rom(device, files)
    result = selftest(device, wanted)
    take_checkpoint_along(device)
    switch(device)
    return replace(result, rom_bytes=rom.size, not_in_rom=rom.why_not)


def try_out(device: Runs, files: Files, update: Update = _quiet) -> SelfTest:
    """Copy a build to the board and test it there; the board keeps its program.

    leave_no_trace() removes the build. Raises UserError.
    """
    wanted = expected_crc32(files)
    leave_no_trace(device)
    check_fit(device, files)
    copy(device, files, update)
    verify(device, files)
    return selftest(device, wanted)


def leave_no_trace(device: Runs) -> None:
    """Remove a build that was tried out."""
    device.run(HELPERS)
    remove(device, _NEW)


def start_tried(device: Starts) -> Line:
    """Start the build that was tried out; return the line to its program."""
    device.reset()
    return device.begin(START % _NEW)


def prepare(device: Runs) -> None:
    """Send the helpers to the board, and remove the remains of interrupted flashes."""
    device.run(HELPERS)
    remove(device, _NEW)
    for slot in slots(device)[:-1]:
        remove(device, slot)
    for name, _ in device.value("listing('.')"):
        if _SLOT.fullmatch(name) and _FAILED & set(dict(device.value(f"listing({name!r})"))):
            remove(device, name)


def slots(device: Runs) -> list[str]:
    """Return the programs' folders, oldest first."""
    names: list[str] = device.value("programs()")
    return names


def remove(device: Runs, path: str) -> None:
    """Remove a folder with its contents, if it exists; main.py, the mark of a program, is last."""
    above, _, name = path.rpartition("/")
    if name not in dict(device.value(f"listing({above or '.'!r})")):
        return
    inside: list[tuple[str, int]] = device.value(f"listing({path!r})")
    for inner, mode in sorted(inside, key=lambda entry: entry[0] == "main.py"):
        if mode & 0x4000:
            remove(device, f"{path}/{inner}")
        else:
            device.run(f"feed(); os.remove({path + '/' + inner!r})")
    device.run(f"os.rmdir({path!r})")


def check_fit(device: Runs, files: Files) -> None:
    """Raise UserError if the board cannot load a file, or has too little space for all."""
    has = device.value("getattr(sys.implementation, '_mpy', 0)")
    result = has >> 10 & 0xF
    for name, data in files.items():
        if name.endswith(".mpy"):
            if data[1] != has & 0xFF:
                raise UserError(
                    "The MicroPython of this board does not load .mpy files of version "
                    f"{data[1]}, which the build has"
                )
            needs, version = data[2] >> 2 & 0xF, data[2] & 3
            runs_it = needs in _THUMB and result in _THUMB and needs <= result
            if needs not in (0, result) and not runs_it:
                runs = architecture(result) or "no machine code"
                raise UserError(
                    f"The build is for {architecture(needs)}, and this board runs {runs}. Build "
                    "it for this --board, or with --emit bytecode."
                )
            if needs and version != has >> 8 & 3:
                raise UserError(
                    "The MicroPython of this board loads machine code of another version than "
                    "the build has: install MicroPython 1.23 or newer, or build with --emit "
                    "bytecode."
                )
    block, _, _, free = device.value("os.statvfs('.')")[:4]
    need = flash_memory.blocks({name: len(data) for name, data in files.items()}, block)
    if need > free:
        raise UserError(
            f"The program needs {need * block:,} bytes of the board's flash, and there are "
            f"{free * block:,} free: the old one stays until the new one runs. Remove files from "
            "the board (mpremote connect PORT rm -r :NAME)."
        )


def architecture(number: int) -> str:
    """Return the name of an architecture by its number in sys.implementation._mpy."""
    return ARCHITECTURES[number] if number < len(ARCHITECTURES) else f"number {number}"


def copy(device: Runs, files: Files, update: Update = _quiet) -> None:
    """Copy the files to the folder of the new program."""
    total, done = sum(map(len, files.values())), 0
    folders = {_NEW}
    for name in files:
        parts = f"{_NEW}/{name}".split("/")[:-1]
        folders |= {"/".join(parts[: k + 1]) for k in range(len(parts))}
    for folder in sorted(folders):
        device.run(f"os.mkdir({folder!r})")
    for name, data in files.items():
        write(device, f"{_NEW}/{name}", data)
        done += len(data)
        update(done, total)


def write(device: Runs, path: str, data: bytes) -> None:
    """Write a file. Raises UserError if there is no space for it."""
    try:
        device.run(f"f = open({path!r}, 'wb')")
        for at in range(0, len(data), _CHUNK):
            text = base64.b64encode(data[at : at + _CHUNK]).decode()
            device.run(f"write(f, '{text}')")
        device.run("f.close()")
    except RaisedError as error:
        if _NO_SPACE.search(error.text):
            raise UserError(
                f"The board's flash is full ({path}). Remove files from it (mpremote connect PORT "
                "rm -r :NAME); it still has its previous program."
            ) from None
        raise


def verify(device: Runs, files: Files) -> None:
    """Raise UserError unless every file has the same SHA-256 on the board as in the build."""
    for name, data in files.items():
        _same(device, f"{_NEW}/{name}", data)


def put_into_rom(device: Runs, files: Files) -> rom_library.RomLibrary:
    """Put the library into the board's ROM file system as well, if there is room."""
    library = rom_library.put(device, files)
    if library.program:
        path = f"{_NEW}/{rom_library.PROGRAM}"
        write(device, path, library.program)
        _same(device, path, library.program)
    return library


def _same(device: Runs, path: str, data: bytes) -> None:
    if device.value(f"digest({path!r})") != hashlib.sha256(data).hexdigest():
        raise UserError(
            f"{path} did not arrive on the board as it was sent. Flash again; if this persists, "
            "the board's flash or the cable is damaged. The board still has its previous program."
        )


def expected_crc32(files: Files) -> int:
    """Return the CRC32 of the simulator's self-test for the build's model. Raises UserError."""
    config = json.loads(files["config.json"])
    library = loader.load("python")
    try:
        learner_class = model_files.class_of(library, config["learner"])
    except ValueError as error:
        raise UserError(str(error)) from None
    model = learner_class(**config["parameters"])
    test = importlib.import_module(f"{library.__name__}.device.selftest")
    if config["warmup"] is None:
        quantizer = library.GrowingQuantizer(model.features, (model,))
    else:
        quantizer = library.Quantizer(model.features)
    crc, _ = test.selftest(model, quantizer, lambda: 0)
    return int(crc)


def selftest(device: Runs, wanted: int) -> SelfTest:
    """Let the new program's library learn on the board, and compare the model's CRC32.

    Raises UserError if the self-test fails.
    """
    device.reset()
    device.run(HELPERS)
    try:
        output = device.run(SELFTEST % _NEW, _SELFTEST_SECONDS)
        crc, took, before, after = ast.literal_eval(output.strip())
    except UserError as error:
        if _NO_LIBRARY in str(error):
            raise UserError(_NEEDS_FIRMWARE) from error
        raise UserError(
            f"The self-test failed: {error}. The board's program is unchanged."
        ) from error
    if crc != wanted:
        raise UserError(
            f"The self-test failed: the board's model has the checksum {crc:08x}, and the "
            f"simulator's {wanted:08x}. The board's program is unchanged. Please report it, with "
            "the board's name and the version of its MicroPython."
        )
    return SelfTest(crc, round(took / SAMPLES), before, after)


def take_checkpoint_along(device: Runs) -> None:
    """Copy the checkpoints of the same configuration and the same states to the new program."""
    before = slots(device)
    if not before:
        return
    old = before[-1]
    names = [name for name, mode in device.value(f"listing({old!r})") if not mode & 0x4000]
    fresh = [name for name, mode in device.value(f"listing({_NEW!r})") if not mode & 0x4000]
    for name in {*names, *fresh}:
        if name.endswith(_STATE_FILES):
            if name not in names or name not in fresh:
                return
            if device.value(f"digest('{old}/{name}') != digest('{_NEW}/{name}')"):
                return
    for name in names:
        if name.startswith("checkpoint."):
            device.run(f"copy('{old}/{name}', '{_NEW}/{name}')")


def put_on_trial(device: Runs, files: Files) -> None:
    """Have the board test the new program at its start; if that fails, the previous one starts."""
    trial = (HELPERS + TRIAL % expected_crc32(files)).encode()
    write(device, f"{_NEW}/trial.py", trial)
    _same(device, f"{_NEW}/trial.py", trial)
    write(device, f"{_NEW}/trial", b"")


def switch(device: Runs, *, keep: bool = False) -> None:
    """Switch from the previous program to the new one; after each step, one of the two starts.

    keep: the previous program is not removed.
    """
    device.run(f"install({_NEW!r})")
    data = LOADER.encode()
    names = dict(device.value("listing('.')"))
    if "main.py" not in names or (
        device.value("digest('main.py')") != hashlib.sha256(data).hexdigest()
    ):
        if "main.py" in names:
            device.run("keep_main()")
        write(device, "main.new", data)
        _same(device, "main.new", data)
        try:
            device.run("os.rename('main.new', 'main.py')")
        except RaisedError:  # FAT does not replace a file
            device.run("os.remove('main.py'); os.rename('main.new', 'main.py')")
    for slot in slots(device)[: 0 if keep else -1]:
        remove(device, slot)
