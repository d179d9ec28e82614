"""The compiled files of a native build: the library's modules, their kernels in `native.mpy`.

Made by native_module.py, native_tools.py and mpy-cross, and kept in the cache.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ..base.cache import cache_folder
from . import library_files, mpy, native_module, native_tools
from .debian_packages import Progress
from .library_files import PACKAGE
from .native_tools import NativeTools, NoNativeTools


def can_be_made(arch: str, say: Progress) -> bool:
    """Whether there are native modules for an -march of mpy-cross; one line says why not.

    The tools are fetched into the cache if need be.
    """
    try:
        native_tools.find_or_fetch(arch, say)
    except NoNativeTools as why:
        say(f"Note: {why}; mpy-cross compiles the kernels, as viper.")
        return False
    return True


def compiled(arch: str, modules: Iterable[str] | None = None) -> list[Path]:
    """The .mpy files of the device library, or of these modules, made unless in the cache, sorted.

    The modules have to be all that a program imports; the native module is one more, and those
    that hold nothing but kernels are left out. Raises NoNativeTools if it cannot be made.
    """
    tools = native_tools.find_or_fetch(arch)
    if modules is None:
        modules = map(library_files.module_name, library_files.sources_with_own())
    library = native_module.native_library(sorted(modules))
    sha = hashlib.sha256(repr((mpy.maker(), tools.recipe(), library)).encode())
    folder = cache_folder(f"native-{sha.hexdigest()[:16]}") / arch
    found = [_native(tools, library.c, folder / PACKAGE / f"{native_module.MODULE}.mpy")]
    for name, text in library.sources.items():
        target = folder / PACKAGE / f"{name.replace('.', '/')}.mpy"
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            _compile(text, target, arch)
        found.append(target)
    return sorted(found)


def _native(tools: NativeTools, c: str, target: Path) -> Path:
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(f".{os.getpid()}")
        part.write_bytes(tools.build(c))
        part.replace(target)
    return target


def _compile(text: str, target: Path, arch: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"{target.stem}.py"  # a name that the file keeps
        source.write_text(text, encoding="utf-8")
        part = target.with_suffix(f".{os.getpid()}")
        mpy.compile_file(source, part, arch)
    part.replace(target)
