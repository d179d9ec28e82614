"""Archives of compiled kernels, and native modules that are linked from them.

A compiler puts each function into a section of its own. archive_of() reads these from its object
file: the code of each function, and the places of its calls. An archive is stored as JSON.
linked() makes a .mpy file of the functions that a program needs, after the functions of
native_runtime.c.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..library.library_files import reached

START, DISPATCH = "start", "dispatch"  # functions of native_runtime.c
ALIGNMENT = 4  # of functions, in bytes
_TABLE = "mp_fun_table_"  # followed by a number: an entry of MicroPython's function table
_TUPLE, _RETURNS, _OBJECTS = 3, 4, 8  # bits of a row, see native_runtime.c

# .mpy files of version 6.3: architectures, kinds of code and of constants, flags
_ARCHITECTURES = {
    "x86": 1, "armv6m": 4, "armv7m": 5, "armv7em": 6, "armv7emsp": 7, "armv7emdp": 8,
    "xtensawin": 10, "rv32imc": 11,
}  # fmt: skip
_VERSION, _SUB_VERSION, _SMALL_INT_BITS = 6, 3, 31
_NATIVE, _FUN_TABLE, _INT = 2, 0, 7
_RELOCATED = 0x10  # the garbage collector keeps such code, too
_ENTRY, _IN_TEXT, _NO_MORE = 9, 1, 0xFF


class MachineCodeError(ValueError):
    """A compiler's object file has something unexpected."""


@dataclass(frozen=True)
class LinkedFunction:
    """The code of a function.

    entry  the offset of its first instruction
    calls  the places of its calls, each with the name of the called function
    table  the places for entries of MicroPython's function table, each with its number
    """

    code: bytes
    entry: int
    calls: tuple[tuple[int, str], ...]
    table: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Exported:
    """A kernel that Python calls.

    name         its name in Python
    function     its name in the archive
    objects      for each argument, whether it is an object and not a number
    tuple_first  whether the first argument is a tuple of buffers
    returns      whether it returns a number
    """

    name: str
    function: str
    objects: tuple[bool, ...]
    tuple_first: bool
    returns: bool

    def how(self) -> int:
        """Return the second word of the kernel's row, see native_runtime.c."""
        bits = sum(is_object << _OBJECTS + i for i, is_object in enumerate(self.objects))
        return bits | len(self.objects) | self.tuple_first << _TUPLE | self.returns << _RETURNS


Archive = Mapping[str, LinkedFunction]


def to_json(archive: Archive) -> bytes:
    """Return the archive as bytes."""
    rows = {
        name: [each.code.hex(), each.entry, each.calls, each.table]
        for name, each in sorted(archive.items())
    }
    return json.dumps(rows, separators=(",", ":")).encode()


def from_json(data: bytes) -> dict[str, LinkedFunction]:
    """Return the archive from the bytes of to_json(). Raises ValueError."""
    functions = {}
    for name, (code, entry, calls, table) in json.loads(data).items():
        pairs = [tuple((int(at), what) for at, what in each) for each in (calls, table)]
        functions[name] = LinkedFunction(bytes.fromhex(code), entry, pairs[0], pairs[1])
    return functions


# --- Object files --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Section:
    name: str
    kind: int
    data: bytes
    link: int
    info: int


_RELOCATIONS = {4: "<IIi", 9: "<II"}  # SHT_RELA and SHT_REL, and their entries
_SYMBOLS, _FUNCTION, _SECTION = 2, 2, 3  # a section's kind; kinds of symbols
_TEXT = ".text."
_WORDS = {"armv6m": 2}  # R_ARM_ABS32


