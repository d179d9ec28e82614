"""Compiled code of the device library, kept in the cache: parsing takes most of a start."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType

from ..base.cache import remembered

_KEPT = 1024  # files, some 12 MB


def cached(source: bytes, path: Path, maker: str, make: Callable[[], CodeType]) -> CodeType:
    """The code that make() makes from the source, or the same code from the cache.

    `maker` names what makes it and how; a different maker makes different code. `path` becomes the
    code's file name.
    """
    tag = f"{path}\0{maker}\0{sys.implementation.cache_tag}\0{sys.flags.optimize}\0"
    key = tag.encode() + source
    found: CodeType = marshal.loads(remembered("code", key, lambda: marshal.dumps(make()), _KEPT))
    return found
