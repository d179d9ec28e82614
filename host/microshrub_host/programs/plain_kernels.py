"""Turns kernels into plain functions, which are compiled to bytecode with the same results.

`plain` removes the decorators, and imports viper's own functions from the library's
bytecode_pointers.py: ptr8, ptr16 and ptr32, and a matching write_addresses. Kernels then compute
with Python's integers, as on the engine `python`; the tests make sure that these stay within 32
bits, so the bits are the same.

`plain` is for processors for which mpy-cross has no machine code. On boards with too little room
for all machine code, only some kernels become functions: `with_tables` and `make_mixed` do this,
with the library's mixed_pointers.py.
"""

from __future__ import annotations

import ast

from ..library.kernel_rewriting import cast_arguments, index_addresses
from ..library.library_files import PACKAGE, WRITE_ADDRESSES, imported_from
from ..library.syntax_tree import Transformer, source_text

MODULE = "bytecode_pointers"  # of the device library
MIXED = "mixed_pointers"  # for programs with both kinds of kernels
OF_MIXED = (MIXED, "pairs")  # the module and its import
_TABLES = ("buffers", "address_table")  # a module, and its function that MIXED replaces
_DECORATORS = ("micropython.viper", "micropython.native")
_POINTERS = ("ptr8", "ptr16", "ptr32")
_ITEMS = {"ptr16": "items16", "ptr32": "items32"}  # in MIXED; ptr8 is the buffer itself


class _Plain(Transformer):
    def __init__(self) -> None:
        self.wanted: tuple[str, ...] = ()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef | None:
        if not _is_kernel(node):
            return node
        if node.name == WRITE_ADDRESSES:
            self.wanted = (WRITE_ADDRESSES,)
            return None
        self.wanted = _POINTERS
        return _as_function(node)


class _Tables(Transformer):
    """Makes a module use the address tables of MIXED."""

    def __init__(self, module: str) -> None:
        self._module = module

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | list[ast.ImportFrom]:
        home, table = _TABLES
        tables = [alias for alias in node.names if alias.name == table]
        if not tables or imported_from(self._module, node) != home:
            return node
        node.names = [alias for alias in node.names if alias not in tables]
        other = ast.ImportFrom(f"{PACKAGE}.{MIXED}", tables, 0)
        return [node, other] if node.names else other


class _Items(Transformer):
    """Renames viper's pointers, as other kernels of the program still use the originals."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _POINTERS:
            if node.func.id not in _ITEMS:
                return node.args[0]
            node.func.id = _ITEMS[node.func.id]
        return node


def plain(source: str) -> str:
    """Return a module's source with plain functions in place of its kernels."""
    change = _Plain()
    tree = change.visit(ast.parse(source))
    lines = [f"from {PACKAGE}.{MODULE} import {', '.join(change.wanted)}"] if change.wanted else []
    tree.body[int(ast.get_docstring(tree) is not None) : 0] = ast.parse("\n".join(lines)).body
    return source_text(tree)


def with_tables(module: str, source: str) -> str:
    """Return a module's source for a program in which some kernels become functions."""
    if _TABLES[1] not in source:
        return source
    return source_text(_Tables(module).visit(ast.parse(source)))


def make_mixed(kernel: ast.FunctionDef) -> None:
    """Turn a kernel into a function, in a module that includes MIXED."""
    _Items().visit(_as_function(kernel))


def _is_kernel(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(each) in _DECORATORS for each in node.decorator_list)


def _as_function(kernel: ast.FunctionDef) -> ast.FunctionDef:
    kept = [each for each in kernel.decorator_list if ast.unparse(each) not in _DECORATORS]
    kernel.decorator_list = kept
    cast_arguments(kernel)
    index_addresses(kernel)
    return kernel