def archive_of(elf: bytes, arch: str) -> dict[str, LinkedFunction]:
    """Return the functions of an object file, by name. Raises MachineCodeError."""
    sections = list(_sections(elf))
    (symbols,) = (section for section in sections if section.kind == _SYMBOLS)
    names = sections[symbols.link].data
    table = [
        (_name(names, name), value, info & 15, home)
        for name, value, _, info, _, home in struct.iter_unpack("<IIIBBH", symbols.data)
    ]
    entries = {home: (n, value & ~1) for n, value, kind, home in table if kind == _FUNCTION}
    calls: dict[int, list[tuple[int, str]]] = {}
    words: dict[int, list[tuple[int, int]]] = {}
    for section in sections:
        if section.kind not in _RELOCATIONS or section.info not in entries:
            continue
        code = sections[section.info].data
        for at, info, *_ in struct.iter_unpack(_RELOCATIONS[section.kind], section.data):
            name, _, kind, home = table[info >> 8]
            if kind == _SECTION and home == section.info:
                continue  # a jump within the function, which the assembler has resolved
            if kind == _SECTION and home in entries:
                name = entries[home][0]
            if name.startswith(_TABLE) and info & 255 == _WORDS.get(arch):
                number = int(name.removeprefix(_TABLE))
                words.setdefault(section.info, []).append((at, number))
            elif info & 255 in _CALLS[arch].relocations and _CALLS[arch].is_call(code, at):
                calls.setdefault(section.info, []).append((at, name))
            elif home != section.info:
                place = sections[section.info].name
                raise MachineCodeError(f"{place} refers to {name or sections[home].name}")
    for section in sections:
        if section.name.startswith((".rodata", ".data", ".bss", ".sdata")) and section.data:
            raise MachineCodeError(f"there is {section.name}, which no kernel may have")
    return {
        name: LinkedFunction(
            sections[home].data, at, tuple(calls.get(home, ())), tuple(words.get(home, ()))
        )
        for home, (name, at) in entries.items()
    }


def _sections(elf: bytes) -> Iterator[_Section]:
    if elf[:6] != b"\x7fELF\x01\x01":
        raise MachineCodeError("the compiler has not made a file for 32 bits, little-endian")
    (start,) = struct.unpack_from("<I", elf, 32)
    size, count, names = struct.unpack_from("<HHH", elf, 46)
    heads = [struct.unpack_from("<10I", elf, start + i * size) for i in range(count)]
    first = heads[names][4]
    for name, kind, _, _, at, length, link, info, *_ in heads:
        data = b"" if kind == 8 else elf[at : at + length]  # SHT_NOBITS
        yield _Section(_name(elf, first + name), kind, data, link, info)


def _name(data: bytes, at: int) -> str:
    return data[at : data.index(0, at)].decode()


# --- Calls ---------------------------------------------------------------------------------------


def _thumb(code: bytearray, at: int, distance: int) -> None:
    """Write `bl` or `b.w`, with the distance from the instruction."""
    distance -= 4
    sign, j1, j2 = (distance >> bit & 1 for bit in (24, 23, 22))
    (half,) = struct.unpack_from("<H", code, at + 2)
    first = 0xF000 | sign << 10 | distance >> 12 & 0x3FF
    second = half & 0xD000 | (j1 ^ sign ^ 1) << 13 | (j2 ^ sign ^ 1) << 11 | distance >> 1 & 0x7FF
    struct.pack_into("<HH", code, at, first, second)


def _riscv(code: bytearray, at: int, distance: int) -> None:
    """Write `jal`, with the distance from the instruction."""
    (instruction,) = struct.unpack_from("<I", code, at)
    bits = (distance >> 20 & 1) << 19 | (distance >> 1 & 0x3FF) << 9
    bits |= (distance >> 11 & 1) << 8 | distance >> 12 & 0xFF
    struct.pack_into("<I", code, at, instruction & 0xFFF | bits << 12)


def _xtensa(code: bytearray, at: int, distance: int) -> None:
    """Write `call8` over the assembler's `call0`, as the assembler does not know call8."""
    words = (at + distance - (at & ~3) >> 2) - 1 & 0x3FFFF
    code[at : at + 3] = (0x25 | words << 6).to_bytes(3, "little")


def _x86(code: bytearray, at: int, distance: int) -> None:
    struct.pack_into("<i", code, at, distance - 4)


