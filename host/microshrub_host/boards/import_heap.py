"""The heap that `import microshrub` takes, computed from the compiled files.

The rules follow MicroPython 1.25's loader on a 32-bit machine, for any state of the sources.
The import leaves, in blocks of 16 bytes:

    a module     its object, the table of its globals, the tables of its names and constants
    a function   its object with the defaults, its bytecode or machine code, its inner functions
    a class      its type object and the table of its attributes
    names        all names that the firmware lacks: their characters, and the pools of
                 pointers to them, which double in size

Code that a module or a class body executes once (bytecode, tables of children) is garbage
afterwards. If a library is frozen into the firmware, the code, the constants and most names are in
flash, but its modules, functions, classes and their tables are on the heap all the same. If it is
in a ROM file system, bytecode and the characters of names and texts are in flash; machine code is
copied.

The sum is within 1 % of gc.mem_alloc() on MicroPython itself. Less certain is which names a
board's firmware has; and rp2 needs 1 byte less for a name.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import io
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..library import library_files
from ..programs import mpy

BLOCK = 16  # bytes
WORD = 4

# Successive sizes of a growing hash table (py/map.c).
_TABLE_SIZES = (
    *(0, 2, 4, 6, 8, 10, 12, 17, 23, 29, 37, 47, 59, 73),
    *(97, 127, 167, 223, 293, 389, 521, 691, 919, 1223, 1627, 2161),
)
_MODULES_AT_START = 1  # __main__
_MODULES_TABLE = 32  # bytes of the table of modules, which exists from the start
_NAMES_AT_START = 7  # names in the first pool, which exists from the start
_CHARACTERS_AT_START = 64  # bytes used of the first chunk, which exists from the start
_FIRST_POOL = 20  # names that the first pool has room for
_CHUNK = 128  # bytes of a chunk of characters

# Names in the firmware: names of Python's own modules and types, and other names that a real
# firmware had in a test, if both RP2 and ESP32 have them. A wrong guess costs about 15 bytes, and
# one more pool if it fills a pool. Some 30 names that both have from `machine` count as new, which
# leaves room for as many names of the user.
_FIRMWARE_MODULES = ("array", "binascii", "io", "json", "math", "os", "struct", "sys")
_FIRMWARE_TYPES = (int, str, bytes, bytearray, list, tuple, dict, set, property, io.BytesIO)
_FIRMWARE_WORDS = (
    "micropython const viper native ptr8 ptr16 ptr32 value state random choice seed step start "
    "count update name data run __init__ __path__ __version__ <lambda> <listcomp> "
    "<genexpr> gc collect threshold mem_alloc mem_free kbd_intr errno machine timeout time "
    "ticks_ms ticks_us select poll ipoll register POLLIN buffer stream file rb wb n s t text code "
    "module message push release search "
    # names of asyncio and requests, which come with the firmware
    "generator gather _run reason requests waiting"
)
_NOT_IN_FIRMWARE = {"__all__", "error", "nbytes", "True", "False", "credits", "link"}

FROZEN = ".frozen"  # the place of a library in the firmware
ROM = "/rom/microshrub.lib"  # the place of a library in a ROM file system

_SMALL_INT_BITS = 30  # bits besides the sign
_TYPE_OBJECT = 64  # bytes of a class, without the table of its attributes

_STORE_NAME, _STORE_GLOBAL = 0x16, 0x17
_BUILD_TUPLE, _BUILD_MAP = 0x2A, 0x2C
_CALLS = (0x34, 0x36)


@dataclass(frozen=True)
class ModuleHeap:
    """The heap of one module in bytes: machine code, and everything else but its names.

    `functions` is the number of functions in machine code.
    """

    name: str
    functions: int
    native: int
    other: int


@dataclass(frozen=True)
class LibraryHeap:
    """The heap of the imported library in bytes; its modules share `names`."""

    modules: list[ModuleHeap]
    names: int
    module_table: int

    @property
    def bytes(self) -> int:
        """The bytes of the whole library, machine code included."""
        of_modules = sum(module.native + module.other for module in self.modules)
        return of_modules + self.names + self.module_table


def blocks(size: int) -> int:
    """Return the bytes of the blocks for an allocation of `size` bytes."""
    return -(-size // BLOCK) * BLOCK


def table(entries: int) -> int:
    """Return the bytes of a hash table that has grown to hold that many entries."""
    room = next((size for size in _TABLE_SIZES if size >= entries), entries * 3 // 2 | 1)
    return blocks(room * 2 * WORD)


@functools.cache
def library_heap(
    arch: str, roots: tuple[str, ...], place: str = "/lib", native: bool = False
) -> LibraryHeap:
    """Return the heap of imported modules if the files for `arch` are in `place`.

    The place may be FROZEN. With `native`, the kernels are in a native module; raises
    NoNativeTools. If machine code is not on the heap (Board.native false), leave ModuleHeap.native
    out.
    """
    return files_heap(imported_files(arch, roots, native), place)


def files_heap(
    files: Iterable[Path], place: str = "/lib", forgotten: Iterable[Path] = ()
) -> LibraryHeap:
    """Return the heap of imported modules for these compiled files of the library.

    Of modules that the program imports and then forgets, only names and packages remain.
    """
    modules = [mpy.read(path) for path in files]
    gone = [mpy.read(path) for path in forgotten]
    names = _new_names([*modules, *gone], place)
    children: dict[str, int] = {}  # number of modules that are attributes, by package
    for module in (*modules, *gone):
        above, _, _ = module.name.rpartition(".")
        children[above] = children.get(above, 0) + (module.name != "__init__")
    rooms = sorted(room for room in children if room)
    children[""] += len(rooms)
    count = len(modules) + len(gone) + len(rooms)
    # a native module's name is an attribute of the package anyway
    given = [_functions_of(module) - 1 for module in modules if _is_of_package(module)]
    stored = children[""] + sum(given)
    return LibraryHeap(
        modules=[
            *(_module_heap(module, names, place, stored) for module in modules),
            *(_room_heap(room, place, children[room]) for room in rooms),
        ],
        names=_names_heap(names, _in_rom([*modules, *gone]) if place == ROM else ()),
        module_table=table(_MODULES_AT_START + count) - _MODULES_TABLE,
    )


@functools.cache
def texts(arch: str, roots: tuple[str, ...], place: str = "/lib") -> frozenset[str]:
    """Return texts that are on the board anyway, as names in the firmware or in these modules."""
    return texts_in(imported_files(arch, roots, native=False), place)


def texts_in(files: Iterable[Path], place: str = "/lib") -> frozenset[str]:
    """Return texts that are on the board anyway, for these compiled files of the library."""
    return frozenset(_new_names(map(mpy.read, files), place)) | _firmware_names()


def imported_files(arch: str, roots: tuple[str, ...], native: bool) -> list[Path]:
    """Return the compiled files of the imported modules."""
    needed = library_files.closure(roots)
    if native:
        from ..programs import native_files

        return native_files.compiled(arch, needed)
    return mpy.compiled(arch, needed)


def _functions_of(module: mpy.Module) -> int:
    """Return the number of a native module's functions: all names but its file and the package."""
    return len(module.all_names) - 1 - _is_of_package(module) if module.code.native else 0


