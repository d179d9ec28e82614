"""Kernels compiled to machine code in this process: the common part of the engines `c` and `llvm`.

The device library's own files are compiled, one room at a time, when one of the room's kernels is
called for the first time; once for each state of these files, of the translator and of the
compiler. The code is kept in the cache. Incomplete or changed code is compiled again.
"""

from __future__ import annotations

import ast
import ctypes
import functools
import hashlib
import json
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ..base import files
from ..base.cache import compiled_folder
from ..base.errors import UserError
from . import kernel_rewriting, kernel_sources, library_files, syntax_tree
from .kernel_sources import INT, NOTHING, Kernel
from .library_files import user_files

_SIGNATURES = "kernels.json"  # file name in a folder of the cache
_LOCK = "lock"  # file name of the lock while kernels are compiled


class CompilerError(UserError):
    """There is no compiler, or the compiler fails; the message gives the reason."""


@dataclass(frozen=True)
class Signature:
    """The facts needed to call a kernel; `name` is its name in compiled code."""

    module: str
    function: str
    name: str
    doc: str | None
    arguments: tuple[str, ...]
    returns: str

    @classmethod
    def of(cls, kernel: Kernel) -> Signature:
        """Return a kernel's signature."""
        doc = ast.get_docstring(kernel.node)
        names = (kernel.module, kernel.node.name, kernel.name)
        return cls(*names, doc, kernel.arguments, kernel.returns)


class Function:
    """A compiled kernel, called with the same objects as in Python.

    address  the address of the code
    call     the bare function, which is faster: learning a sample calls many kernels
    """

    def __init__(self, kernel: Signature, address: int) -> None:
        self.__name__ = kernel.function
        self.__doc__ = kernel.doc
        self.__module__ = f"{library_files.PACKAGE}.{kernel.module}"
        self.address = address
        self.arguments = len(kernel.arguments)
        self.call = _caller(kernel, address)

    def __call__(self, *given: Any) -> Any:
        return self.call(*given)


def _caller(kernel: Signature, address: int) -> Callable[..., Any]:
    """Make a function that passes integers unchanged, and addresses in place of objects.

    The function is generated for the kernel's arguments, as a loop over them would take longer
    than the call.
    """
    c_types = [ctypes.c_int32 if each == INT else ctypes.c_void_p for each in kernel.arguments]
    returned = None if kernel.returns == NOTHING else ctypes.c_int32
    names = [f"a{place}" for place in range(len(c_types))]
    given = [
        name if argument == INT else f"address({name})"
        for name, argument in zip(names, kernel.arguments, strict=True)
    ]
    known = {"call": ctypes.CFUNCTYPE(returned, *c_types)(address), "address": _address}
    text = f"lambda {', '.join(names)}: call({', '.join(given)})"
    result: Callable[..., Any] = eval(text, known)
    return result


class KernelCompiler(ABC):
    """A compiler of kernels with a cache for the code: one object for each engine."""

    name: str  # the engine's name
    file: str  # the code's name in a folder of the cache
    translator: tuple[ModuleType, ...]  # the modules that make the compiler's input

    @abstractmethod
    def key(self) -> object:
        """Return a key for the code's dependencies besides the sources.

        Raises CompilerError if there is no compiler.
        """

    @abstractmethod
    def translate(self, modules: Sequence[str], of: Sequence[str]) -> tuple[str, list[Kernel]]:
        """Return the compiler's input for the kernels of the modules `of`, and the kernels.

        modules  these modules and all that they import
        """

    @abstractmethod
    def compile(self, text: str) -> bytes:
        """Return the code, as the file's content. Raises CompilerError if that fails."""

    @abstractmethod
    def addresses(self, folder: Path, names: Sequence[str]) -> Mapping[str, int]:
        """Return the addresses of these kernels' code in this process."""

    @functools.cache  # noqa: B019  a process has one compiler of a kind
    def functions(self, room: str) -> dict[tuple[str, str], Function]:
        """Return the compiled kernels of a room, by module and name. Raises CompilerError."""
        of = _modules_of(room)
        modules = library_files.closure(of)
        folder = self._folder_for(room, modules)
        known = _kept(folder, self.file)
        if known is None:
            with files.alone(folder / _LOCK):  # another process may be compiling this room
                known = _kept(folder, self.file) or self._compiled(folder, modules, of)
        addresses = self.addresses(folder, [kernel.name for kernel in known])
        return {(k.module, k.function): Function(k, addresses[k.name]) for k in known}

    def _compiled(
        self, folder: Path, modules: Sequence[str], of: Sequence[str]
    ) -> list[Signature]:
        text, kernels = self.translate(modules, of)
        known = [Signature.of(kernel) for kernel in kernels]
        _keep(folder, self.file, self.compile(text), known)
        return known

    def marks(self) -> Path:
        """Return the folder with marks of compiled kernels, for the library's current state."""
        modules = map(library_files.module_name, library_files.sources_with_users())
        return self._folder_for("", sorted(modules))

    def _folder_for(self, room: str, modules: Iterable[str]) -> Path:
        """Return the folder of a room's kernels for the current files, translator and compiler."""
        sha = hashlib.sha256(repr((room, self.key())).encode())
        named = [(name, library_files.source_of(name)) for name in modules]
        rewriting = (kernel_rewriting, kernel_sources, syntax_tree)
        for module in (*rewriting, *self.translator):
            named.append((module.__name__, Path(str(module.__file__))))
        for name, path in named:
            sha.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
        return compiled_folder(self.name, sha.digest())


