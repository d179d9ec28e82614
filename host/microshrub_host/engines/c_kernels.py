"""The kernels compiled to machine code by the system's C compiler: the engine `c`.

The C is translated from the device library's own files (c_translate.py), a room of them at a time,
when one of its kernels is called for the first time. It is compiled once for each state of these
files, of the translator and of the compiler. The cache keeps it.
"""

from __future__ import annotations

import ast
import ctypes
import functools
import hashlib
import json
import os
import shutil
import subprocess
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..base import files
from ..base.cache import cache_folder
from ..base.errors import UserError
from . import c_declarations, c_function, c_translate, library_files
from .c_declarations import INT, NOTHING, Kernel
from .own_learners import own_files

FLAGS = (
    *("-std=gnu11", "-O3", "-fwrapv", "-fPIC", "-shared"),
    "-fno-semantic-interposition",  # kernels may be inlined into each other
    "-fno-ivopts",  # with it, the scan over a window takes 5 % longer
)
_COMPILERS = ("cc", "gcc", "clang")
_HEAD = c_translate.TYPES + c_translate.DIVISION
_TRANSLATOR = tuple(
    Path(str(module.__file__)) for module in (c_translate, c_function, c_declarations)
)
_KERNELS, _SIGNATURES = "kernels.so", "kernels.json"  # in a folder of the cache


class CompilerError(UserError):
    """There is no C compiler, or it fails; the message says which and why."""


@dataclass(frozen=True)
class Signature:
    """What has to be known of a kernel to call it; its name is that in C."""

    module: str
    function: str
    name: str
    doc: str | None
    arguments: tuple[str, ...]
    returns: str

    @classmethod
    def of(cls, kernel: Kernel) -> Signature:
        """That of a kernel."""
        doc = ast.get_docstring(kernel.node)
        names = (kernel.module, kernel.node.name, kernel.name)
        return cls(*names, doc, kernel.arguments, kernel.returns)


class Function:
    """A compiled kernel, called with the objects that the Python one takes."""

    def __init__(self, kernel: Signature, library: ctypes.CDLL) -> None:
        self.__name__ = kernel.function
        self.__doc__ = kernel.doc
        self.__module__ = f"{library_files.PACKAGE}.{kernel.module}"
        self._call = library[kernel.name]
        self._call.restype = None if kernel.returns == NOTHING else ctypes.c_int32
        self._call.argtypes = [
            ctypes.c_int32 if kind == INT else ctypes.c_void_p for kind in kernel.arguments
        ]
        self._objects = [i for i, kind in enumerate(kernel.arguments) if kind != INT]
        self.address = ctypes.cast(self._call, ctypes.c_void_p).value  # of its code

    def __call__(self, *given: Any) -> Any:
        arguments = list(given)
        for i in self._objects:
            arguments[i] = _address(given[i])
        return self._call(*arguments)


class LateFunction:
    """A kernel that is compiled when it is needed; what C cannot express stays Python."""

    def __init__(self, module: str, function: Any) -> None:
        functools.update_wrapper(self, function)
        self._module, self._function = module, function
        self._call: Any = self._first

    def _found(self) -> Any:
        place = self._module, self._function.__name__
        self._call = functions(room_of(self._module)).get(place, self._function)
        return self._call

    def _first(self, *given: Any) -> Any:
        return self._found()(*given)

    @functools.cached_property
    def address(self) -> int | None:
        """Where its code is."""
        found: int | None = self._found().address
        return found

    def __call__(self, *given: Any) -> Any:
        return self._call(*given)


_addressof, _from_buffer = ctypes.addressof, ctypes.c_char.from_buffer


def _address(thing: Any) -> Any:
    """What a kernel gets for a buffer, for a function, or for a tuple of buffers."""
    kind = type(thing)
    if kind is tuple:
        return (ctypes.c_void_p * len(thing))(*map(_address, thing))
    if kind is LateFunction or kind is Function:
        return thing.address
    return _addressof(_from_buffer(thing)) if len(thing) else None


