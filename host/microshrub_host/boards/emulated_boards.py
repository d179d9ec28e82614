"""MicroPython for boards that QEMU emulates: a Cortex-M0, M3, M4 and M7, and an RV32.

`find()` looks for QEMU on PATH and in the cache, and for the firmware in the cache;
`find_or_build()` makes the missing parts, once: QEMU and a cross compiler are unpacked from
Debian's packages, and MicroPython's qemu port is compiled from Debian's source package. Nothing is
installed, and no root is needed.

The compiler is always the same one, from a Debian release that newer systems can also run, so the
firmware takes the same number of instructions on every machine.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from ..base import debian_packages, native_tools
from ..base.cache import cache_folder, work_folder
from ..base.debian_packages import CommandError, PackagesError, Progress, silent
from ..base.errors import UserError
from ..base.files import alone
from . import firmware_build
from .firmware_build import HEAP_BYTES, Compiler

VERSION = "1.25.0"  # version of MicroPython in SOURCE_SUITE
_QEMU = (
    "libaio1", "libblkid1", "libbpf1", "libcapstone4", "libdaxctl1", "libelf1",
    "libfdt1", "libffi8", "libfuse3-3", "libgcc-s1", "libglib2.0-0", "libgmp10", "libgnutls30",
    "libhogweed6", "libibverbs1", "libidn2-0", "libjpeg62-turbo", "libkmod2", "liblzma5",
    "libmount1", "libndctl6", "libnettle8", "libnl-3-200", "libnl-route-3-200", "libnuma1",
    "libp11-kit0", "libpcre2-8-0", "libpixman-1-0", "libpmem1", "libpng16-16", "librdmacm1",
    "libsasl2-2", "libseccomp2", "libselinux1", "libslirp0", "libssl3", "libtasn1-6", "libudev1",
    "libunistring2", "liburing2", "libuuid1", "libvdeplug2", "libzstd1", "zlib1g",
)  # fmt: skip

_PATIENCE = 900  # seconds to wait for another process that makes the same files
FILES_BYTES = 512 * 1024  # RAM for a board's files, beyond its own RAM
WAYS = (
    "`microshrub micropython --board NAME` builds it, once. It needs Linux on x86 or 64-bit ARM, "
    "apt-get, Debian's mirror, `make`, and a minute or two, but no root."
)


class NoEmulator(UserError):  # noqa: N818, a state of affairs, like StopIteration
    """There is no emulated board; the message names the attempts, and what to do."""


@dataclass(frozen=True)
class Family:
    """Processors with the same QEMU and the same compiler, and Debian's packages of both."""

    qemu: str
    qemu_packages: tuple[str, ...]
    compiler: Compiler
    heap_bytes: int = HEAP_BYTES  # MicroPython's heap
    with_floats: bool = False  # whether there are instructions for floats


ARM = Family(
    "qemu-system-arm",
    ("qemu-system-arm", *_QEMU),
    Compiler("arm-none-eabi", native_tools.ARM),
)
ARM_FLOATS = Family(  # with a floating-point unit
    "qemu-system-arm",
    ("qemu-system-arm", *_QEMU),
    Compiler("arm-none-eabi", native_tools.ARM),
    with_floats=True,
)
RISCV = Family(
    "qemu-system-riscv32",
    ("qemu-system-misc", *_QEMU),
    Compiler("riscv64-unknown-elf", native_tools.RISCV),
    448 * 1024,  # the machine code is larger, and an RP2350 has more RAM
)


@dataclass(frozen=True)
class Machine:
    """An emulated board: `arch` for mpy-cross, and settings for QEMU and MicroPython's build."""

    name: str
    arch: str
    port: str  # BOARD of ports/qemu
    machine: tuple[str, ...]  # QEMU's options
    files_at: int  # address of FILES_BYTES of RAM that the firmware leaves alone
    streams: str  # class of on_board/streams.py
    flags: str = ""  # for the compiler
    family: Family = ARM
    makefile: str = ""  # for a board that is missing in ports/qemu of VERSION


# Switches the floating-point unit on, in CPACR, as real boards do at start, unlike ports/qemu
_FLOATS_ON = ("-device", "loader,addr=0xE000ED88,data=0x00F00000,data-len=4")
# A Cortex-M7 runs code for a Cortex-M4, so both share one compilation
_MPS2 = """\
QEMU_ARCH = arm
QEMU_MACHINE = {machine}
CFLAGS += -mthumb -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard
CFLAGS += -DQEMU_SOC_MPS2 -DMICROPY_HW_MCU_NAME='"Cortex-{cpu}"'
LDSCRIPT = mcu/arm/mps2.ld
SRC_BOARD_O = shared/runtime/gchelper_native.o shared/runtime/gchelper_thumb2.o
MPY_CROSS_FLAGS += -march=armv7emsp
"""

