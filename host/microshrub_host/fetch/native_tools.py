"""What makes a native module of MicroPython: C compilers, and MicroPython's headers and linker.

The C compiler for x86 is the system's. Those for boards are unpacked from Debian's packages, and
MicroPython's `py/` and `tools/mpy_ld.py` from Debian's source package, each once, into the cache.
Nothing is installed, and no root is needed.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..base.cache import cache_folder, work_folder
from ..base.errors import UserError
from . import debian_packages
from .debian_packages import CommandError, PackagesError, Progress, silent

SOURCE_SUITE = "trixie"  # its MicroPython's .mpy files are of version 6.3, as all up to now
TOOLS_SUITE = "bookworm"
LIBRARIES = ("libgmp10", "libisl23", "libmpc3", "libmpfr6", "libzstd1", "zlib1g")
HEADERS = ("libnewlib-dev",)  # of C, for compilers that bring none
ARM = ("gcc-arm-none-eabi", "binutils-arm-none-eabi")
RISCV = ("gcc-riscv64-unknown-elf", "binutils-riscv64-unknown-elf")
MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
_SOURCES = ("py/", "tools/mpy_ld.py", "tools/mpy-tool.py", "tools/ar_util.py")
_OPTIONS = (
    *("-std=gnu99", "-O2", "-fwrapv", "-fpic", "-fno-common"),
    # what would call memset() or a table of jumps, which a native module does not have
    *("-fno-tree-loop-distribute-patterns", "-fno-jump-tables", "-U_FORTIFY_SOURCE"),
    *("-DNDEBUG", "-DNO_QSTR", "-DMICROPY_ENABLE_DYNRUNTIME", "-w"),
)
_SECONDS = 300


class NoNativeTools(UserError):  # noqa: N818, a state of affairs, like StopIteration
    """No native module can be made here for this processor; the message says why."""


@dataclass(frozen=True)
class Processor:
    """A processor of boards: Debian's packages of its compiler, the compiler, its options."""

    packages: tuple[str, ...]
    program: str
    options: tuple[str, ...]
    floats: str = "NONE"  # as MicroPython is built for it


