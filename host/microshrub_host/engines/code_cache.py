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

from ..base.cache import cache_folder

_FOLDER = "code"


def cached(source: bytes, path: Path, maker: str, make: Callable[[], CodeType]) -> CodeType:
    """The code that make() makes from the source, or the same code from the cache.

    `maker` names what makes it and how; a different maker makes different code. `path` becomes the
    code's file name.
    """
    file = _file(source, path, maker)
    if file is None:
        return make()
    with contextlib.suppress(OSError, EOFError, ValueError, TypeError):
        code = marshal.loads(file.read_bytes())
        if isinstance(code, CodeType):
            return code
    code = make()
    with contextlib.suppress(OSError):
        part = file.with_suffix(f".{os.getpid()}")
        part.write_bytes(marshal.dumps(code))
        part.replace(file)
    return code


def _file(source: bytes, path: Path, maker: str) -> Path | None:
    """Where the code is; None if there is no cache."""
    tag = f"{path}\0{maker}\0{sys.implementation.cache_tag}\0{sys.flags.optimize}\0"
    digest = hashlib.sha256(tag.encode() + source).hexdigest()[:24]
    try:
        return cache_folder(_FOLDER) / f"{digest}.code"
    except OSError:
        return None
