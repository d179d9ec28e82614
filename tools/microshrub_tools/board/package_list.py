"""The packages that `mpremote mip install` copies to a board, without microshrub on the PC.

`package.json` is the library, `package-ROOM.json` the part of it that one room of learners needs,
and `package-device.json` the library with the program that learns on its own.

`make packages` writes them. Each names all of its files, since a
package of mip cannot name another by a relative address; those of files are relative, so that it
works from wherever the repository lies.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from microshrub_host.library import loader
from microshrub_host.sources import library_files

_INDENT = 2
_PROGRAM = "device"  # the room that is not part of the library


def package_lists() -> dict[str, str]:
    """The text of each package, by the name of its file."""
    modules = [
        path.relative_to(library_files.folder()).with_suffix("").as_posix().replace("/", ".")
        for path in library_files.sources()
    ]
    library = [name for name in modules if _room(name) != _PROGRAM]
    packages = {"package.json": library, f"package-{_PROGRAM}.json": modules}
    for room in sorted(set(map(_room, library)) - {""}):
        roots = [name for name in library if _room(name) in ("", room)]
        packages[f"package-{room}.json"] = library_files.closure(roots)
    return {file: _text(names) for file, names in packages.items()}


def _room(module: str) -> str:
    return module.rpartition(".")[0]


def _text(modules: Iterable[str]) -> str:
    version = loader.load("python").__version__
    files = [
        library_files.source_of(name).relative_to(library_files.folder()).as_posix()
        for name in modules
    ]
    urls = [[f"microshrub/{file}", f"firmware/microshrub/{file}"] for file in sorted(files)]
    return json.dumps({"urls": urls, "deps": [], "version": version}, indent=_INDENT) + "\n"


def write_packages() -> None:
    """Write them all to where the device library's folder lies in."""
    for name, text in package_lists().items():
        (library_files.folder().parents[1] / name).write_text(text, encoding="utf-8")