@dataclass(frozen=True)
class _Calls:
    """A processor's relocations for calls, and the function that writes a call."""

    relocations: tuple[int, ...]
    put: Callable[[bytearray, int, int], None]
    is_call: Callable[[bytes, int], bool] = lambda code, at: True


_ARM = _Calls((10, 30), _thumb)  # R_ARM_THM_CALL, R_ARM_THM_JUMP24
_CALLS = {
    "x86": _Calls((2, 4), _x86),  # R_386_PC32, R_386_PLT32
    "armv6m": _ARM,
    "armv7m": _ARM,
    "armv7em": _ARM,
    "armv7emsp": _ARM,
    "armv7emdp": _ARM,
    "rv32imc": _Calls((17,), _riscv),  # R_RISCV_JAL
    "xtensawin": _Calls((20,), _xtensa, lambda code, at: code[at] & 0x3F == 5),  # SLOT0_OP
}


# --- Linking -------------------------------------------------------------------------------------


def linked(
    archive: Archive, arch: str, exported: Sequence[Exported], name: str, package: str = ""
) -> bytes:
    """Return a .mpy file with these functions and all that they call. Raises KeyError.

    The functions become globals of the module, or of the package that imports the module.
    """
    wanted = [START, DISPATCH, *(each.function for each in exported)]
    needed = reached(wanted, lambda each: {called for _, called in archive[each].calls})
    order = [START, *sorted({*needed} - {START})]
    begin = archive[START].entry  # after its constants, on Xtensa: a jump skips these
    text, places = bytearray(ALIGNMENT if begin else 0), {}
    for each in order:
        text += bytes(-len(text) % ALIGNMENT)
        places[each] = len(text)
        text += archive[each].code
    if begin:
        text[:3] = (0x06 | begin << 6).to_bytes(3, "little")  # j, from 4 to 4 + begin
    entries = {each: places[each] + archive[each].entry for each in order}
    words = []
    for each in order:
        for at, called in archive[each].calls:
            place = places[each] + at
            _CALLS[arch].put(text, place, entries[called] - place)
        words += [(places[each] + at, number) for at, number in archive[each].table]
    text += bytes(-len(text) % ALIGNMENT)
    rows = len(text)
    text += struct.pack("<iII", entries[DISPATCH] - rows, len(exported), bool(package))
    thumb = int(arch.startswith("arm"))
    for kernel in exported:
        distance = entries[kernel.function] - len(text)
        text += struct.pack("<iI", distance + thumb, kernel.how())
    names = [*(each.name for each in exported), *([package] if package else [])]
    return _mpy(arch, name, names, rows, bytes(text), words)


def _mpy(
    arch: str,
    name: str,
    names: Sequence[str],
    rows: int,
    text: bytes,
    words: Iterable[tuple[int, int]],
) -> bytes:
    """Return the .mpy file; words are places for entries of MicroPython's function table."""
    head = bytes((ord("M"), _VERSION, _ARCHITECTURES[arch] << 2 | _SUB_VERSION, _SMALL_INT_BITS))
    number = str(rows).encode()
    parts = [head, _uint(1 + len(names)), _uint(2)]
    for each in (name, *names):
        parts += [_uint(len(each.encode()) << 1), each.encode(), b"\0"]
    parts += [bytes((_FUN_TABLE, _INT)), _uint(len(number)), number]
    parts += [_uint(len(text) << 3 | _NATIVE), text, _uint(_RELOCATED)]
    for at, entry in words:
        parts += [bytes(((_ENTRY + entry) << 1 | _IN_TEXT,)), _uint(at // 4 << 1)]
    return b"".join([*parts, bytes((_NO_MORE,))])


def _uint(value: int) -> bytes:
    """Encode a number as in .mpy files: seven bits a byte, the highest first."""
    written = bytes((value & 0x7F,))
    while value := value >> 7:
        written = bytes((value & 0x7F | 0x80,)) + written
    return written
