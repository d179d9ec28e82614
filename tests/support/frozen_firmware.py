"""An emulated board with its own firmware: with frozen files, or with a ROM partition.

Compiled files are kept in the cache, so only new ones are compiled.
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from microshrub_host.base.cache import cache_folder
from microshrub_host.base.debian_packages import CommandError, PackagesError, Progress, silent
from microshrub_host.boards import firmware_build
from microshrub_host.boards.emulated_boards import FILES_BYTES, WAYS, Emulator, NoEmulator

if sys.platform != "win32":
    import fcntl

ROM_BYTES = 131_072  # the smallest ROM partition in a stock firmware, an nRF52840's


def with_frozen(
    emulator: Emulator, manifest: Path, elf: Path, progress: Progress = silent
) -> Emulator:
    """Return the board with a firmware, written to `elf`, that has a manifest's files frozen in.

    Raises NoEmulator, with the missing program or with the error of MicroPython's build.
    """
    return _with_firmware(emulator, elf, progress, emulator.board.port, manifest.resolve())


def with_rom(
    emulator: Emulator, elf: Path, rom_bytes: int = ROM_BYTES, progress: Progress = silent
) -> Emulator:
    """Return the board with a firmware, written to `elf`, that has a ROM partition.

    Raises NoEmulator, as with_frozen() does.
    """
    port = f"{emulator.board.port}_ROM_{rom_bytes}"
    return _with_firmware(emulator, elf, progress, port, rom_bytes=rom_bytes)


def _with_firmware(
    emulator: Emulator,
    elf: Path,
    progress: Progress,
    port: str,
    manifest: Path | None = None,
    rom_bytes: int = 0,
) -> Emulator:
    board = emulator.board
    name = f"{board.name}-rom" if rom_bytes else board.name
    try:
        with _locked_folder(f"micropython-qemu-build-{name}") as build:
            if rom_bytes:
                _add_rom_board(emulator, firmware_build.source(progress), port, rom_bytes)
            made = firmware_build.compile_firmware(
                port,
                board.flags,
                board.family.compiler,
                board.family.heap_bytes,
                build,
                progress,
                manifest,
            )
            shutil.copyfile(made, elf)
    except PackagesError as error:
        raise NoEmulator(error.with_advice(WAYS)) from error
    except (CommandError, OSError) as error:
        raise NoEmulator(f"The emulated {board.name} cannot be made: {error}") from error
    command = tuple(
        str(elf) if word == str(emulator.firmware) else word for word in emulator.command
    )
    return dataclasses.replace(emulator, command=command, firmware=elf)


def _add_rom_board(emulator: Emulator, source: Path, port: str, rom_bytes: int) -> None:
    """Add the board with a ROM partition to ports/qemu, in the memory behind the board's files."""
    board = emulator.board
    like = source / "ports" / "qemu" / "boards" / board.port / "mpconfigboard.mk"
    files = {
        "config.h": '#include "mpconfigport.h"\n#undef MICROPY_VFS_ROM_IOCTL\n'
        "#define MICROPY_VFS_ROM_IOCTL (1)\n",
        "rom_board.c": Path(__file__).with_name("rom_board.c").read_text(encoding="utf-8"),
    }
    firmware_build.add_board(
        source,
        port,
        f"{like.read_text()}\n"
        f"CFLAGS += -DMP_CONFIGFILE='\"boards/{port}/config.h\"'\n"
        f"CFLAGS += -DROM_AT={board.files_at + FILES_BYTES:#x} -DROM_BYTES={rom_bytes}\n"
        f"SRC_C += boards/{port}/rom_board.c\n",
        **files,
    )


@contextmanager
def _locked_folder(name: str) -> Iterator[Path]:
    """A folder of the cache, locked against other processes."""
    folder = cache_folder(name)
    with (folder / "lock").open("w") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder / "build"
