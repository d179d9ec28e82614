"""Python source of a syntax tree, as MicroPython takes it best."""

from __future__ import annotations

import ast

from ..kernels.syntax_tree import walk


class _Exchanges(ast.NodeTransformer):
    """Writes `a, b = c, d` without brackets, which ast.unparse would put around `c, d`.

    With them, MicroPython makes a tuple of these, on the heap; without, it only moves two values.
    """

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        left, right = node.targets[0], node.value
        if len(node.targets) > 1 or not isinstance(left, ast.Tuple):
            return node
        if not isinstance(right, ast.Tuple) or len(left.elts) != len(right.elts):
            return node
        sides = (", ".join(map(ast.unparse, side.elts)) for side in (left, right))
        return ast.Expr(ast.Name(" = ".join(sides)))  # a name is written as it is


def source_text(tree: ast.Module) -> str:
    """The source; the tree is used up."""
    tree = _Exchanges().visit(tree)
    for node in walk(tree):
        if isinstance(node, ast.stmt):
            node.lineno = 0  # ast.unparse looks for comments of that line
    return ast.unparse(tree) + "\n"
