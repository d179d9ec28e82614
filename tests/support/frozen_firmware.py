"""An emulated board whose MicroPython has files frozen into it, as its own build does that.

The source, the compiler and what was compiled are kept in the cache, so that only what is frozen
is compiled again.
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from microshrub_host.base.cache import cache_folder
from microshrub_host.emulation import firmware_build
from microshrub_host.emulation.emulated_boards import WAYS, Emulator, NoEmulator
from microshrub_host.fetch import native_tools
from microshrub_host.fetch.debian_packages import CommandError, PackagesError, Progress, silent

if sys.platform != "win32":
    import fcntl


def with_frozen(
    emulator: Emulator, manifest: Path, elf: Path, progress: Progress = silent
) -> Emulator:
    """The board with a firmware, written to `elf`, into which a manifest's files are frozen.

    Raises NoEmulator with what is missing, or with what MicroPython's build says.
    """
    board = emulator.board
    try:
        tools = native_tools.compiler_root(native_tools.PROCESSORS[board.arch].packages, progress)
        source = native_tools.kept(
            "micropython-qemu-source",
            (native_tools.SOURCE_SUITE, firmware_build.SOURCES),
            lambda work: firmware_build.fetch_source(work, progress),
        )
        with _own_folder(f"micropython-qemu-build-{board.name}") as build:
            progress(f"compiling MicroPython for the {board.name}")
            made = firmware_build.compile_firmware(
                board.port,
                board.flags,
                board.family.compiler,
                board.family.heap_bytes,
                source,
                tools,
                build,
                manifest.resolve(),
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


@contextmanager
def _own_folder(name: str) -> Iterator[Path]:
    """A folder of the cache that no other process uses meanwhile."""
    folder = cache_folder(name)
    with (folder / "lock").open("w") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder / "build"
