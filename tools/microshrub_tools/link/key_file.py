"""The key of a board's link over TCP, in a file that only its owner can read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from microshrub_host.base.errors import UserError

from .tcp_line import KEY

ENDING = ".key"
_made: list[Path] = []  # files made in all_or_none()
_BUILDS = Path("build")  # where `microshrub build` puts a folder for each board


def of_build(folder: Path) -> Path:
    """Return the key file of a build in a folder; the file stays when the folder is replaced."""
    return folder.with_name(folder.name + ENDING)


@contextlib.contextmanager
def all_or_none() -> Iterator[None]:
    """Remove the key files made in the block if it raises, as no program was built for them."""
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
    """Return the key in a file; make a missing file, with a new key. Raises UserError."""
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
    """Return the 32 bytes in a file. Raises UserError, whose message shows nothing of the key."""
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
    """Return the key in the named file, or in the only key file in build/. Raises UserError."""
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
