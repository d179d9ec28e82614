"""The key of a board's link over TCP, in a file that only its owner can read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from microshrub_host.base.errors import UserError

from .tcp_line import KEY

ENDING = ".key"
_made: list[Path] = []  # in all_or_none()
_BUILDS = Path("build")  # where `microshrub build` puts a folder for each board


def of_build(folder: Path) -> Path:
    """The file of the key of a build in that folder; it stays where the folder is replaced."""
    return folder.with_name(folder.name + ENDING)


@contextlib.contextmanager
def all_or_none() -> Iterator[None]:
    """Keys that are made in the block go again if it raises: of a program that was not built."""
    before = len(_made)
    try:
        yield
    except BaseException:
        for path in reversed(_made[before:]):
            with contextlib.suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()
        raise
    finally:
        del _made[before:]


def kept(path: Path) -> bytes:
    """The key in a file, which is made with a new one if it is not there. Raises UserError."""
    if not path.exists():
        try:
            folders = [each for each in path.parents if not each.exists()]
            path.parent.mkdir(parents=True, exist_ok=True)
            _made.extend([*reversed(folders), path])
            with os.fdopen(
                os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w"
            ) as file:
                file.write(os.urandom(KEY).hex() + "\n")
        except OSError as error:
            raise UserError(f"--key {path}: {error.strerror}") from None
    return read(path)


def read(path: Path) -> bytes:
    """The 32 bytes in a file. Raises UserError, in which none of it stands."""
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except OSError as error:
        raise UserError(f"--key {path}: {error.strerror}") from None
    except ValueError:
        key = b""
    if len(key) != KEY:
        raise UserError(f"--key {path} is no key: it has to hold {2 * KEY} digits, 0-9 and a-f")
    return key


def chosen(path: Path | None) -> bytes:
    """The key in the file that was named, or in the only one in build/. Raises UserError."""
    if path is not None:
        return read(path)
    result = sorted(_BUILDS.glob(f"*{ENDING}"))
    if len(result) == 1:
        return read(result[0])
    if not result:
        raise UserError(
            "--key is missing: the file that `microshrub build --tcp` has made, such as "
            f"{_BUILDS}/BOARD{ENDING}"
        )
    raise UserError("--key is missing. Keys found:\n  " + "\n  ".join(map(str, result)))
