"""The user's own learners, and parts beside one: files that are added to the device library.

MICROSHRUB_LEARNERS and MICROSHRUB_PARTS name them as FILE.py:CLASS, separated by commas. add()
adds one, so that processes started from here know it, too. On a board, the file is a module of
the library.
"""

from __future__ import annotations

import ast
import functools
import os
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import UserError

VARIABLE = "MICROSHRUB_LEARNERS"
PARTS = "MICROSHRUB_PARTS"


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
    return list(_listed(VARIABLE, os.environ.get(VARIABLE, ""), os.getcwd()))


def own_parts() -> list[OwnLearner]:
    """The parts that MICROSHRUB_PARTS names. Raises UserError as own_learners() does."""
    return list(_listed(PARTS, os.environ.get(PARTS, ""), os.getcwd()))


def own_files() -> dict[str, Path]:
    """Their files, by module name. It is asked thousands of times, and mostly there are none."""
    if not os.environ.get(VARIABLE) and not os.environ.get(PARTS):
        return {}
    return {own.path.stem: own.path for own in (*own_learners(), *own_parts())}


def add(name: str, path: str | os.PathLike[str], variable: str = VARIABLE) -> None:
    """Add the class of that name in that file, for this process and those that it starts.

    variable is PARTS for a part beside a learner. Raises UserError if there is no such file, or no
    such class in it.
    """
    known = os.environ.get(variable, "")
    entry = f"{Path(path).resolve()}:{name}"
    text = f"{known},{entry}" if known else entry
    if entry not in known.split(","):
        _listed(variable, text, os.getcwd())
        os.environ[variable] = text


def remove(name: str, path: str | os.PathLike[str]) -> None:
    """Take back what add() has added."""
    entry = f"{Path(path).resolve()}:{name}"
    known = os.environ.get(VARIABLE, "").split(",")
    os.environ[VARIABLE] = ",".join(each for each in known if each != entry)


@functools.cache
def _listed(variable: str, text: str, folder: str) -> tuple[OwnLearner, ...]:
    entries = [entry.strip() for entry in text.split(",")]
    return tuple(_learner(variable, entry, Path(folder)) for entry in entries if entry)


def _learner(variable: str, entry: str, folder: Path) -> OwnLearner:
    file, colon, name = entry.rpartition(":")
    path = (folder / os.path.expanduser(file)).resolve()  # as it is, where nobody has that home
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
    return OwnLearner(name, path)