def _is_of_package(module: mpy.Module) -> bool:
    """Return whether this is a native module that makes its functions globals of the package."""
    return module.code.native and module.names[-1] == library_files.PACKAGE


def _room_heap(room: str, place: str, modules: int) -> ModuleHeap:
    """Return the heap of a subfolder: a package without a file, with its modules as attributes."""
    stored = 2 + modules  # __name__, __path__
    other = BLOCK + BLOCK + table(stored)
    other += BLOCK + blocks(len(f"{place}/{library_files.PACKAGE}/{room}") + 1)
    return ModuleHeap(room, 0, 0, other)


def _module_heap(
    module: mpy.Module, names: Collection[str], place: str, others: int
) -> ModuleHeap:
    words = -(-len(module.all_names) // 2) + len(module.constants)
    stored = 2 + _stored(module.code)  # __name__, __file__
    frozen, rom = place == FROZEN, place == ROM
    other, native = _left_by(module.code, place)
    functions = _functions_of(module)
    other += functions * BLOCK
    stored += 0 if _is_of_package(module) else functions
    if module.name == "__init__":
        stored += 1 + others  # __path__, and the other modules as attributes
        other += BLOCK + blocks(len(f"{place}/{library_files.PACKAGE}") + 1)
    other += BLOCK + BLOCK + table(stored)
    if not frozen:
        other += blocks(words * WORD)
        other += sum(_constant(kind, value, names, rom) for kind, value in module.constants)
    return ModuleHeap(module.name, _native_functions(module.code), native, other)


def _native_functions(code: mpy.Code) -> int:
    return code.native + sum(_native_functions(child) for child in code.children)


def _stored(body: mpy.Code) -> int:
    """Return the number of names that the body of a module or class stores."""
    if body.native:
        return 0
    stores = (_STORE_NAME, _STORE_GLOBAL)
    return len({name for opcode, name in mpy.operations(body.data) if opcode in stores})


def _left_by(body: mpy.Code, place: str) -> tuple[int, int]:
    """Return the heap left by running a module's or class's body: other bytes, machine code."""
    other = native = built = 0
    if body.native:  # with its functions, and a list of objects for the collector to keep
        return 0, blocks(len(body.data)) + BLOCK + blocks(4 * WORD)
    for opcode, argument in mpy.operations(body.data):
        if opcode == _BUILD_TUPLE:
            built = argument
        elif opcode == _BUILD_MAP:
            other += BLOCK + blocks(argument * 2 * WORD)
        elif opcode in _CALLS:  # array(), property(), classmethod()
            other += BLOCK
        elif opcode in (mpy.MAKE_FUNCTION, mpy.MAKE_DEFAULTS):
            child = body.children[argument]
            if child.class_body:  # the call that makes the class is counted above
                kept = _left_by(child, place)
                other += _TYPE_OBJECT + table(_stored(child))
            else:
                kept = (0, 0) if place == FROZEN else _kept(child, place == ROM)
                other += blocks(BLOCK + (built * WORD if opcode == mpy.MAKE_DEFAULTS else 0))
            other, native = other + kept[0], native + kept[1]
    return other, native


def _kept(code: mpy.Code, rom: bool) -> tuple[int, int]:
    """Return the size of a function's code, without its object: other bytes, and machine code."""
    size = 0 if rom and not code.native else blocks(len(code.data))
    other, native = (blocks(code.data_bytes), size) if code.native else (size, 0)
    if code.children:
        other += blocks((len(code.children) + (code.kind == mpy.NATIVE)) * WORD)
    for child in code.children:
        kept = _kept(child, rom)
        other, native = other + BLOCK + kept[0], native + kept[1]
    return other, native


def _constant(kind: int, value: Any, names: Collection[str], rom: bool) -> int:
    if isinstance(value, list):
        items = sum(_constant(k, v, names, rom) for k, v in value)
        return blocks((2 + len(value)) * WORD) + items if value else 0
    if kind == mpy.STR and value[:-1].decode() in names:
        return 0
    if kind in (mpy.STR, mpy.BYTES):
        return BLOCK + (0 if rom else blocks(len(value)))
    if kind == mpy.INT:
        bits = int(value).bit_length()
        return BLOCK + blocks(-(-bits // 16) * 2) if bits > _SMALL_INT_BITS else 0
    return BLOCK if kind in (mpy.FLOAT, mpy.COMPLEX) else 0


def _new_names(modules: Iterable[mpy.Module], place: str) -> dict[str, None]:
    """Return the names that the firmware lacks, in the order of the modules."""
    names: list[str] = []
    frozen: set[str] = set()
    for module in modules:
        *rooms, last = module.name.split(".")
        names += [*rooms, *(f"{library_files.PACKAGE}.{room}" for room in rooms)]
        names.append(
            f"{library_files.PACKAGE}.{module.name}"
            if module.name != "__init__"
            else library_files.PACKAGE
        )
        if place == FROZEN:
            names.append(last)
            frozen.update(module.names)
        else:
            names.append(f"{place}/{library_files.PACKAGE}/{module.name.replace('.', '/')}.mpy")
            names += module.names
    there = _firmware_names() | frozen
    return dict.fromkeys(name for name in names if name not in there)


@functools.cache
def _firmware_names() -> set[str]:
    names = {*dir(builtins), *_FIRMWARE_WORDS.split()}
    for module in _FIRMWARE_MODULES:
        names |= {module, *dir(importlib.import_module(module))}
    for firmware_type in _FIRMWARE_TYPES:
        names |= set(dir(firmware_type))
    return names - _NOT_IN_FIRMWARE


def _in_rom(modules: Iterable[mpy.Module]) -> set[str]:
    """Return the names whose characters are in the ROM file system, in the modules' files."""
    return {name for module in modules for name in module.names}


def _names_heap(names: Collection[str], in_rom: Collection[str] = ()) -> int:
    """Return the heap of names: chunks of characters; pools of pointers, lengths and hashes."""
    size, used = -_CHUNK, _CHARACTERS_AT_START
    for name in names:
        if name in in_rom:
            continue
        length = len(name.encode()) + 1
        if used + length > _CHUNK and used:
            size, used = size + blocks(used), 0
        used += length
    return size + blocks(max(used, _CHUNK)) + sum(map(blocks, _pools(len(names))))


def _pools(names: int) -> Iterator[int]:
    """Yield the bytes of each pool for that many names."""
    room, left = _FIRST_POOL, names - (_FIRST_POOL - _NAMES_AT_START)
    while left > 0:
        room, left = room * 2, left - room * 2
        yield 6 * WORD + room * (WORD + 3)


def qstr_bytes(files: Iterable[Path]) -> int:
    """Return the bytes in micropython.qstr_info() for the names of these compiled files.

    These are the pools and the characters, without the chunks.
    """
    names = _new_names(map(mpy.read, files), "/lib")
    return sum(len(name.encode()) + 1 for name in names) + sum(_pools(len(names)))