def write_addresses(buffers: tuple[Any, ...], table: object) -> array[int]:
    """The addresses of the buffers, for the kernels; the buffers have to outlive it."""
    return array("q", [_address(buffer) or 0 for buffer in buffers])


@functools.cache
def compiler() -> str | None:
    """The C compiler: the one that CC names, or the system's. None if there is none."""
    wanted = os.environ.get("CC")
    found = (shutil.which(name) for name in ([wanted] if wanted else _COMPILERS))
    return next((path for path in found if path), None)


def room_of(module: str) -> str:
    """The part of the library that is compiled with a module: its folder; a user's own learner is
    one of its own."""
    if module in own_files():
        return module
    return module.rpartition(".")[0]


def _modules_of(room: str) -> list[str]:
    names = map(library_files.module_name, library_files.sources_with_own())
    return [name for name in names if room_of(name) == room]


@functools.cache
def functions(room: str) -> dict[tuple[str, str], Function]:
    """The compiled kernels of a room, by module and name. Raises CompilerError."""
    modules = library_files.closure(_modules_of(room))
    folder = _folder_for(room, modules)
    if not (folder / _KERNELS).exists():
        _compile(room, modules, folder)
    library = ctypes.CDLL(str(folder / _KERNELS))
    listed = json.loads((folder / _SIGNATURES).read_text(encoding="utf-8"))
    kernels = [Signature(**row | {"arguments": tuple(row["arguments"])}) for row in listed]
    return {(kernel.module, kernel.function): Function(kernel, library) for kernel in kernels}


class CViper:
    """Stands for micropython.viper, as loader.Viper: it gives a kernel's compiled function."""

    def __call__(self, function: Any) -> Any:
        return LateFunction(function.__module__.partition(".")[2], function)

    def taking(self, name: str) -> CViper:
        """A compiled kernel takes another one as its first argument, as in viper."""
        return self


def marks() -> Path:
    """The folder for marks of what was compiled, of the library as it is now."""
    modules = map(library_files.module_name, library_files.sources_with_own())
    return _folder_for("", sorted(modules))


@functools.cache
def works() -> bool:
    """Whether there is a C compiler that has the headers it needs."""
    found = compiler()
    if found is None:
        return False
    command = [found, *FLAGS, "-x", "c", "-o", os.devnull, "-"]
    done = subprocess.run(command, input=_HEAD.encode(), capture_output=True, check=False)
    return done.returncode == 0


def _folder_for(room: str, modules: Iterable[str]) -> Path:
    """Where a room's kernels are, as these files, the translator and the compiler are now."""
    found = compiler()
    if found is None:
        raise CompilerError("There is no C compiler: install one, or name it in CC")
    state = Path(found).resolve().stat()
    known = (room, found, state.st_size, state.st_mtime_ns, FLAGS)
    sha = hashlib.sha256(repr(known).encode())
    named = [(name, library_files.source_of(name)) for name in modules]
    for name, path in [*named, *((path.name, path) for path in _TRANSLATOR)]:
        sha.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return cache_folder(f"c-{sha.hexdigest()[:16]}")


def _compile(room: str, modules: Sequence[str], folder: Path) -> None:
    """Translate a room's kernels, and have the compiler make machine code of them."""
    text, kernels = c_translate.translate(modules, of=_modules_of(room))
    listed = json.dumps([asdict(Signature.of(kernel)) for kernel in kernels])
    files.replace(folder / _SIGNATURES, listed.encode())
    source = folder / f"kernels.{os.getpid()}.c"
    part = source.with_suffix(".so")
    source.write_text(_HEAD + text, encoding="utf-8")
    command = [str(compiler()), *FLAGS, "-o", str(part), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompilerError(f"{command[0]} cannot compile the kernels: {done.stderr.strip()}")
    source.replace(folder / "kernels.c")
    part.replace(folder / _KERNELS)  # last of all: whoever finds it, finds the rest
