"""Constant folding for kernels: known conditions and dead branches are removed.

Numbers have 32 bits, as in kernels. An expression stays if its value would not fit a literal.
"""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from ..library.syntax_tree import Transformer, called, walk

Known = Callable[[ast.expr], "int | None"]

_LEAST, _MOST = -(2**30), 2**30  # beyond these, literals are no small integers
_CHEAP = range(256)  # numbers that one instruction loads
_OPERATORS: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_UNARY: dict[type[ast.AST], Callable[[int], int]] = {
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_PURE_CALLS = ("ptr8", "ptr16", "ptr32", "int", "len", "min", "max", "abs")
_READ = ast.Load()
_LEAVES = (ast.Return, ast.Continue, ast.Break, ast.Raise)


def number(node: ast.expr, constants: Mapping[str, int]) -> int | None:
    """Return the value of an expression of constants, or None."""
    return _Values(constants, lambda _: None).of(node)


class _Values:
    """Evaluates expressions as far as their values are known."""

    def __init__(self, constants: Mapping[str, int], known: Known) -> None:
        self._known = known
        self.variables = dict(constants)

    def of(self, node: ast.expr) -> int | None:
        """Return the value of an expression, or its truth value; None if unknown."""
        value = self._of(node)
        return value if value is not None and _LEAST <= value < _MOST else None

    def _of(self, node: ast.expr) -> int | None:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int) else None
        if isinstance(node, ast.Name):
            return self.variables.get(node.id)
        if isinstance(node, ast.Subscript):
            return self._known(node)
        if isinstance(node, ast.Call) and called(node) == "int":
            value = self.of(node.args[0])
            return None if value is None else int(value)
        if isinstance(node, ast.IfExp):
            test = self.of(node.test)
            return None if test is None else self.of(node.body if test else node.orelse)
        if isinstance(node, ast.BoolOp):
            return self._of_all(node)
        return self._of_operation(node)

    def _of_operation(self, node: ast.expr) -> int | None:
        if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            value = self.of(node.operand)
            return None if value is None else _UNARY[type(node.op)](value)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return self._operation(node.op, self.of(node.left), self.of(node.right))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._operation(node.ops[0], self.of(node.left), self.of(node.comparators[0]))
        return None

    @staticmethod
    def _operation(op: ast.AST, left: int | None, right: int | None) -> int | None:
        if left is None or right is None or type(op) not in _OPERATORS:
            return None
        if isinstance(op, (ast.FloorDiv, ast.Mod)) and not right:
            return None
        if isinstance(op, (ast.LShift, ast.RShift)) and not 0 <= right < 32:
            return None
        return _OPERATORS[type(op)](left, right)

    def _of_all(self, node: ast.BoolOp) -> int | None:
        """Return the value of `and` or `or`, if all operands up to the deciding one are known."""
        value = None
        for each in node.values:
            value = self.of(each)
            if value is None or bool(value) == isinstance(node.op, ast.Or):
                return value
        return value


