"""The device library's source files: their places, their names, and their imports.

The user's own learners and companions are additional files. MICROSHRUB_LEARNERS and
MICROSHRUB_COMPANIONS name them as FILE.py:CLASS, separated by commas. add() adds a file, also for
processes started from here. On a board, the file is a module of the library.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ..base.errors import UserError
from ..base.files import resolved

VARIABLE = "MICROSHRUB_LEARNERS"
COMPANIONS = "MICROSHRUB_COMPANIONS"


@dataclass(frozen=True)
class UserLearner:
    """A user's class in a file; its module in the library has the file's name."""

    name: str
    path: Path

    @property
    def module(self) -> str:
        """The module's name for firmware's register(), relative to the library."""
        return "." + self.path.stem


def user_learners() -> list[UserLearner]:
    """Return the learners in MICROSHRUB_LEARNERS. Raises UserError for an invalid entry."""
    return list(_listed(VARIABLE, os.environ.get(VARIABLE, ""), os.getcwd()))


def user_companions() -> list[UserLearner]:
    """Return the companions in MICROSHRUB_COMPANIONS. Raises as user_learners() does."""
    return list(_listed(COMPANIONS, os.environ.get(COMPANIONS, ""), os.getcwd()))


def user_files() -> dict[str, Path]:
    """Return the files of user learners and companions, by module name.

    The function is called thousands of times, mostly without any such files.
    """
    if not os.environ.get(VARIABLE) and not os.environ.get(COMPANIONS):
        return {}
    return {each.path.stem: each.path for each in (*user_learners(), *user_companions())}


def add(name: str, path: str | os.PathLike[str], variable: str = VARIABLE) -> None:
    """Add the class of that name in that file, for this process and its child processes.

    variable is COMPANIONS for a companion. Raises UserError if there is no such file, or no such
    class in the file.
    """
    known = os.environ.get(variable, "")
    entry = f"{resolved(Path(path))}:{name}"
    text = f"{known},{entry}" if known else entry
    if entry not in known.split(","):
        _listed(variable, text, os.getcwd())
        os.environ[variable] = text


def remove(name: str, path: str | os.PathLike[str]) -> None:
    """Remove a learner that add() has added."""
    entry = f"{resolved(Path(path))}:{name}"
    known = os.environ.get(VARIABLE, "").split(",")
    os.environ[VARIABLE] = ",".join(each for each in known if each != entry)


@functools.cache
def _listed(variable: str, text: str, folder: str) -> tuple[UserLearner, ...]:
    entries = [entry.strip() for entry in text.split(",")]
    return tuple(_learner(variable, entry, Path(folder)) for entry in entries if entry)


def _learner(variable: str, entry: str, folder: Path) -> UserLearner:
    file, colon, name = entry.rpartition(":")
    path = resolved(folder / os.path.expanduser(file))  # unchanged if there is no such home
    if not colon or path.suffix != ".py" or not name.isidentifier():
        raise UserError(f"{variable}: {entry!r} has to be FILE.py:CLASS")
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise UserError(f"{variable}: {path} cannot be read: {error.strerror}") from None
    except SyntaxError as error:
        raise UserError(f"{variable}: {path}, line {error.lineno}: {error.msg}") from None
    if not any(isinstance(node, ast.ClassDef) and node.name == name for node in tree.body):
        raise UserError(f"{variable}: there is no class {name} in {path}")
    return UserLearner(name, path)


PACKAGE = "microshrub"  # the device library
WRITE_ADDRESSES = "write_addresses"  # the only kernel that depends on the engine's pointers

Place = TypeVar("Place")


@functools.cache
def folder() -> Path:
    """Return the folder of the device library's source files."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise RuntimeError("the package microshrub is not installed next to microshrub_host")
    return Path(spec.origin).parent


def sources() -> list[Path]:
    """Return the files of the device library, sorted by path.

    The __init__.py of a subfolder has only a docstring. It is left out here, and no board needs
    it: MicroPython imports from folders without one.
    """
    return list(_sources_in(folder()))


@functools.cache
def _sources_in(top: Path) -> tuple[Path, ...]:
    files = (path for path in top.rglob("*.py") if path.name != "__init__.py")
    return tuple(sorted([top / "__init__.py", *files]))


@functools.cache
def version() -> str:
    """Return the device library's version, and the CRC32 of its sources: 0.1.0 (8c5d1a02)."""
    crc = 0
    for path in sources():
        crc = zlib.crc32(path.read_bytes(), crc)
    return f"{importlib.import_module(PACKAGE).__version__} ({crc:08x})"


def sources_with_users() -> list[Path]:
    """Return the files of the device library, followed by the user's files."""
    return [*sources(), *user_files().values()]


def module_name(path: Path) -> str:
    """Return a source's or compiled file's name within the library, such as "shrub.cart"."""
    return path.stem if path in user_files().values() else _name_within(path)


@functools.cache
def _name_within(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[len(parts) - parts[::-1].index(PACKAGE) :])


def source_of(name: str) -> Path:
    """Return the file of a module by its name within the library."""
    user_file = user_files().get(name)
    return user_file or folder().joinpath(*name.split(".")).with_suffix(".py")


def imports(name: str, *, later: bool = True) -> set[str]:
    """Return the library's modules that a module imports.

    With `later`, this includes imports inside functions.
    """
    return set(_imports(name, later, *as_it_is(source_of(name))))


def as_it_is(path: Path) -> tuple[Path, int, int]:
    """Return a key for a file's content: sources are read very often, and seldom change."""
    status = path.stat()
    return path, status.st_mtime_ns, status.st_size


@functools.cache
def _imports(name: str, later: bool, path: Path, *_changed: int) -> frozenset[str]:
    return imports_in(name, path.read_text(encoding="utf-8"), later)


def imports_in(name: str, source: str, later: bool = True) -> frozenset[str]:
    """Return the imports of a module for a source that may differ from its file."""
    at_once, all_of_them = _imports_in(name, source)
    return all_of_them if later else at_once


@functools.cache
def _imports_in(name: str, source: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the imports at the start, and all imports, including those inside functions."""
    body = ast.parse(source).body
    at_once, all_of_them = (
        frozenset(
            imported_from(name, node)
            for node in nodes
            if isinstance(node, ast.ImportFrom) and is_of_library(node)
        )
        for nodes in (body, _statements(body))
    )
    return at_once, all_of_them


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements, including inner ones, but no expressions, which are most of the nodes."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, part, ())


def is_of_library(node: ast.ImportFrom) -> bool:
    """Return whether an import is from the library, which a user's learner imports by its name."""
    name = node.module or ""
    return bool(name) if node.level else name.startswith(f"{PACKAGE}.")


def imported_from(name: str, node: ast.ImportFrom) -> str:
    """Return the library's module from which an import, in the module of that name, imports."""
    if not node.level:
        return (node.module or "").partition(".")[2]
    parts = name.split(".")
    return ".".join([*parts[: len(parts) - node.level], node.module or ""])


def closure(roots: Iterable[str]) -> list[str]:
    """Return the names of all modules that are imported with the given ones, sorted.

    Imports inside functions are not included.
    """
    return sorted(reached(["__init__", *roots], lambda name: imports(name, later=False)))


def reached(begin: Iterable[Place], ways: Callable[[Place], Iterable[Place]]) -> set[Place]:
    """Return all places that can be reached by `ways`, including the places to begin at."""
    result: set[Place] = set()
    waiting = list(begin)
    while waiting:
        place = waiting.pop()
        if place not in result:
            result.add(place)
            waiting += ways(place)
    return result
