"""Files that are replaced at once, and only by whole ones; the checks before the work."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

from .errors import UserError

_AROUND = 1 << 16  # bytes that are enough for all but a learner's state


def check_target(option: str, path: Path) -> None:
    """Raise UserError, naming the option, if no file can be written there; leaves none behind."""
    folder = path.resolve().parent
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
        temporary = _beside(path)
        temporary.open("xb").close()
        temporary.unlink()
    except OSError as error:
        raise UserError(f"{option} {path}: cannot be written: {error.strerror}") from None


def check_room(option: str, path: Path, nbytes: int) -> None:
    """Raise UserError, naming the option, if a model of that many bytes does not fit there."""
    nbytes += _AROUND
    free = shutil.disk_usage(path.resolve().parent).free
    if free < nbytes:
        raise UserError(
            f"{option} {path}: the file may take {nbytes:,} bytes, and there are {free:,} free"
        )


def replace(path: Path, data: bytes) -> None:
    """Write a file; one that is there is replaced at once, and only by a whole one.

    A pipe or a device is written to. Raises UserError, and leaves what is there, if it cannot be
    written.
    """
    temporary = _beside(path)
    try:
        if _is_special(path):
            path.write_bytes(data)
            return
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path.resolve())
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _beside(path: Path) -> Path:
    """A new name in the folder that the file is to stand in."""
    return path.resolve().parent / f".microshrub-{secrets.token_hex(8)}"