PROCESSORS: Mapping[str, Processor] = {
    "x86": Processor((), "cc", ("-m32", "-fno-stack-protector"), "DOUBLE"),
    "armv6m": Processor(ARM, "arm-none-eabi-gcc", ("-mthumb", "-mcpu=cortex-m0")),
    "armv7m": Processor(ARM, "arm-none-eabi-gcc", ("-mthumb", "-mcpu=cortex-m3")),
    "armv7emsp": Processor(
        ARM,
        "arm-none-eabi-gcc",
        ("-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
        "FLOAT",
    ),
    "rv32imc": Processor(
        RISCV, "riscv64-unknown-elf-gcc", ("-march=rv32imc", "-mabi=ilp32", "-mno-relax")
    ),
}


@dataclass(frozen=True)
class NativeTools:
    """The compiler's command for one processor, and MicroPython's sources."""

    arch: str
    compiler: tuple[str, ...]
    sources: Path

    def build(self, c: str) -> bytes:
        """The .mpy of a native module. Raises NoNativeTools with what the tools say."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "native.c").write_text(c, encoding="utf-8")
            self._link(folder, "--preprocess", "-o", "native.config.h", "native.c")
            words = (*self.compiler, "-I.", f"-I{self.sources}", *_OPTIONS)
            floats = f"MICROPY_FLOAT_IMPL_{PROCESSORS[self.arch].floats}"
            config = ("-DMP_CONFIGFILE=<native.config.h>", f"-DMICROPY_FLOAT_IMPL={floats}")
            _run((*words, *config, "-c", "-o", "native.o", "native.c"), folder)
            self._link(folder, "--qstrs", "native.config.h", "-o", "native.mpy", "native.o")
            return (folder / "native.mpy").read_bytes()

    def recipe(self) -> tuple[object, ...]:
        """What a module depends on beside its C."""
        program = Path(shutil.which(self.compiler[0]) or self.compiler[0]).resolve().stat()
        return (self.arch, self.compiler, _OPTIONS, SOURCE_SUITE, program.st_size)

    def _link(self, folder: Path, *words: str) -> None:
        linker = str(self.sources / "tools" / "mpy_ld.py")
        _run((sys.executable, linker, "--arch", self.arch, *words), folder)


def find_or_fetch(arch: str, progress: Progress | None = None) -> NativeTools:
    """The tools for an -march of mpy-cross, fetched into the cache if need be.

    `progress` gets a line of text before each step. Raises NoNativeTools.
    """
    if arch not in PROCESSORS:
        known = ", ".join(PROCESSORS)
        raise NoNativeTools(f"There are no native modules for {arch}, but for {known}")
    if _no_linker():
        raise NoNativeTools(_no_linker())
    said = progress or silent
    try:
        root = compiler_root(PROCESSORS[arch].packages, said)
        return NativeTools(arch, _compiler(arch, root), _sources(said))
    except (PackagesError, CommandError, OSError) as error:
        reason = " ".join(str(error).split()).removesuffix(".")
        raise NoNativeTools(f"Native modules cannot be made here: {reason}") from error


def compiler_root(packages: tuple[str, ...], progress: Progress) -> Path:
    """The folder to which a compiler's packages, and C's headers, are unpacked."""
    wanted = (*packages, *(LIBRARIES if packages else ()), *HEADERS)

    def fetch(work: Path) -> Path:
        programs = ("arm-none-eabi-", "riscv64-unknown-elf-")
        return debian_packages.fetch(
            TOOLS_SUITE, wanted, work, progress, architecture=architecture(),
            wanted=functools.partial(is_of_tools, programs, ("thumb/v6-m/", "thumb/v7-m/")),
        )  # fmt: skip

    return kept("compiler", (TOOLS_SUITE, wanted, architecture()), fetch)


def with_libraries(root: Path) -> tuple[str, ...]:
    """What stands before a command that needs the libraries unpacked to that folder."""
    triplet = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[architecture()]
    folders = (root / "usr" / "lib" / triplet, root / "lib" / triplet)
    return ("env", "LD_LIBRARY_PATH=" + ":".join(map(str, folders)))


def architecture() -> str:
    """This machine's, as Debian calls it."""
    return MACHINES.get(platform.machine().lower(), "amd64")


def _compiler(arch: str, root: Path) -> tuple[str, ...]:
    processor = PROCESSORS[arch]
    headers = ("-idirafter", str(root / "usr" / "include" / "newlib"))
    if processor.packages:
        program = (*with_libraries(root), str(root / "usr" / "bin" / processor.program))
        return (*program, *processor.options, *headers)
    program = (os.environ.get("CC") or processor.program,)
    if shutil.which(program[0]) is None:
        raise NoNativeTools(f"There is no C compiler for {arch} here ({program[0]})")
    own = _run((*program, "-print-file-name=include"), Path.cwd()).strip()
    return (*program, *processor.options, "-nostdinc", "-isystem", own, *headers)


def _sources(progress: Progress) -> Path:
    def fetch(work: Path) -> Path:
        return debian_packages.fetch_source(
            SOURCE_SUITE, "micropython", work, progress, lambda name: name.startswith(_SOURCES)
        )

    return kept("micropython-source", (SOURCE_SUITE, _SOURCES), fetch)


def kept(name: str, recipe: tuple[object, ...], fetch: Callable[[Path], Path]) -> Path:
    """A folder of the cache that fetch() makes in a work folder, once."""
    if recipe[0] is not SOURCE_SUITE:
        debian_packages.check_machine(tuple(MACHINES))
    digest = hashlib.sha256(repr(recipe).encode()).hexdigest()[:12]
    place = cache_folder(f"{name}-{digest}")
    target = place / "root"
    if not target.is_dir():
        with work_folder(place) as work:
            inner = work / "fetched"
            inner.mkdir()
            put_in_place(fetch(inner), target)
    return target


def put_in_place(fresh: Path, target: Path) -> None:
    """Rename a folder, unless another process was faster and it is already there."""
    try:
        fresh.rename(target)
    except OSError:
        if not target.is_dir():
            raise


def is_of_tools(programs: tuple[str, ...], libraries: tuple[str, ...], name: str) -> bool:
    """Whether to unpack a file of the packages: libraries, headers, the programs whose names begin
    so, and of a compiler what C needs, with those folders of its libraries.
    """
    if name.startswith("usr/lib/gcc/"):
        inside = name.split("/", 5)[-1]
        parts = ("include/", "include-fixed/", "liblto_plugin", *libraries)
        return inside.startswith(parts) or inside in ("cc1", "collect2")
    places = ("lib/", "usr/lib/", "usr/include/newlib/")
    return name.startswith((*places, *(f"usr/bin/{program}" for program in programs)))


@functools.cache
def _no_linker() -> str:
    """Why MicroPython's linker cannot run; empty if it can."""
    try:
        import elftools  # noqa: F401
    except ImportError:
        return "The linker of native modules needs pyelftools: pip install 'microshrub[native]'"
    return ""


def _run(command: tuple[str, ...], folder: Path) -> str:
    try:
        return debian_packages.run(command, _SECONDS, folder)
    except CommandError as error:
        name = next(Path(word).name for word in command if "=" not in word and word != "env")
        raise NoNativeTools(f"{name} failed: {error.last_line}") from error
