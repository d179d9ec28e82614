"""The device library's source files: where they are, their names, and what they import."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from .own_learners import own_files

PACKAGE = "microshrub"  # the device library
WRITE_ADDRESSES = "write_addresses"  # the one kernel that depends on what a pointer is

Place = TypeVar("Place")


@functools.cache
def folder() -> Path:
    """Where the device library's source files are."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise RuntimeError("the package microshrub is not installed next to microshrub_host")
    return Path(spec.origin).parent


def sources() -> list[Path]:
    """The files of the device library, sorted by path.

    The __init__.py of a subfolder holds nothing but a docstring. It is left out here, and no board
    needs it: MicroPython imports from folders that have none.
    """
    return list(_sources_in(folder()))


@functools.cache
def _sources_in(top: Path) -> tuple[Path, ...]:
    files = (path for path in top.rglob("*.py") if path.name != "__init__.py")
    return tuple(sorted([top / "__init__.py", *files]))


@functools.cache
def version() -> str:
    """The version of the device library, and the CRC32 of its sources: 0.1.0 (8c5d1a02)."""
    crc = 0
    for path in sources():
        crc = zlib.crc32(path.read_bytes(), crc)
    return f"{importlib.import_module(PACKAGE).__version__} ({crc:08x})"


def sources_with_own() -> list[Path]:
    """The files of the device library, followed by those of the user's own learners."""
    return [*sources(), *own_files().values()]


def module_name(path: Path) -> str:
    """The name of a source, or of its compiled file, within the library, such as "shrub.cart"."""
    return path.stem if path in own_files().values() else _name_within(path)


@functools.cache
def _name_within(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[len(parts) - parts[::-1].index(PACKAGE) :])


def source_of(name: str) -> Path:
    """The file of the module of that name within the library."""
    own = own_files().get(name)
    return own or folder().joinpath(*name.split(".")).with_suffix(".py")


def imports(name: str, *, later: bool = True) -> set[str]:
    """The library's modules that this one imports.

    With `later`, this includes those that a function imports when it is called.
    """
    return set(imports_in(name, source_of(name).read_text(encoding="utf-8"), later))


@functools.cache
def imports_in(name: str, source: str, later: bool = True) -> frozenset[str]:
    """The same of a module's source that may not be that of its file."""
    body = ast.parse(source).body
    return frozenset(
        imported_from(name, node)
        for node in (_statements(body) if later else body)
        if isinstance(node, ast.ImportFrom) and is_of_library(node)
    )


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The statements, and those within them; expressions, of which there are most, are not."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, part, ())


def is_of_library(node: ast.ImportFrom) -> bool:
    """Whether this imports from the library; a user's own learner names the library to do so."""
    name = node.module or ""
    return bool(name) if node.level else name.startswith(f"{PACKAGE}.")


def imported_from(name: str, node: ast.ImportFrom) -> str:
    """The library's module that this import, in the module of that name, imports from."""
    if not node.level:
        return (node.module or "").partition(".")[2]
    parts = name.split(".")
    return ".".join([*parts[: len(parts) - node.level], node.module or ""])


def closure(roots: Iterable[str]) -> list[str]:
    """The names of the modules that importing these of the device library imports, sorted.

    Those that a function imports when it is called are not included.
    """
    return sorted(reached(["__init__", *roots], lambda name: imports(name, later=False)))


def reached(begin: Iterable[Place], ways: Callable[[Place], Iterable[Place]]) -> set[Place]:
    """The places to begin at, and those that ways lead to from them, and so on."""
    found: set[Place] = set()
    waiting = list(begin)
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting += ways(place)
    return found
