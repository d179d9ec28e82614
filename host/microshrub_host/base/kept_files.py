"""Files of the cache that take long to make: whole, or made again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from . import files


def kept(target: Path, make: Callable[[Path], object]) -> Path:
    """The file, which make(path) writes, unless it is there as it was made; folders are made, too.

    Behind it comes what proves that it is whole, so a power cut or a bad disk costs time only.
    """
    if not is_whole(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(f".{os.getpid()}")
        make(part)
        data = part.read_bytes()
        part.replace(target)
        files.replace(_proof(target), hashlib.sha256(data).digest())
    return target


def is_whole(target: Path) -> bool:
    """Whether kept() made the file, and nothing has changed it since."""
    try:
        return _proof(target).read_bytes() == hashlib.sha256(target.read_bytes()).digest()
    except OSError:
        return False


def _proof(target: Path) -> Path:
    return target.with_name(f"{target.name}.sha256")
