"""Files that are replaced at once, and only by whole ones; the checks before the work.

Locks between processes are the system's, so one that is killed leaves none behind.
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

MODEL_START = rb"PK\x03\x04.{26}config\.json"  # of a model's file, a pattern
NONE = rb"(?!)"  # a pattern that no file matches
_OTHER, _THERE = "this file is of another kind", "this file exists already"
_HEAD = 64  # bytes of a file that tell what it is
_OTHER_BYTES = 1 << 16  # bytes that are enough for all but a learner's state


def resolved(path: Path) -> Path:
    """The path behind all links. Raises UserError where links lead round in a circle."""
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            path.stat()
        return path.resolve()
    except (OSError, RuntimeError) as error:  # Python 3.12 and before raise RuntimeError
        why = getattr(error, "strerror", None) or "its links lead round in a circle"
        raise UserError(f"{path}: cannot be used: {why}") from None


def check_target(option: str, path: Path) -> None:
    """Raise UserError, naming the option, if no file can be written there; leaves none behind."""
    try:
        folder = resolved(path).parent
    except UserError as error:
        raise UserError(f"{option} {error}") from None
    if not folder.is_dir():
        shown = folder if path.is_symlink() else path.parent
        raise UserError(f"{option} {path}: there is no folder {shown}")
    if path.is_dir():
        raise UserError(f"{option} {path}: this is a folder, not a file")
    if _is_special(path):  # a pipe would wait for its reader
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
    """Raise UserError, naming the option, for a file that is there and is of another kind.

    start is a pattern that files of its kind match at their beginning. An empty file may go.
    """
    if is_other_kind(path, start):
        raise UserError(
            f"{option} {path}: {_OTHER if start != NONE else _THERE}; name another one, or use "
            "--force to replace it"
        )


def is_other_kind(path: Path, start: bytes) -> bool:
    """Whether a file is there, is not empty, and begins otherwise than this pattern."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return bool(head) and not re.match(start, head, re.DOTALL)


def check_apart(outputs: Mapping[str, Path], inputs: Mapping[str, Path]) -> None:
    """Raise UserError for an output, by its option, that is an input or another output as well."""
    seen = {resolved(path): name for name, path in inputs.items()}
    for option, path in outputs.items():
        other = seen.setdefault(resolved(path), option)
        if other != option:
            raise UserError(f"{option} {path}: {other} is the same file; name another one")


def check_room(option: str, path: Path, nbytes: int) -> None:
    """Raise UserError, naming the option, if a model of that many bytes does not fit there."""
    nbytes += _OTHER_BYTES
    free = shutil.disk_usage(resolved(path).parent).free
    if free < nbytes:
        raise UserError(
            f"{option} {path}: the file may take {nbytes:,} bytes, and there are {free:,} free"
        )


def replace(path: Path, data: bytes | IO[bytes]) -> None:
    """Write a file, of bytes or of what another one has from its beginning on; one that is there
    is replaced at once, and only by a whole one.

    It keeps its mode, and its owner where that is possible. A pipe or a device is written to.
    Raises UserError, and leaves what is there, if it cannot be written.
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
    """Give a new file the mode and the owner of the one that it is to replace."""
    if sys.platform == "win32" or not path.exists():
        return
    before = path.stat()
    if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(OSError):  # only root may
            os.fchown(file, before.st_uid, before.st_gid)
    os.fchmod(file, stat.S_IMODE(before.st_mode))


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _temporary_path(path: Path) -> Path:
    """A new name in the folder that the file is to stand in."""
    return resolved(path).parent / f".microshrub-{os.urandom(8).hex()}"


_PATIENCE = 60  # seconds; what is kept in the cache takes a few
_LONGEST = 0.05  # seconds between two looks


def lock(file: IO[bytes], name: object) -> None:
    """Keep other processes out until the file is closed; where no such locks exist, do nothing.

    Raises UserError, with the name that the user knows the file by, if another process is in.
    """
    if not _taken(file):
        raise UserError(f"{name}: another run is writing there")


@contextlib.contextmanager
def alone(path: Path, patience: float = _PATIENCE) -> Iterator[None]:
    """Within it, no other process or thread is in an alone() of that file, which is made.

    For work that others would do once more, and that is right even so: it goes on without where
    no such locks exist, where the file cannot be made, and if one that was stopped, or hangs,
    stays in for longer than `patience`, in seconds.
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
    """Whether the file is locked now; where no such locks exist, it is as if it were."""
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
