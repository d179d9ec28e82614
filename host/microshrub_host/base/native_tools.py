"""C compilers that make the machine code of kernels.

The one for x86 is the system's. Those for boards are unpacked from Debian's packages, each once,
into the cache. Nothing is installed, and no root is needed.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import debian_packages
from .cache import cache_folder, work_folder
from .debian_packages import CommandError, PackagesError, Progress, silent
from .errors import UserError
from .files import alone

SOURCE_SUITE = "trixie"  # of MicroPython
TOOLS_SUITE = "bookworm"
LIBRARIES = ("libgmp10", "libisl23", "libmpc3", "libmpfr6", "libzstd1", "zlib1g")
HEADERS = ("libnewlib-dev",)  # of C, for compilers that bring none
# Folders of a compiler's libraries, for the cores of boards
_CORES = ("thumb/v6-m/", "thumb/v7-m/", "thumb/v7e-m+fp/hard/", "rv32imac/ilp32/")
ARM = ("gcc-arm-none-eabi", "binutils-arm-none-eabi")
RISCV = ("gcc-riscv64-unknown-elf", "binutils-riscv64-unknown-elf")
# of the ESP8266; it can write what the other ESPs' cores run, see _windowed()
XTENSA = ("gcc-xtensa-lx106", "binutils-xtensa-lx106")
MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
_OPTIONS = (
    *("-std=gnu99", "-Os", "-fwrapv", "-fno-pic", "-fno-common", "-ffreestanding"),
    # each function by itself, which others call directly
    *("-ffunction-sections", "-fvisibility=hidden", "-fno-asynchronous-unwind-tables"),
    # what would call memset() or a table of jumps, which a native module does not have
    *("-fno-tree-loop-distribute-patterns", "-fno-jump-tables", "-U_FORTIFY_SOURCE", "-w"),
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


PROCESSORS: Mapping[str, Processor] = {
    "x86": Processor((), "cc", ("-m32", "-fno-stack-protector")),
    "armv6m": Processor(ARM, "arm-none-eabi-gcc", ("-mthumb", "-mcpu=cortex-m0")),
    "armv7m": Processor(ARM, "arm-none-eabi-gcc", ("-mthumb", "-mcpu=cortex-m3")),
    "armv7emsp": Processor(
        ARM,
        "arm-none-eabi-gcc",
        ("-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    ),
    "rv32imc": Processor(
        RISCV, "riscv64-unknown-elf-gcc", ("-march=rv32imc", "-mabi=ilp32", "-mno-relax")
    ),
    "xtensawin": Processor(
        XTENSA,
        "xtensa-lx106-elf-gcc",
        ("-mabi=windowed", "-mno-serialize-volatile", "-Wa,--text-section-literals"),
    ),
}


@dataclass(frozen=True)
class NativeTools:
    """The compiler's command for one processor."""

    arch: str
    compiler: tuple[str, ...]

    def compile(self, c: str) -> bytes:
        """The object file of a text in C. Raises NoNativeTools with what the compiler says."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "native.c").write_text(c, encoding="utf-8")
            words = (*self.compiler, *_OPTIONS)
            _run((*words, "-S", "-o", "native.s", "native.c"), folder)
            text = (folder / "native.s").read_text(encoding="utf-8")
            (folder / "native.s").write_text(_assembly(self.arch, text), encoding="utf-8")
            _run((*words, "-c", "-o", "native.o", "native.s"), folder)
            return (folder / "native.o").read_bytes()


def _assembly(arch: str, text: str) -> str:
    """A compiler's text as the assembler is to have it."""
    if arch == "rv32imc":  # one instruction reaches all of a module
        text = re.sub(r"^\tcall\t", "\tjal\tra,", text, flags=re.MULTILINE)
        text = re.sub(r"^\ttail\t", "\tjal\tzero,", text, flags=re.MULTILINE)
    if arch == "xtensawin":
        text = re.sub(r"^\t(entry|retw\.n|retw|callx8|call8)\b(.*)", _windowed, text, flags=re.M)
    return text


