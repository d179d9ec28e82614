"""Python's syntax trees: faster walks and visits than with ast, and writing.

A program's source is walked twenty times and visited ten times before it is a single module, which
took a third of the time of a build; here, it takes half as long. Operators and contexts, two of
five nodes, are left out.
"""

from __future__ import annotations

import ast
from typing import Any

# Fields without nodes, or with operators and contexts
_PLAIN = {
    *("id", "attr", "arg", "ctx", "op", "ops", "kind"),
    *("level", "module", "asname", "type_comment"),
}


def walk(tree: ast.AST) -> list[ast.AST]:
    """Return the node and all its descendants, in the order of ast.walk().

    Operators and contexts are left out. The list is complete before the tree may be changed.
    """
    result = [tree]
    add = result.append
    for node in result:  # the list grows
        for name in _FIELDS[type(node)]:
            value = getattr(node, name, None)
            if type(value) is list:
                for each in value:
                    if isinstance(each, ast.AST):
                        add(each)
            elif value is not None and isinstance(value, ast.AST):
                add(value)
    return result


def called(call: ast.AST) -> str:
    """Return the name of the called function, if the node is a call of a name; else ""."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
        return call.func.id
    return ""


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields that may have nodes, by kind of node."""

    def __missing__(self, node_type: type[ast.AST]) -> tuple[str, ...]:
        fields = () if node_type is ast.Constant else node_type._fields
        self[node_type] = tuple(name for name in fields if name not in _PLAIN)
        return self[node_type]


_FIELDS = _Fields()


class _Methods(dict[type[ast.AST], str]):
    """The name of the visiting method, by kind of node."""

    def __missing__(self, node_type: type[ast.AST]) -> str:
        self[node_type] = f"visit_{node_type.__name__}"
        return self[node_type]


_METHODS = _Methods()


class Visitor(ast.NodeVisitor):
    """A visitor like ast.NodeVisitor that skips operators and contexts."""

    def visit(self, node: ast.AST) -> Any:
        method = getattr(self, _METHODS[type(node)], None)
        return method(node) if method else self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> Any:
        for name in _FIELDS[type(node)]:
            value = getattr(node, name, None)
            if isinstance(value, list):
                for each in value:
                    if isinstance(each, ast.AST):
                        self.visit(each)
            elif isinstance(value, ast.AST):
                self.visit(value)


class Transformer(Visitor):
    """A transformer like ast.NodeTransformer that skips operators and contexts."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in _FIELDS[type(node)]:
            value = getattr(node, name, None)
            if isinstance(value, list):
                value[:] = self._all(value)
            elif isinstance(value, ast.AST):
                new = self.visit(value)
                if new is not value:
                    setattr(node, name, new)
        return node

    def _all(self, nodes: list[Any]) -> list[Any]:
        result: list[Any] = []
        for each in nodes:
            new = self.visit(each) if isinstance(each, ast.AST) else each
            if isinstance(new, list):
                result += new
            elif new is not None or each is None:
                result.append(new)
        return result


class _Exchanges(Transformer):
    """A transformer for `a, b = c, d` without brackets, which ast.unparse would put around `c, d`.

    With brackets, MicroPython makes a tuple on the heap; without, it only moves two values.
    """

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, ast.expr) else super().visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        left, right = node.targets[0], node.value
        if len(node.targets) > 1 or not isinstance(left, ast.Tuple):
            return node
        if not isinstance(right, ast.Tuple) or len(left.elts) != len(right.elts):
            return node
        sides = (", ".join(map(ast.unparse, side.elts)) for side in (left, right))
        return ast.Expr(ast.Name(" = ".join(sides)))  # a name is written unchanged


def source_text(tree: ast.Module) -> str:
    """Return the source; the tree is changed and must not be used again."""
    tree = _Exchanges().visit(tree)
    for node in walk(tree):
        if isinstance(node, ast.stmt):
            node.lineno = 0  # ast.unparse looks up type comments by line
    return ast.unparse(tree) + "\n"
