"""Compiled code of the device library, kept in the cache: parsing takes most of a start."""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType

from ..base.cache import cache_folder, drop_old, use

_FOLDER = "code"
_DIGEST = 32  # bytes, of what follows them
_KEPT = 1024  # files, some 12 MB


def cached(source: bytes, path: Path, maker: str, make: Callable[[], CodeType]) -> CodeType:
    """The code that make() makes from the source, or the same code from the cache.

    `maker` names what makes it and how; a different maker makes different code. `path` becomes the
    code's file name.
    """
    file = _file(source, path, maker)
    if file is None:
        return make()
    with contextlib.suppress(OSError):
        data = file.read_bytes()
        if data[:_DIGEST] == _digest(data[_DIGEST:]):  # other bytes might end the process
            found: CodeType = marshal.loads(data[_DIGEST:])
            use(file)
            return found
    code = make()
    with contextlib.suppress(OSError):
        data = marshal.dumps(code)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_bytes(_digest(data) + data)
        part.replace(file)
        if file.name[0] == "0":  # now and then
            drop_old(file.parent.iterdir(), _KEPT)
    return code


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _file(source: bytes, path: Path, maker: str) -> Path | None:
    """Where the code is; None if there is no cache."""
    tag = f"{path}\0{maker}\0{sys.implementation.cache_tag}\0{sys.flags.optimize}\0"
    digest = hashlib.sha256(tag.encode() + source).hexdigest()[:24]
    try:
        return cache_folder(_FOLDER) / f"{digest}.code"
    except OSError:
        return None