BOARDS = {
    board.name: board
    for board in (
        Machine(
            "cortex-m0",
            "armv6m",
            "MICROBIT",
            ("-machine", "microbit", "-global", "nrf51-soc.flash-size=1048576",
             "-global", f"nrf51-soc.sram-size={262144 + FILES_BYTES}"),
            0x20040000,
            "Nrf51",
            "-DMICROPY_EMIT_THUMB=1 -DMICROPY_EMIT_THUMB_ARMV7M=0",
        ),
        Machine(
            "cortex-m3",
            "armv7m",
            "MPS2_AN385",
            ("-machine", "mps2-an385"),
            0x21000000,
            "Cmsdk",
        ),
        Machine(
            "cortex-m4",
            "armv7emsp",
            "MPS2_AN386",
            ("-machine", "mps2-an386", *_FLOATS_ON),
            0x21000000,
            "Cmsdk",
            family=ARM_FLOATS,
            makefile=_MPS2.format(machine="mps2-an386", cpu="m4"),
        ),
        Machine(
            "cortex-m7",
            "armv7emsp",
            "MPS2_AN500",
            ("-machine", "mps2-an500", *_FLOATS_ON),
            0x60000000,
            "Cmsdk",
            family=ARM_FLOATS,
            makefile=_MPS2.format(machine="mps2-an500", cpu="m7"),
        ),
        Machine(
            "rv32",
            "rv32imc",
            "VIRT_RV32",
            ("-machine", "virt", "-bios", "none"),
            0x84000000,
            "Ns16550",
            family=RISCV,
        ),
    )
}  # fmt: skip
# Boards whose instructions are counted: a Cortex-M4 and an M7 take as many as an M3
COUNTED = tuple(name for name, board in BOARDS.items() if not board.family.with_floats)


@dataclass(frozen=True)
class Emulator:
    """A board that can be started: `command` is the argv of QEMU with board and firmware."""

    board: Machine
    command: tuple[str, ...]
    firmware: Path
    qemu: str  # path of QEMU


def board_named(name: str) -> Machine:
    """Return the emulated board of that name. Raises UserError if there is none."""
    if name not in BOARDS:
        raise UserError(f"there is no emulated board {name}; there are {', '.join(BOARDS)}")
    return BOARDS[name]


def find(name: str) -> Emulator:
    """Return the emulated board, ready to start. Raises NoEmulator if a part is missing."""
    board = board_named(name)
    try:
        qemu, firmware = _qemu(board.family), _firmware(board)
    except OSError as error:
        raise NoEmulator(f"There is no cache ({error}). {WAYS}") from error
    if not qemu or not firmware:
        parts = [what for what, there in (("QEMU", qemu), ("the firmware", firmware)) if not there]
        verb = "are" if len(parts) > 1 else "is"
        text = f"{' and '.join(parts)} of the emulated {name} {verb} not built yet."
        raise NoEmulator(f"{text[0].upper()}{text[1:]} {WAYS}")
    return Emulator(board, (*qemu, *board.machine, "-kernel", str(firmware)), firmware, qemu[-1])


def find_or_build(name: str, progress: Progress | None = None) -> Emulator:
    """Return the result of find(), or else fetch and build the board, in the cache.

    `progress` receives a line of text before each step. Raises NoEmulator if that fails.
    """
    board = board_named(name)
    try:
        if not _qemu(board.family) or not _firmware(board):
            _make(board.family, progress or silent)
    except PackagesError as error:
        raise NoEmulator(error.with_advice(WAYS)) from error
    except (CommandError, OSError) as error:
        raise NoEmulator(f"The emulated boards cannot be made: {error}. {WAYS}") from error
    return find(name)


def describe(emulator: Emulator) -> str:
    """Return version, firmware and QEMU, as lines of text for people."""
    return "\n".join(
        (
            f"MicroPython {VERSION}, 32 bits, emulated {emulator.board.name}",
            f"  .mpy     -march={emulator.board.arch}",
            f"  firmware {emulator.firmware}",
            f"  QEMU     {emulator.qemu}",
            f"  heap     {emulator.board.family.heap_bytes:,} bytes",
        )
    )


