"""A cache for the text of a command's --help.

Making the text needs most of the command's imports, including NumPy, just for a page of text. The
text is made again if Python, a file of the program or one of the environment's MICROSHRUB_
variables has changed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

_PACKAGES = ("microshrub", *(f"microshrub_{n}" for n in ("command", "host", "tools", "research")))
_KEPT = 200  # cached texts


def kept_help(command: str, make: Callable[[], str]) -> str:
    """Return make()'s text for a command of the current program."""
    from ..base.cache import remembered

    of_environment = {k: v for k, v in os.environ.items() if k.startswith("MICROSHRUB_")}
    key = repr((command, sys.version, sorted(of_environment.items()), sorted(_files())))
    return remembered("help", key.encode(), lambda: make().encode(), _KEPT).decode()


def _files() -> Iterator[tuple[str, int, int]]:
    """Yield each source of the program, with the time of its last change and its size."""
    for package in _PACKAGES:
        spec = find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            yield from _sources(folder)
    yield from _sources(Path(__file__).parents[3] / "boards")  # in a checkout


def _sources(folder: str | Path) -> Iterator[tuple[str, int, int]]:
    if not os.path.isdir(folder):
        return
    for entry in os.scandir(folder):
        if entry.is_dir():
            if not entry.name.startswith((".", "_")) and entry.name != "site":
                yield from _sources(entry.path)
        elif entry.name.endswith((".py", ".toml")):
            about = entry.stat()
            yield entry.path, about.st_mtime_ns, about.st_size
