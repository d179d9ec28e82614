"""The device library for processors that mpy-cross has no machine code for: the same kernels.

`plain` removes the decorators, and imports what only viper knows from the library's
bytecode_pointers.py: ptr8, ptr16 and ptr32, and a write_addresses to go with them. Kernels then
compute with Python's integers, as on the engine `python`; the tests make sure that these stay
within 32 bits, so the bits are the same.
"""

from __future__ import annotations

import ast

from ..kernels.kernel_rewriting import cast_arguments, index_addresses
from ..sources.library_files import PACKAGE, WRITE_ADDRESSES
from .source_text import source_text

MODULE = "bytecode_pointers"  # of the device library
_DECORATORS = ("micropython.viper", "micropython.native")
_POINTERS = ("ptr8", "ptr16", "ptr32")


class _Plain(ast.NodeTransformer):
    def __init__(self) -> None:
        self.wanted: tuple[str, ...] = ()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef | None:
        kept = [d for d in node.decorator_list if ast.unparse(d) not in _DECORATORS]
        if len(kept) < len(node.decorator_list):
            if node.name == WRITE_ADDRESSES:
                self.wanted = (WRITE_ADDRESSES,)
                return None
            self.wanted = _POINTERS
            node.decorator_list = kept
            cast_arguments(node)
            index_addresses(node)
        return node


def plain(source: str) -> str:
    """The source of a module of the device library, with functions in place of its kernels."""
    plainer = _Plain()
    tree = plainer.visit(ast.parse(source))
    if plainer.wanted:
        line = f"from {PACKAGE}.{MODULE} import {', '.join(plainer.wanted)}"
        tree.body[int(ast.get_docstring(tree) is not None) : 0] = ast.parse(line).body
    return source_text(tree)
