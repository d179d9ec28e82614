"""The kernels compiled by the system's C compiler: the engine `c`."""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import c_function, c_translate
from .compiled_kernels import CompilerError, KernelCompiler
from .kernel_sources import Kernel

FLAGS = (
    *("-std=gnu11", "-O3", "-fwrapv", "-fPIC", "-shared"),
    "-fno-semantic-interposition",  # kernels may be inlined into each other
    "-fno-ivopts",  # with it, the scan over a window takes 5 % longer
)
_COMPILERS = ("cc", "gcc", "clang")
_HEAD = c_translate.TYPES + c_translate.DIVISION


@functools.cache
def compiler() -> str | None:
    """The C compiler: the one that CC names, or the system's. None if there is none."""
    wanted = os.environ.get("CC")
    found = (shutil.which(name) for name in ([wanted] if wanted else _COMPILERS))
    return next((path for path in found if path), None)


@functools.cache
def works() -> bool:
    """Whether there is a C compiler that has the headers it needs."""
    found = compiler()
    if found is None:
        return False
    command = [found, *FLAGS, "-x", "c", "-o", os.devnull, "-"]
    done = subprocess.run(command, input=_HEAD.encode(), capture_output=True, check=False)
    return done.returncode == 0


class CCompiler(KernelCompiler):
    """It makes a shared library of a room's kernels."""

    name, file = "c", "kernels.so"
    translator = (c_translate, c_function)

    def key(self) -> object:
        found = compiler()
        if found is None:
            raise CompilerError(
                "There is no C compiler: install one, name it in CC, or take the engine llvm."
            )
        state = Path(found).resolve().stat()
        return found, state.st_size, state.st_mtime_ns, FLAGS

    def translate(self, modules: Sequence[str], of: Sequence[str]) -> tuple[str, list[Kernel]]:
        text, kernels = c_translate.translate(modules, of=of)
        return _HEAD + text, kernels

    def compile(self, text: str, folder: Path) -> None:
        source = folder / f"kernels.{os.getpid()}.c"
        part = source.with_suffix(".so")
        source.write_text(text, encoding="utf-8")
        command = [str(compiler()), *FLAGS, "-o", str(part), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CompilerError(f"{command[0]} cannot compile the kernels: {done.stderr.strip()}")
        source.replace(folder / "kernels.c")
        part.replace(folder / self.file)

    def addresses(self, folder: Path, names: Sequence[str]) -> Mapping[str, int]:
        library = ctypes.CDLL(str(folder / self.file))
        return {name: ctypes.cast(library[name], ctypes.c_void_p).value or 0 for name in names}


COMPILER = CCompiler()
