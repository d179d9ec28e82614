"""Counts what kernels do: the library of the engine `counted`, see library/loader.py.

Each kernel adds to a Counter, for each block of statements that it runs, how many nodes of the
syntax tree the block has. That is about how long it takes without machine code, and the same on
every computer.
"""

from __future__ import annotations

import ast

from .syntax_tree import walk

NAME = "_work"  # of the Counter, in each module of the library
_DONE = "_done"  # by a call so far: a variable of the kernel, several times as fast as a Counter


def count_work(kernel: ast.FunctionDef, key: str) -> None:
    """Have a kernel add what it does to the Counter's item `key`."""
    docstring = int(ast.get_docstring(kernel) is not None)
    counted = _Counting().block(kernel.body[docstring:])
    around = ast.parse(f"{_DONE} = 0\ntry:\n pass\nfinally:\n {NAME}[{key!r}] += {_DONE}").body
    assert isinstance(around[1], ast.Try)
    around[1].body = counted
    kernel.body[docstring:] = around


class _Counting(ast.NodeTransformer):
    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a block, behind the one that counts them."""
        if not body:
            return body
        size = sum(map(_size, body))
        counting = ast.parse(f"{_DONE} += {size}").body
        return [*(ast.copy_location(each, body[0]) for each in counting), *map(self.visit, body)]

    def _with_blocks(self, node: ast.stmt) -> ast.stmt:
        assert isinstance(node, (ast.If, ast.For, ast.While))
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return node

    visit_If = visit_For = visit_While = _with_blocks  # noqa: N815, names of the base class


def _size(statement: ast.stmt) -> int:
    """How many nodes run at once, without those of inner blocks."""
    if isinstance(statement, (ast.If, ast.While)):
        return 1 + len(walk(statement.test))
    if isinstance(statement, ast.For):
        return 1 + len(walk(statement.iter))
    return len(walk(statement))