class Folded(Transformer):
    """Folds kernels. `known` returns the value of a subscript, or None if it is unknown."""

    def __init__(self, constants: Mapping[str, int], known: Known) -> None:
        self._constants, self._known = constants, known
        self._values = _Values(constants, known)

    def of(self, kernel: ast.FunctionDef) -> ast.FunctionDef:
        """Fold the kernel in place until nothing changes any more, and return it."""
        before = None
        # Any change shows in the types of the nodes
        while before != (before := list(map(type, walk(kernel)))):
            self._values = _Values(self._constants, self._known)
            self._values.variables.update(_bound_once(kernel, self._values))
            kernel.body = self._block(kernel.body)
            kernel.body = _without_unread(kernel)
        return kernel

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        for node in body:
            new = self.visit(node)
            statements += new if isinstance(new, list) else [new] if new else []
            if statements and isinstance(statements[-1], _LEAVES):
                break
        return statements

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", _READ), ast.Load):
            value = self._values.of(node)
            plain = isinstance(node, (ast.Name, ast.Subscript))
            in_module = isinstance(node, ast.Name) and node.id in self._constants
            if value is not None and not in_module and (value in _CHEAP or not plain):
                return _literal(value)
        return super().visit(node)

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        test = self._test(node.test)
        known = self._values.of(test)
        if known is not None:
            return self._block(node.body if known else node.orelse)
        body, orelse = self._block(node.body), self._block(node.orelse)
        if not body and not orelse:
            return [] if _is_pure(test) else ast.Expr(test)
        if not body:
            return ast.If(_negated(test), orelse, [])
        return ast.If(test, body, orelse)

    def visit_While(self, node: ast.While) -> ast.stmt | list[ast.stmt]:
        test = self._test(node.test)
        if self._values.of(test) == 0:
            return []
        return ast.While(test, self._block(node.body) or [ast.Pass()], [])

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        node.iter = self.visit(node.iter)
        if ast.unparse(node.iter) == "range(0)":
            return []
        node.body = self._block(node.body) or [ast.Pass()]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        test = self._test(node.test)
        known = self._values.of(test)
        if known is not None:
            return self.visit(node.body if known else node.orelse)
        return ast.IfExp(test, self.visit(node.body), self.visit(node.orelse))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Drop known operands that decide nothing, and all operands after one that decides."""
        decides = isinstance(node.op, ast.Or)
        kept: list[ast.expr] = []
        for each in node.values:
            known = self._values.of(each)
            if known is None or bool(known) == decides or each is node.values[-1]:
                kept.append(self.visit(each))
            if known is not None and bool(known) == decides:
                break
        node.values = kept
        return node if len(kept) > 1 else kept[0]

    def _test(self, node: ast.expr) -> Any:
        """Return the folded condition; a deciding operand replaces it if all operands are pure."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ast.UnaryOp(ast.Not(), self._test(node.operand))
        if not isinstance(node, ast.BoolOp):
            return self.visit(node)
        values = [self._test(each) for each in node.values]
        decides = isinstance(node.op, ast.Or)
        known = [self._values.of(each) for each in values]
        for each in known:
            if each is not None and bool(each) == decides and all(map(_is_pure, values)):
                return _literal(int(decides))
        kept = [v for v, k in zip(values, known, strict=True) if k is None or bool(k) == decides]
        if not kept:
            return _literal(int(not decides))
        return ast.BoolOp(node.op, kept) if len(kept) > 1 else kept[0]


def _literal(value: int) -> ast.expr:
    if value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _negated(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def _stores(kernel: ast.FunctionDef) -> Counter[str]:
    """Return how many times each name is bound, including as a parameter."""
    counts = Counter(node.arg for node in walk(kernel) if isinstance(node, ast.arg))
    for node in walk(kernel):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            counts[node.id] += 1
    return counts


def _bound_once(kernel: ast.FunctionDef, values: _Values) -> dict[str, int]:
    """Return the variables that are bound only once, to a known number."""
    stores = _stores(kernel)
    known: dict[str, int] = {}
    for node in walk(kernel):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = values.of(node.value)
            if stores[node.targets[0].id] == 1 and value is not None:
                known[node.targets[0].id] = value
    return known


def _without_unread(kernel: ast.FunctionDef) -> list[ast.stmt]:
    """Return the body without assignments to variables that are never read."""
    read = {
        node.id
        for node in walk(kernel)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    return _Unread(read).block(kernel.body)


class _Unread(Transformer):
    def __init__(self, read: set[str]) -> None:
        self._read = read

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        statements = [self.visit(node) for node in body]
        return [node for node in statements if node is not None] or [ast.Pass()]

    def _is_unread(self, target: ast.expr, value: ast.expr) -> bool:
        return isinstance(target, ast.Name) and target.id not in self._read and _is_pure(value)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | None:
        return None if self._is_unread(node.targets[0], node.value) else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | None:
        return None if self._is_unread(node.target, node.value) else node

    def visit_If(self, node: ast.If) -> ast.stmt:
        node.body = self.block(node.body)
        node.orelse = self.block(node.orelse) if node.orelse else []
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        node.body = self.block(node.body)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        node.body = self.block(node.body)
        return node


def _is_pure(node: ast.AST) -> bool:
    """Return whether evaluating the node has no side effect and cannot fail."""
    for each in walk(node):
        if isinstance(each, ast.Call) and called(each) not in _PURE_CALLS:
            return False
        if isinstance(each, ast.BinOp) and isinstance(each.op, (ast.FloorDiv, ast.Mod)):
            return False
    return True
