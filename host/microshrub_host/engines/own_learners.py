"""The user's own learners: files that are added to the device library.

MICROSHRUB_LEARNERS names them as FILE.py:CLASS, separated by commas. register() adds one to it, so
that processes started from here know it, too. On a board, the file is a module of the library.
"""

from __future__ import annotations

import ast
import functools
import os
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import UserError

VARIABLE = "MICROSHRUB_LEARNERS"


@dataclass(frozen=True)
class OwnLearner:
    """A class in a file; its module in the library has the file's name."""

    name: str
    path: Path

    @property
    def module(self) -> str:
        """The module as firmware's register() wants it, relative to the library."""
        return "." + self.path.stem


def own_learners() -> list[OwnLearner]:
    """Those that MICROSHRUB_LEARNERS names. Raises UserError if one is not a learner."""
    return list(_listed(os.environ.get(VARIABLE, ""), os.getcwd()))


def own_files() -> dict[str, Path]:
    """Their files, by module name."""
    return {learner.path.stem: learner.path for learner in own_learners()}


def add(name: str, path: str | os.PathLike[str]) -> None:
    """Add the class of that name in that file, for this process and those that it starts.

    Raises UserError if there is no such file, or no such class in it.
    """
    known = os.environ.get(VARIABLE, "")
    entry = f"{Path(path).resolve()}:{name}"
    text = f"{known},{entry}" if known else entry
    if entry not in known.split(","):
        _listed(text, os.getcwd())
        os.environ[VARIABLE] = text


def remove(name: str, path: str | os.PathLike[str]) -> None:
    """Take back what add() has added."""
    entry = f"{Path(path).resolve()}:{name}"
    known = os.environ.get(VARIABLE, "").split(",")
    os.environ[VARIABLE] = ",".join(each for each in known if each != entry)


@functools.cache
def _listed(text: str, folder: str) -> tuple[OwnLearner, ...]:
    entries = [entry.strip() for entry in text.split(",")]
    return tuple(_learner(entry, Path(folder)) for entry in entries if entry)


def _learner(entry: str, folder: Path) -> OwnLearner:
    file, colon, name = entry.rpartition(":")
    path = (folder / os.path.expanduser(file)).resolve()  # as it is, where nobody has that home
    if not colon or path.suffix != ".py" or not name.isidentifier():
        raise UserError(f"{VARIABLE}: {entry!r} has to be FILE.py:CLASS")
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise UserError(f"{VARIABLE}: {path} cannot be read: {error.strerror}") from None
    except SyntaxError as error:
        raise UserError(f"{VARIABLE}: {path}, line {error.lineno}: {error.msg}") from None
    if not any(isinstance(node, ast.ClassDef) and node.name == name for node in tree.body):
        raise UserError(f"{VARIABLE}: there is no class {name} in {path}")
    return OwnLearner(name, path)
