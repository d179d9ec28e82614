"""Leaves out what a program cannot do without a module that it does not have.

A function imports what few programs need when it needs it, as in

    if detector == "adwin":
        from .adwin import next_level

        self._next_level = next_level

In a program without adwin.py nothing behind that import is ever run. So an error takes its place.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from ..kernels.syntax_tree import walk
from ..sources import library_files
from ..sources.library_files import PACKAGE
from .scoped_names import library_home


def without_missing(module: str, source: str, present: Collection[str]) -> str:
    """The source of a module of the library in a program that has these modules."""
    if library_files.imports_in(module, source) <= {*present}:
        return source
    return ast.unparse(_Cut(module, present).visit(ast.parse(source)))


_MISSING = """raise ImportError("no module named '{}'")"""  # as the import itself would say


class _Cut(ast.NodeTransformer):
    def __init__(self, module: str, present: Collection[str]) -> None:
        self._module, self._present = module, present

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        for inner in walk(node):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(inner, name, None)
                if isinstance(block, list):
                    setattr(inner, name, self._cut(block))
        return node

    def _cut(self, block: list[ast.stmt]) -> list[ast.stmt]:
        for place, statement in enumerate(block):
            home = library_home(self._module, statement)
            if home is not None and home not in self._present:
                return [*block[:place], *ast.parse(_MISSING.format(f"{PACKAGE}.{home}")).body]
        return block
