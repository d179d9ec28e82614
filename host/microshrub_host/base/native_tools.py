"""C compilers that make the machine code of kernels.

The compiler for x86 is the system's. The compilers for boards are unpacked once from Debian's
packages, into the cache. Nothing is installed, and no root is needed.
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

SOURCE_SUITE = "trixie"  # for MicroPython's source
TOOLS_SUITE = "bookworm"
LIBRARIES = ("libgmp10", "libisl23", "libmpc3", "libmpfr6", "libzstd1", "zlib1g")
HEADERS = ("libnewlib-dev",)  # C's headers, for compilers without any
# Folders of a compiler's libraries for the boards' cores
_CORES = ("thumb/v6-m/", "thumb/v7-m/", "thumb/v7e-m+fp/hard/", "rv32imac/ilp32/")
ARM = ("gcc-arm-none-eabi", "binutils-arm-none-eabi")
RISCV = ("gcc-riscv64-unknown-elf", "binutils-riscv64-unknown-elf")
# The ESP8266's compiler; it can also write code for the other ESPs' cores, see _windowed()
XTENSA = ("gcc-xtensa-lx106", "binutils-xtensa-lx106")
MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
_OPTIONS = (
    *("-std=gnu99", "-Os", "-fwrapv", "-fno-pic", "-fno-common", "-ffreestanding"),
    # functions in separate sections, with direct calls
    *("-ffunction-sections", "-fvisibility=hidden", "-fno-asynchronous-unwind-tables"),
    # no memset() and no jump tables, which a native module lacks
    *("-fno-tree-loop-distribute-patterns", "-fno-jump-tables", "-U_FORTIFY_SOURCE", "-w"),
)
_SECONDS = 300


class NoNativeTools(UserError):  # noqa: N818, a state of affairs, like StopIteration
    """No native module can be made on this machine for this processor; the message says why."""


@dataclass(frozen=True)
class Processor:
    """A processor of boards: Debian's packages of a compiler, the program, and its options."""

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
    """A compiler's command for one processor."""

    arch: str
    compiler: tuple[str, ...]

    def compile(self, c: str) -> bytes:
        """Compile C to an object file. Raises NoNativeTools with the compiler's message."""
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
    """Return a compiler's output, adapted for the assembler."""
    if arch == "rv32imc":  # one instruction reaches a whole module
        text = re.sub(r"^\tcall\t", "\tjal\tra,", text, flags=re.MULTILINE)
        text = re.sub(r"^\ttail\t", "\tjal\tzero,", text, flags=re.MULTILINE)
    if arch == "xtensawin":
        text = re.sub(r"^\t(entry|retw\.n|retw|callx8|call8)\b(.*)", _windowed, text, flags=re.M)
    return text


def _windowed(instruction: re.Match[str]) -> str:
    """Encode an instruction for register windows, which the ESP8266's assembler does not know.

    call8 becomes call0, which the linker turns back into call8.
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
    """Return the tools for an -march of mpy-cross, fetched into the cache if need be.

    `progress` receives a line of text before each step. Raises NoNativeTools if that fails.
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
    """Return the folder with a compiler's unpacked packages and C's headers."""
    wanted = (*packages, *(LIBRARIES if packages else ()), *HEADERS)

    def fetch(work: Path) -> Path:
        programs = ("arm-none-eabi-", "riscv64-unknown-elf-", "xtensa-lx106-elf-")
        return debian_packages.fetch(
            TOOLS_SUITE, wanted, work, progress, architecture=architecture(),
            wanted=functools.partial(is_of_tools, programs),
        )  # fmt: skip

    return kept("compiler", (TOOLS_SUITE, wanted, architecture(), _CORES), fetch)


def with_libraries(root: Path) -> tuple[str, ...]:
    """Return the words before a command that needs the unpacked libraries in that folder."""
    triplet = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[architecture()]
    folders = (root / "usr" / "lib" / triplet, root / "lib" / triplet)
    return ("env", "LD_LIBRARY_PATH=" + ":".join(map(str, folders)))


def architecture() -> str:
    """Return this machine's architecture by Debian's name."""
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
    """Return a folder of the cache; fetch() makes the folder once, in a work folder."""
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
    """Rename a folder, unless a faster process has already put one in place."""
    try:
        fresh.rename(target)
    except OSError:
        if not target.is_dir():
            raise


def is_of_tools(programs: tuple[str, ...], name: str) -> bool:
    """Return whether to unpack a file of the packages.

    Libraries, headers and the programs with these prefixes are unpacked, and the compiler's files
    for C, with the libraries for the boards' cores.
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
