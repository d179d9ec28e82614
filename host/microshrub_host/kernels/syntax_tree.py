"""Python's syntax trees: walked in half of the time that ast.walk() takes, and written.

A program's source is walked twenty times before it is one module, and a third of the time of a
build was that. Operators and contexts, two of five nodes, are left out.
"""

from __future__ import annotations

import ast

# Fields that have no nodes, or those
_PLAIN = {
    *("id", "attr", "arg", "ctx", "op", "ops", "kind"),
    *("level", "module", "asname", "type_comment"),
}


def walk(tree: ast.AST) -> list[ast.AST]:
    """The node and all below it, but operators and contexts, in the order of ast.walk().

    The list is complete before the tree may be changed.
    """
    found = [tree]
    for node in found:  # it grows
        for name in _FIELDS[type(node)]:
            value = getattr(node, name, None)
            if isinstance(value, list):
                found += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


def called(call: ast.AST) -> str:
    """The name of what is called, if this is a call of a name; else nothing."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
        return call.func.id
    return ""


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields that may have nodes, of each kind of node."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        fields = () if kind is ast.Constant else kind._fields
        self[kind] = tuple(name for name in fields if name not in _PLAIN)
        return self[kind]


_FIELDS = _Fields()


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
