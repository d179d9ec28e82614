"""The way to the board: programs are built, flashed, and watched as they learn.

What a program or a notebook uses is exported here by name, and imported when it is first named.
All else is private: it may change without notice.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import build, flash
    from .board.build import Build
    from .board.flash import SelfTest

__all__ = ["Build", "SelfTest", "build", "flash"]

_HOMES = {
    "Build": "board.build",
    "SelfTest": "board.flash",
    "build": "api",
    "flash": "api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
