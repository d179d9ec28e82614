"""The kernels compiled by LLVM to a module of WebAssembly, for the page.

LLVM's object file is already such a module, except for exports: its kernels call only each other,
and import the memory and a table of functions. So no linker is needed.
https://webassembly.github.io/spec/core/binary/modules.html
https://github.com/WebAssembly/tool-conventions/blob/main/Linking.md
"""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Iterable, Iterator
from typing import Any

from ..base.cache import remembered
from . import library_files, llvm_kernels, llvm_translate
from .kernel_sources import Kernel

MEMORY = ("env", "__linear_memory")  # the module's import
_TARGET = "wasm32-unknown-unknown"
_FEATURES = "+bulk-memory,+sign-ext"  # in all browsers that run MicroPython's own module
_KEPT = 8  # number of cached modules
_HEAD = 8  # bytes: the magic number and the version
_CUSTOM, _EXPORT, _CODE = 0, 7, 10  # sections, in their required order
_SYMBOLS = 8  # a part of the section "linking"
_LOCAL, _UNDEFINED = 0x02, 0x10  # flags of a symbol


def compiled(modules: Iterable[str]) -> tuple[bytes, list[Kernel]]:
    """Return a WebAssembly module that exports the kernels of these modules of the library.

    Raises CompilerError.
    """
    of = sorted(modules)
    text, kernels = llvm_translate.translate(library_files.closure(of), of)
    key = repr((importlib.metadata.version("llvmlite"), _TARGET, _FEATURES, text))
    code = remembered("wasm", key.encode(), lambda: llvm_kernels.emitted(text, _machine()), _KEPT)
    return with_exports(code, {kernel.name for kernel in kernels}), kernels


@functools.cache
def _machine() -> Any:
    from llvmlite import binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    target = binding.Target.from_triple(_TARGET)
    return target.create_target_machine(features=_FEATURES, opt=llvm_kernels.SPEED)


def with_exports(code: bytes, names: set[str]) -> bytes:
    """Convert an object file to a module that exports the functions with these names."""
    exported = [
        (name, place)
        for kind, body in _sections(code)
        if kind == _CUSTOM
        for name, place in _symbols(body)
        if name in names
    ]
    rows = [_text(name) + b"\0" + _number(place) for name, place in exported]
    result = code[:_HEAD]
    for kind, body in _sections(code):
        if kind == _CODE:
            result += _section(_EXPORT, _number(len(rows)) + b"".join(rows))
        if kind != _CUSTOM:
            result += _section(kind, body)
    return result


def _sections(code: bytes) -> Iterator[tuple[int, bytes]]:
    at = _HEAD
    while at < len(code):
        size, begin = _read(code, at + 1)
        yield code[at], code[begin : begin + size]
        at = begin + size


def _symbols(body: bytes) -> Iterator[tuple[str, int]]:
    """Yield the names and places of the functions in a section "linking"; none for others."""
    kind, at = _read_text(body, 0)
    if kind != "linking":
        return
    at += 1  # after the version
    while at < len(body):
        part = body[at]
        size, at = _read(body, at + 1)
        if part == _SYMBOLS:
            yield from _functions(body[at : at + size])
        at += size


def _functions(table: bytes) -> Iterator[tuple[str, int]]:
    count, at = _read(table, 0)
    for _ in range(count):
        flags, at = _read(table, at + 1)  # after the kind, which is a function
        place, at = _read(table, at)
        if not flags & _UNDEFINED:
            name, at = _read_text(table, at)
            if not flags & _LOCAL:
                yield name, place


def _section(kind: int, body: bytes) -> bytes:
    return bytes([kind]) + _number(len(body)) + body


def _text(text: str) -> bytes:
    return _number(len(text)) + text.encode()


def _number(value: int) -> bytes:
    """Return a number as LEB128: seven bits a byte, the low bits first."""
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


def _read(data: bytes, at: int) -> tuple[int, int]:
    """Read a number in LEB128; return it and the offset of its end."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def _read_text(data: bytes, at: int) -> tuple[str, int]:
    size, at = _read(data, at)
    return data[at : at + size].decode(), at + size
