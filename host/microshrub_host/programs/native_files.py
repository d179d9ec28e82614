"""The compiled files of a native build: the library's modules, their kernels in `native.mpy`.

Made by native_module.py, native_tools.py and mpy-cross, and kept in the cache.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from ..base.cache import compiled_folder, kept
from ..fetch import native_tools
from ..fetch.debian_packages import Progress
from ..fetch.native_tools import NoNativeTools
from ..sources import library_files
from ..sources.library_files import PACKAGE
from . import mpy, native_module


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
    if modules is None:
        modules = map(library_files.module_name, library_files.sources_with_own())
    modules = sorted(modules)
    found = [module(arch, modules)]
    for name, text in native_module.native_library(modules).sources.items():
        target = found[0].parent / f"{name.replace('.', '/')}.mpy"
        make = partial(mpy.compile_text, text, arch=arch, name=f"{target.stem}.py")
        found.append(kept(target, make))
    return sorted(found)


def module(arch: str, modules: Iterable[str]) -> Path:
    """The native module alone; see compiled()."""
    tools = native_tools.find_or_fetch(arch)
    library = native_module.native_library(sorted(modules))
    sha = hashlib.sha256(repr((mpy.maker(), tools.recipe(), library)).encode())
    folder = compiled_folder("native", sha.digest()) / arch
    target = folder / PACKAGE / f"{native_module.MODULE}.mpy"
    return kept(target, lambda part: part.write_bytes(tools.build(library.c)))
