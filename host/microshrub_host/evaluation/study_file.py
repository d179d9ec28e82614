"""The file of a study: Optuna's SQLite database, which one search writes at a time."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ..base.errors import UserError
from ..base.files import lock

_MAGIC = b"SQLite format 3\0"


def open_locked(path: Path) -> IO[bytes]:
    """Open the file, creating it if need be, and lock it against other searches.

    Close it after SQLite has finished: closing any handle of a file releases SQLite's own locks on
    it. Raises UserError if it is in use, cannot be opened, or is neither empty nor a database.
    """
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("a+b"))
        except OSError as error:
            raise UserError(f"--study {path} cannot be used: {error.strerror}") from None
        lock(file, f"--study {path}")
        file.seek(0)
        if file.read(len(_MAGIC)) not in (b"", _MAGIC):
            raise UserError(f"--study {path} is no study of tune")
        stack.pop_all()
        return file


def storage(path: Path) -> Any:
    """Return Optuna's storage in that file, whose name may hold characters special in URLs."""
    import optuna
    import sqlalchemy

    options = {"creator": lambda: sqlite3.connect(path), "poolclass": sqlalchemy.pool.NullPool}
    return optuna.storages.RDBStorage("sqlite://", engine_kwargs=options)


@contextlib.contextmanager
def readable(path: Path) -> Iterator[None]:
    """Raise UserError, here or in the with statement, if the database is damaged."""
    import optuna
    import sqlalchemy

    broken = (sqlalchemy.exc.SQLAlchemyError, sqlite3.Error, optuna.exceptions.OptunaError)
    wrong = (ValueError, LookupError, TypeError, AttributeError, RuntimeError)  # bad content
    try:
        _check_integrity(path)
        yield
    except (*broken, *wrong) as error:
        raise UserError(
            f"--study {path} is damaged, or of another version of Optuna "
            f"({_first_line(error)}). Name another file, or delete this one"
        ) from None


@contextlib.contextmanager
def writable(path: Path) -> Iterator[None]:
    """Raise UserError if the database can no longer be written."""
    import optuna
    import sqlalchemy

    try:
        yield
    except (sqlalchemy.exc.SQLAlchemyError, optuna.exceptions.StorageInternalError) as error:
        raise UserError(f"--study {path} cannot be written: {_first_line(error)}") from None


def _check_integrity(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        (integrity,) = next(database.execute("PRAGMA integrity_check(1)"))
    if integrity != "ok":
        raise sqlite3.DatabaseError(integrity)


def _first_line(error: Exception) -> str:
    while error.__cause__ is not None and isinstance(error.__cause__, Exception):
        error = error.__cause__  # SQLite's own error, which the others wrap
    return (str(error) or type(error).__name__).splitlines()[0]
