"""The device library's source files: where they are, their names, and what they import.

The user's own learners and companions are files that are added to it. MICROSHRUB_LEARNERS and
MICROSHRUB_COMPANIONS name them as FILE.py:CLASS, separated by commas. add() adds one, so that
processes started from here know it, too. On a board, the file is a module of the library.
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
    """A class in a file; its module in the library has the file's name."""

    name: str
    path: Path

    @property
    def module(self) -> str:
        """The module as firmware's register() wants it, relative to the library."""
        return "." + self.path.stem


def user_learners() -> list[UserLearner]:
    """Those that MICROSHRUB_LEARNERS names. Raises UserError if one is not a learner."""
    return list(_listed(VARIABLE, os.environ.get(VARIABLE, ""), os.getcwd()))


def user_companions() -> list[UserLearner]:
    """The companions that MICROSHRUB_COMPANIONS names. Raises as user_learners() does."""
    return list(_listed(COMPANIONS, os.environ.get(COMPANIONS, ""), os.getcwd()))


def user_files() -> dict[str, Path]:
    """Their files, by module name. It is asked thousands of times, and mostly there are none."""
    if not os.environ.get(VARIABLE) and not os.environ.get(COMPANIONS):
        return {}
    return {each.path.stem: each.path for each in (*user_learners(), *user_companions())}


def add(name: str, path: str | os.PathLike[str], variable: str = VARIABLE) -> None:
    """Add the class of that name in that file, for this process and those that it starts.

    variable is COMPANIONS for a companion. Raises UserError if there is no such file, or no such
    class in it.
    """
    known = os.environ.get(variable, "")
    entry = f"{resolved(Path(path))}:{name}"
    text = f"{known},{entry}" if known else entry
    if entry not in known.split(","):
        _listed(variable, text, os.getcwd())
        os.environ[variable] = text


def remove(name: str, path: str | os.PathLike[str]) -> None:
    """Take back what add() has added."""
    entry = f"{resolved(Path(path))}:{name}"
    known = os.environ.get(VARIABLE, "").split(",")
    os.environ[VARIABLE] = ",".join(each for each in known if each != entry)


@functools.cache
def _listed(variable: str, text: str, folder: str) -> tuple[UserLearner, ...]:
    entries = [entry.strip() for entry in text.split(",")]
    return tuple(_learner(variable, entry, Path(folder)) for entry in entries if entry)


def _learner(variable: str, entry: str, folder: Path) -> UserLearner:
    file, colon, name = entry.rpartition(":")
    path = resolved(folder / os.path.expanduser(file))  # as it is, where nobody has that home
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


def sources_with_users() -> list[Path]:
    """The files of the device library, followed by those of the user's own learners."""
    return [*sources(), *user_files().values()]


def module_name(path: Path) -> str:
    """The name of a source, or of its compiled file, within the library, such as "shrub.cart"."""
    return path.stem if path in user_files().values() else _name_within(path)


@functools.cache
def _name_within(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[len(parts) - parts[::-1].index(PACKAGE) :])


def source_of(name: str) -> Path:
    """The file of the module of that name within the library."""
    user_file = user_files().get(name)
    return user_file or folder().joinpath(*name.split(".")).with_suffix(".py")


def imports(name: str, *, later: bool = True) -> set[str]:
    """The library's modules that this one imports.

    With `later`, this includes those that a function imports when it is called.
    """
    return set(_imports(name, later, *as_it_is(source_of(name))))


def as_it_is(path: Path) -> tuple[Path, int, int]:
    """A key for what a file holds: sources are asked for thousands of times, and seldom change."""
    status = path.stat()
    return path, status.st_mtime_ns, status.st_size


@functools.cache
def _imports(name: str, later: bool, path: Path, *_changed: int) -> frozenset[str]:
    return imports_in(name, path.read_text(encoding="utf-8"), later)


def imports_in(name: str, source: str, later: bool = True) -> frozenset[str]:
    """The same of a module's source that may not be that of its file."""
    at_once, all_of_them = _imports_in(name, source)
    return all_of_them if later else at_once


@functools.cache
def _imports_in(name: str, source: str) -> tuple[frozenset[str], frozenset[str]]:
    """What is imported at the start, and that with what functions import."""
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
    result: set[Place] = set()
    waiting = list(begin)
    while waiting:
        place = waiting.pop()
        if place not in result:
            result.add(place)
            waiting += ways(place)
    return result
