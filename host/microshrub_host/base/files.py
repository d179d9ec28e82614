"""Atomic replacement of files, and checks of files before the work.

Locks between processes are the system's, so a killed process leaves no lock.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from .errors import UserError

if sys.platform != "win32":
    import fcntl

MODEL_START = rb"PK\x03\x04.{26}config\.json"  # the start of a model's file, a pattern
NONE = rb"(?!)"  # a pattern that no file matches
_OTHER, _THERE = "this file is of another kind", "this file exists already"
_HEAD = 64  # bytes of a file that identify its kind
_OTHER_BYTES = 1 << 16  # bytes, enough for all of a model but the learner's state


def resolved(path: Path) -> Path:
    """Return the path with all links resolved. Raises UserError if links form a circle."""
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            path.stat()
        return path.resolve()
    except (OSError, RuntimeError) as error:  # Python 3.12 and before raise RuntimeError
        why = getattr(error, "strerror", None) or "its links lead round in a circle"
        raise UserError(f"{path}: cannot be used: {why}") from None


def check_target(option: str, path: Path) -> None:
    """Raise UserError, naming the option, if the file cannot be written; leave no file behind."""
    try:
        folder = resolved(path).parent
    except UserError as error:
        raise UserError(f"{option} {error}") from None
    if not folder.is_dir():
        shown = folder if path.is_symlink() else path.parent
        raise UserError(f"{option} {path}: there is no folder {shown}")
    if path.is_dir():
        raise UserError(f"{option} {path}: this is a folder, not a file")
    if _is_special(path):  # opening a pipe would wait for its reader
        return
    try:
        if path.exists():
            path.open("ab").close()
        temporary = _temporary_path(path)
        temporary.open("xb").close()
        temporary.unlink()
    except OSError as error:
        raise UserError(f"{option} {path}: cannot be written: {error.strerror}") from None


def check_kind(option: str, path: Path, start: bytes) -> None:
    """Raise UserError, naming the option, if the path is a file of another kind.

    start is a pattern for the beginning of files of the right kind. An empty file may be replaced.
    """
    if is_other_kind(path, start):
        raise UserError(
            f"{option} {path}: {_OTHER if start != NONE else _THERE}; name another one, or use "
            "--force to replace it"
        )


def is_other_kind(path: Path, start: bytes) -> bool:
    """Return whether a file exists, is not empty, and does not begin with this pattern."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return bool(head) and not re.match(start, head, re.DOTALL)


def check_apart(outputs: Mapping[str, Path], inputs: Mapping[str, Path]) -> None:
    """Raise UserError, naming the option, if an output is also an input or another output."""
    seen = {resolved(path): name for name, path in inputs.items()}
    for option, path in outputs.items():
        other = seen.setdefault(resolved(path), option)
        if other != option:
            raise UserError(f"{option} {path}: {other} is the same file; name another one")


def check_room(option: str, path: Path, nbytes: int) -> None:
    """Raise UserError, naming the option, if the disk has no room for a model of that size."""
    nbytes += _OTHER_BYTES
    free = shutil.disk_usage(resolved(path).parent).free
    if free < nbytes:
        raise UserError(
            f"{option} {path}: the file may take {nbytes:,} bytes, and there are {free:,} free"
        )


def replace(path: Path, data: bytes | IO[bytes]) -> None:
    """Write a file from bytes, or from another file's whole content, atomically.

    An existing file is replaced in one step, and keeps its mode, and its owner where that is
    possible. A pipe or a device is written to directly. Raises UserError, and keeps the existing
    file, if writing fails.
    """
    temporary = _temporary_path(path)
    try:
        if _is_special(path):
            with path.open("wb") as file:
                _write(file, data)
            return
        try:
            with temporary.open("xb") as file:
                _as_before(path, file.fileno())
                _write(file, data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, resolved(path))
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None


def _write(file: IO[bytes], data: bytes | IO[bytes]) -> None:
    if isinstance(data, bytes):
        file.write(data)
    else:
        data.seek(0)
        shutil.copyfileobj(data, file)


def _as_before(path: Path, file: int) -> None:
    """Give a new file the mode and the owner of the file to replace."""
    if sys.platform == "win32" or not path.exists():
        return
    before = path.stat()
    if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(OSError):  # only root may change the owner
            os.fchown(file, before.st_uid, before.st_gid)
    os.fchmod(file, stat.S_IMODE(before.st_mode))


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _temporary_path(path: Path) -> Path:
    """Return a new name in the file's folder."""
    return resolved(path).parent / f".microshrub-{os.urandom(8).hex()}"


_PATIENCE = 60  # seconds; work for the cache takes a few
_LONGEST = 0.05  # seconds between two tries


def lock(file: IO[bytes], name: object) -> None:
    """Lock the file against other processes until it is closed; do nothing on Windows.

    Raises UserError, with the file's name for the user, if another process has the lock.
    """
    if not _taken(file):
        raise UserError(f"{name}: another run is writing there")


@contextlib.contextmanager
def alone(path: Path, patience: float = _PATIENCE) -> Iterator[None]:
    """Keep other processes and threads out of an alone() block of the same lock file.

    The lock file is made. The block is for work that would otherwise only be done twice. So the
    block is entered without the lock on Windows, if the file cannot be made, and if a stopped or
    hanging process keeps the lock for longer than `patience`, in seconds.
    """
    with contextlib.ExitStack() as opened:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            _wait(opened.enter_context(path.open("ab")), patience)
        yield


def _wait(file: IO[bytes], patience: float) -> None:
    end, pause = time.monotonic() + patience, 0.001
    while not _taken(file) and time.monotonic() < end:
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST)


def _taken(file: IO[bytes]) -> bool:
    """Try to lock the file; return whether that succeeded, always True on Windows."""
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