# --- Looking -------------------------------------------------------------------------------------


@functools.cache
def _recipe(family: Family) -> str:
    """Return a key for everything on which the cached files depend."""
    boards = [(b.name, b.port, b.flags, *filter(None, [b.makefile])) for b in _boards(family)]
    packages = (family.compiler.packages, family.qemu_packages)
    suites = (native_tools.SOURCE_SUITE, native_tools.TOOLS_SUITE)
    parts = (VERSION, *suites, *packages, family.heap_bytes, boards)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def _boards(family: Family) -> list[Machine]:
    return [board for board in BOARDS.values() if board.family == family]


def _folder(family: Family) -> Path:
    return cache_folder(f"micropython-qemu-{_recipe(family)}")


def _qemu_root(family: Family) -> Path:
    """Return the folder of the unpacked QEMU, which families with the same QEMU share."""
    key = repr((native_tools.TOOLS_SUITE, family.qemu, family.qemu_packages)).encode()
    return cache_folder(f"qemu-{hashlib.sha256(key).hexdigest()[:12]}") / "root"


def _firmware(board: Machine) -> Path | None:
    path = _folder(board.family) / "firmware" / f"{board.name}.elf"
    return path if path.is_file() else None


def _qemu(family: Family) -> tuple[str, ...]:
    """Return the command that starts QEMU, from PATH or the cache; () if none works."""
    program = shutil.which(family.qemu)
    if program and _knows_boards((program,), family):
        return (os.path.abspath(program),)
    cached = _qemu_in(_qemu_root(family), family)
    return cached if Path(cached[-1]).is_file() else ()


def _knows_boards(qemu: tuple[str, ...], family: Family) -> bool:
    try:
        output = debian_packages.run((*qemu, "-machine", "help"), debian_packages.ASK_SECONDS)
    except CommandError:
        return False
    return all(
        any(line.startswith(b.machine[1]) for line in output.splitlines()) for b in _boards(family)
    )


def _qemu_in(root: Path, family: Family) -> tuple[str, ...]:
    return (*native_tools.with_libraries(root), str(root / "usr" / "bin" / family.qemu))


# --- Making --------------------------------------------------------------------------------------


def _make(family: Family, progress: Progress) -> None:
    """Fetch and build missing parts; each appears in the cache complete or not at all."""
    debian_packages.check_machine(tuple(native_tools.MACHINES))
    folder = _folder(family)
    with alone(folder / "lock", _PATIENCE), work_folder(folder) as work:
        if not all(_firmware(board) for board in _boards(family)):
            _check_build(folder)
            native_tools.put_in_place(_build(family, work, progress), folder / "firmware")
        if not _qemu(family):
            (work / "qemu").mkdir()
            root = debian_packages.fetch(
                native_tools.TOOLS_SUITE, family.qemu_packages, work / "qemu", progress,
                architecture=native_tools.architecture(),
                wanted=functools.partial(native_tools.is_of_tools, (family.qemu,)),
            )  # fmt: skip
            _check_runs(_qemu_in(root, family), family)
            native_tools.put_in_place(root, _qemu_root(family))


def _check_build(folder: Path) -> None:
    if shutil.which("make") is None:
        raise PackagesError("Building MicroPython needs `make`, which is not here.")
    if any(letter.isspace() or letter in "#:$'\"" for letter in str(folder)):
        text = f"MicroPython cannot be built in {folder}: make stumbles over that name."
        raise PackagesError(f"{text} Let MICROSHRUB_CACHE name a plainer folder.")


def _build(family: Family, work: Path, progress: Progress) -> Path:
    """Build the firmware of all boards of the family; return its folder."""
    done = work / "firmware"
    done.mkdir()
    before = ""
    for board in _boards(family):
        if board.makefile:
            firmware_build.add_board(firmware_build.source(progress), board.port, board.makefile)
        build, heap = work / f"build-{board.arch}", family.heap_bytes
        firmware_build.drop_naming(build, before)
        elf = firmware_build.compile_firmware(
            board.port, board.flags, family.compiler, heap, build, progress
        )
        elf.rename(done / f"{board.name}.elf")
        before = board.machine[1]
    return done


def _check_runs(qemu: tuple[str, ...], family: Family) -> None:
    try:
        debian_packages.run((*qemu, "--version"), debian_packages.ASK_SECONDS)
    except CommandError as error:
        text = f"Debian's QEMU was fetched, but does not run here ({error})."
        raise PackagesError(
            f"{text} Install {family.qemu} with this system's own tools."
        ) from error