def _keep(folder: Path, file: str, code: bytes, kernels: Sequence[Signature]) -> None:
    """Write the code, and then the signatures with a proof that both files are whole."""
    listed = [asdict(kernel) for kernel in kernels]
    files.replace(folder / file, code)
    proved = {"sha256": _proof(code, listed), "kernels": listed}
    files.replace(folder / _SIGNATURES, json.dumps(proved).encode())


def _kept(folder: Path, file: str) -> list[Signature] | None:
    """Return the signatures of the cached code; None if it is missing, incomplete or changed."""
    try:
        data = json.loads((folder / _SIGNATURES).read_bytes())
        listed = data["kernels"]
        if data["sha256"] != _proof((folder / file).read_bytes(), listed):
            return None
        return [Signature(**row | {"arguments": tuple(row["arguments"])}) for row in listed]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _proof(code: bytes, listed: object) -> str:
    text = json.dumps(listed, sort_keys=True).encode()
    return hashlib.sha256(hashlib.sha256(code).digest() + text).hexdigest()


class CompiledViper:
    """A stand-in for micropython.viper that makes a kernel's compiled function."""

    def __init__(self, compiler: KernelCompiler) -> None:
        self.compiler = compiler

    def __call__(self, function: Any) -> Any:
        return LateFunction(self.compiler, function.__module__.partition(".")[2], function)


class LateFunction:
    """A kernel that is compiled at its first use; without a translation, it stays Python."""

    def __init__(self, compiler: KernelCompiler, module: str, function: Any) -> None:
        functools.update_wrapper(self, function)
        self._compiler, self._module, self._function = compiler, module, function
        self._call: Any = self._first

    def _resolved(self) -> Any:
        place = self._module, self._function.__name__
        value = self._compiler.functions(room_of(self._module)).get(place)
        self._call = value.call if value else self._function
        return value or self._function

    def _first(self, *given: Any) -> Any:
        return self._resolved()(*given)

    @functools.cached_property
    def address(self) -> int | None:
        """The address of the code."""
        result: int | None = self._resolved().address
        return result

    def __call__(self, *given: Any) -> Any:
        return self._call(*given)


_addressof, _from_buffer = ctypes.addressof, ctypes.c_char.from_buffer


def _address(thing: Any) -> Any:
    """Return the address of a buffer, of a function, or of a tuple of buffers, for a kernel."""
    thing_type = type(thing)
    if thing_type is array:
        return thing.buffer_info()[0]
    if thing_type is tuple:
        return (ctypes.c_void_p * len(thing))(*map(_address, thing))
    if thing_type is LateFunction or thing_type is Function:
        return thing.address
    if thing_type is bytes:  # only for kernels that do not write
        return ctypes.cast(thing, ctypes.c_void_p).value
    return _addressof(_from_buffer(thing)) if len(thing) else None


def write_addresses(buffers: tuple[Any, ...], table: object) -> array[int]:
    """Return the addresses of the buffers, for kernels; the buffers must outlive the result."""
    return array("q", [_address(buffer) or 0 for buffer in buffers])


def room_of(module: str) -> str:
    """Return the room that is compiled with a module: its folder, or a user's module itself."""
    if module in user_files():
        return module
    return module.rpartition(".")[0]


def _modules_of(room: str) -> list[str]:
    names = map(library_files.module_name, library_files.sources_with_users())
    return [name for name in names if room_of(name) == room]
