"""The device library's sources as syntax trees."""

from __future__ import annotations

import ast
from functools import cache

from microshrub_host.library import library_files

FILES = [path.relative_to(library_files.folder()).as_posix() for path in library_files.sources()]


@cache
def parse(name: str) -> ast.Module:
    return ast.parse((library_files.folder() / name).read_text(encoding="utf-8"), name)