def _windowed(instruction: re.Match[str]) -> str:
    """An instruction of cores with register windows, which the ESP8266's assembler has not.

    call8 becomes call0, which whoever links the file makes call8 again.
    """
    name, rest = instruction.groups()
    words = [int(number) for number in re.findall(r"\d+", rest.replace("sp", "a1"))]
    if name == "call8":
        return f"\tcall0{rest}"
    if name == "retw.n":
        return "\t.byte 0x1d, 0xf0"
    code = {"entry": 0x36, "retw": 0x90, "callx8": 0xE0}[name]
    if words:
        code |= words[0] << 8
    if name == "entry":
        code |= words[1] // 8 << 12
    return f"\t.byte {code & 0xFF}, {code >> 8 & 0xFF}, {code >> 16}"


def find_or_fetch(arch: str, progress: Progress | None = None) -> NativeTools:
    """The tools for an -march of mpy-cross, fetched into the cache if need be.

    `progress` gets a line of text before each step. Raises NoNativeTools.
    """
    if arch not in PROCESSORS:
        known = ", ".join(PROCESSORS)
        raise NoNativeTools(f"There are no native modules for {arch}, but for {known}")
    report = progress or silent
    try:
        root = compiler_root(PROCESSORS[arch].packages, report)
        return NativeTools(arch, _compiler(arch, root))
    except (PackagesError, CommandError, OSError) as error:
        reason = " ".join(str(error).split()).removesuffix(".")
        raise NoNativeTools(f"Native modules cannot be made here: {reason}") from error


def compiler_root(packages: tuple[str, ...], progress: Progress) -> Path:
    """The folder to which a compiler's packages, and C's headers, are unpacked."""
    wanted = (*packages, *(LIBRARIES if packages else ()), *HEADERS)

    def fetch(work: Path) -> Path:
        programs = ("arm-none-eabi-", "riscv64-unknown-elf-", "xtensa-lx106-elf-")
        return debian_packages.fetch(
            TOOLS_SUITE, wanted, work, progress, architecture=architecture(),
            wanted=functools.partial(is_of_tools, programs),
        )  # fmt: skip

    return kept("compiler", (TOOLS_SUITE, wanted, architecture(), _CORES), fetch)


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
    compiler_headers = _run((*program, "-print-file-name=include"), Path.cwd()).strip()
    return (*program, *processor.options, "-nostdinc", "-isystem", compiler_headers, *headers)


def kept(name: str, recipe: tuple[object, ...], fetch: Callable[[Path], Path]) -> Path:
    """A folder of the cache that fetch() makes in a work folder, once."""
    if recipe[0] is not SOURCE_SUITE:
        debian_packages.check_machine(tuple(MACHINES))
    digest = hashlib.sha256(repr(recipe).encode()).hexdigest()[:12]
    place = cache_folder(f"{name}-{digest}")
    target = place / "root"
    if target.is_dir():
        return target
    with alone(place / "lock", _SECONDS), work_folder(place) as work:
        if not target.is_dir():
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


def is_of_tools(programs: tuple[str, ...], name: str) -> bool:
    """Whether to unpack a file of the packages: libraries, headers, the programs whose names begin
    so, and of a compiler what C needs, with its libraries for the cores of boards.
    """
    if name.startswith("usr/lib/gcc/"):
        inside = name.split("/", 5)[-1]
        parts = ("include/", "include-fixed/", "liblto_plugin", *_CORES)
        return inside.startswith(parts) or inside in ("cc1", "collect2")
    places = ("lib/", "usr/lib/", "usr/include/newlib/")
    return name.startswith((*places, *(f"usr/bin/{program}" for program in programs)))


def _run(command: tuple[str, ...], folder: Path) -> str:
    try:
        return debian_packages.run(command, _SECONDS, folder)
    except CommandError as error:
        name = next(Path(word).name for word in command if "=" not in word and word != "env")
        raise NoNativeTools(f"{name} failed: {error.last_line}") from error
