"""The device library's compiled files, ready to be frozen into a firmware by MicroPython's build.

Each names its source by the path in the package, as MicroPython looks frozen modules up by that
path. Their machine code runs wherever the build puts it; see movable_code.py.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

from ..library import library_files
from . import movable_code, mpy
from .movable_code import ImmovableCodeError

MANIFEST = '''\
"""Freezes microshrub into a firmware: make -C ports/PORT BOARD=... FROZEN_MANIFEST=THIS_FILE."""

for folder in ("$(BOARD_DIR)", "$(PORT_DIR)/boards"):  # what the firmware has without it
    try:
        include(folder + "/manifest.py")
        break
    except Exception as error:
        if "[Errno 2]" not in str(error):
            raise
freeze_mpy(".")
'''
_MOVED = "armv6m"  # the architecture whose code depends on its address


def files(arch: str, modules: Collection[str]) -> dict[str, bytes]:
    """Return the manifest and the .mpy files of these modules, by path within one folder.

    `arch` is an -march of mpy-cross, or BYTECODE_ONLY. Raises ImmovableCodeError for a module of
    the user's own whose code has to be at a multiple of four.
    """
    contents = {"manifest.py": MANIFEST.encode()}
    with tempfile.TemporaryDirectory() as folder:
        for source in library_files.sources_with_users():
            if library_files.module_name(source) in modules:
                place = mpy.in_library(source)
                contents[place] = _compiled(source, arch, Path(folder), place)
    return contents


def _compiled(source: Path, arch: str, folder: Path, place: str) -> bytes:
    target = folder / place
    target.parent.mkdir(parents=True, exist_ok=True)
    name = Path(place).with_suffix(".py").as_posix()
    mpy.compile_file(source, target, arch, name)
    data = bytearray(target.read_bytes())
    if arch == _MOVED:
        for code in _functions(mpy.read(target).code):
            data[code.at : code.at + len(code.data)] = _movable(code, name)
    return bytes(data)


def _movable(code: mpy.Code, name: str) -> bytes:
    if not code.native:
        return code.data
    try:
        if code.kind == mpy.NATIVE:
            raise ImmovableCodeError("only that of viper functions can be moved")
        return movable_code.movable(code.data)
    except ImmovableCodeError as error:
        raise ImmovableCodeError(
            f"{name} cannot be frozen for {_MOVED}: the code of a function has to be at a "
            f"multiple of four, as {error}"
        ) from None


def _functions(code: mpy.Code) -> Iterator[mpy.Code]:
    yield code
    for child in code.children:
        yield from _functions(child)
