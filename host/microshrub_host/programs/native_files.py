"""The compiled files of a native build: the library's modules, and `native.mpy` with the kernels.

The package contains the machine code of all kernels, in an archive for each processor, compiled by
`make machine-code`. In a checkout, where kernels may have changed, a C compiler makes each archive
once, and the cache holds it. The kernels that a program needs are linked to its native module.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..base import native_tools
from ..base.cache import compiled_folder, kept
from ..base.debian_packages import Progress, silent
from ..base.files import alone
from ..base.native_tools import PROCESSORS, NoNativeTools
from ..base.terminal import messages
from ..library import c_translate, library_files, loader
from ..library.library_files import PACKAGE
from . import machine_code, mpy, native_module

PACKAGED = Path(__file__).with_name("machine_code")  # a folder
_RUNTIME = Path(__file__).with_name("native_runtime.c")
_SUFFIX = ".json.gz"
ON_BOARDS = tuple(sorted(PROCESSORS.keys() - {"x86"}))  # processors of boards, so not the PC's
_DIGEST = 32  # bytes of the sources' digest before an archive
_MAKERS = (native_tools, native_module, machine_code)  # and the package of c_translate


@functools.cache
def can_be_made(arch: str) -> bool:
    """Return whether there is machine code for an -march of mpy-cross; if not, print a note, once.

    If the machine code is missing, a compiler makes it, after a download to the cache if need be.
    """
    try:
        _archive(arch, messages.say)
    except NoNativeTools as why:
        messages.say(f"Note: {why}; mpy-cross compiles the kernels, as viper.")
        return False
    return True


def compiled(arch: str, modules: Iterable[str] | None = None) -> list[Path]:
    """Return the .mpy files of the device library, or of some modules; made if not cached.

    modules are all modules that a program imports. The native module is added, and modules that
    have only kernels are left out. The paths are sorted. Raises NoNativeTools if the native module
    cannot be made.
    """
    if modules is None:
        modules = map(library_files.module_name, library_files.sources_with_users())
    modules = sorted(modules)
    paths = [module(arch, modules)]
    for name, text in native_module.native_library(modules).sources.items():
        target = paths[0].parent / f"{name.replace('.', '/')}.mpy"
        make = partial(mpy.compile_text, text, arch=arch, name=f"{target.stem}.py")
        paths.append(kept(target, make))
    return sorted(paths)


def module(arch: str, modules: Iterable[str], names: Mapping[str, str] | None = None) -> Path:
    """Return the native module alone; see compiled().

    names maps new names of kernels to their names in native_library(); other kernels are left out,
    and the kernels become globals of the package. By default all have their own names, and are
    globals of the native module.
    """
    names = None if names is None else dict(names)
    asked = sorted(modules)
    key = repr((mpy.maker(), made_of(arch), loader.digest(), asked, names)).encode()
    folder = compiled_folder("native", hashlib.sha256(key).digest()) / arch
    target = folder / PACKAGE / f"{native_module.MODULE}.mpy"

    def link(part: Path) -> None:
        exported = native_module.native_library(asked).exported
        if names is not None:
            known = {each.name: each for each in exported}
            exported = tuple(replace(known[old], name=new) for new, old in names.items())
        name = f"{native_module.MODULE}.c"
        package = PACKAGE if names is not None else ""
        code = machine_code.linked(_archive(arch), arch, exported, name, package)
        part.write_bytes(code)

    return kept(target, link)


def made_of(arch: str) -> bytes:
    """Return a digest of everything that the machine code depends on."""
    return hashlib.sha256(_sources() + repr((arch, PROCESSORS.get(arch))).encode()).digest()


@functools.cache
def _sources() -> bytes:
    files = [*library_files.sources(), _RUNTIME, *(Path(str(m.__file__)) for m in _MAKERS)]
    files += sorted(Path(c_translate.__file__).parent.glob("*.py"))
    return b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)


@functools.cache
def _archive(arch: str, say: Progress = silent) -> machine_code.Archive:
    """Return the archive for a processor. Raises NoNativeTools."""
    packaged = PACKAGED / f"{arch}{_SUFFIX}"
    wanted = made_of(arch)
    if packaged.is_file() and (data := packaged.read_bytes()).startswith(wanted):
        return machine_code.from_json(gzip.decompress(data[_DIGEST:]))
    folder = compiled_folder("kernels", wanted)
    with alone(folder / mpy.LOCK):
        file = kept(folder / f"{arch}{_SUFFIX}", lambda part: part.write_bytes(_made(arch, say)))
    return machine_code.from_json(gzip.decompress(file.read_bytes()[_DIGEST:]))


def _made(arch: str, say: Progress) -> bytes:
    tools = native_tools.find_or_fetch(arch, say)
    say(f"compiling the kernels for {arch}, once")
    text = _RUNTIME.read_text(encoding="utf-8") + native_module.kernels_in_c()
    functions = machine_code.archive_of(tools.compile(text), arch)
    return made_of(arch) + gzip.compress(machine_code.to_json(functions), mtime=0)


def write_archives(folder: Path, say: Progress) -> None:
    """Write an archive for each processor that boards have. Raises NoNativeTools."""
    folder.mkdir(parents=True, exist_ok=True)
    for arch in ON_BOARDS:
        (folder / f"{arch}{_SUFFIX}").write_bytes(_made(arch, say))


if __name__ == "__main__":
    write_archives(PACKAGED, partial(print, file=sys.stderr))
